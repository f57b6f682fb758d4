/// Something that owns tasks, a view model for example, and can cancel them.
///
/// ```swift
/// final class Screen<Model: TaskCancellable>: UIViewController {
///   override func viewWillDisappear(_ animated: Bool) {
///     super.viewWillDisappear(animated)
///     if isBeingDismissed { model.cancelAll() }
///   }
/// }
/// ```
///
/// The type decides how it keeps the tasks. A type that keeps them in a store conforms to
/// `TaskStoring`, which implements `cancelAll()`, and may conform to both.
@MainActor public protocol TaskCancellable: AnyObject {
  /// Cancels all tasks. More may be added after.
  func cancelAll()
}

/// Something that keeps its tasks in a store, and so cancels them when it is released.
///
/// ```swift
/// final class FeedModel: TaskStoring {
///   let taskStore = TaskStore<AnyTaskID>()
///   func load() { addTask { await fetch() } }
/// }
/// ```
///
/// Tasks do not keep the owner alive unless their closures capture it: capture `[weak self]`.
public protocol TaskStoring: AnyObject {
  /// The store of the tasks. Keep one for as long as the object lives.
  var taskStore: TaskStore<AnyTaskID> { get }
}

extension TaskCancellable {
  /// The name of a task, for a type that keeps its tasks in a dictionary.
  public typealias TaskID = AnyHashable
}

/// An id of tasks.
public protocol TaskIDProtocol: Hashable, Sendable {}

extension DefaultTaskID: TaskIDProtocol {}

/// An id of any type: two are equal if they are of one type and equal there.
///
/// The type is that which the compiler sees where the id is made: `7 as Int` is not equal to
/// `7 as Int?`, nor an object to the same object as its superclass.
///
/// Unchecked because `AnyHashable` is not `Sendable`; the initialiser takes `Sendable` ids only.
public struct AnyTaskID: TaskIDProtocol, @unchecked Sendable {
  /// `AnyHashable` alone takes numbers of several types to be equal, and arrays of them.
  private let type: ObjectIdentifier
  private let base: AnyHashable

  /// Wraps an id.
  public init<ID: Hashable & Sendable>(_ id: ID) {
    type = ObjectIdentifier(ID.self)
    base = AnyHashable(id)
  }
}

extension TaskStoring {
  /// Starts a task under the default id.
  @discardableResult
  public func addTask<Success: Sendable>(
    policy: TaskStore<AnyTaskID>.Policy = .concurrent,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws -> Success
  ) -> Task<Success, any Error> {
    addTask(id: DefaultTaskID(), policy: policy, priority: priority, operation: operation)
  }

  /// Starts a task; several may run under one id, unless `policy` says otherwise.
  @discardableResult
  public func addTask<Success: Sendable>(
    id: some Hashable & Sendable,
    policy: TaskStore<AnyTaskID>.Policy = .concurrent,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws -> Success
  ) -> Task<Success, any Error> {
    taskStore.addTask(id: AnyTaskID(id), policy: policy, priority: priority, operation: operation)
  }

  /// Cancels the tasks under `id`.
  public func cancel(id: some Hashable & Sendable) {
    taskStore.cancel(AnyTaskID(id))
  }

  /// Cancels all tasks. More may be added after.
  public func cancelAll() {
    taskStore.cancelAll()
  }
}
