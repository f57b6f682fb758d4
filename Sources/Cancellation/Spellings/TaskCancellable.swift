/// Something that owns tasks, a view model for example, and cancels them when it goes.
///
/// ```swift
/// final class FeedModel: TaskCancellable {
///   let taskStore = TaskStore<AnyTaskID>()
///   func load() { addTask { await fetch() } }
/// }
/// ```
///
/// Tasks do not keep the owner alive unless their closures capture it: capture `[weak self]`.
public protocol TaskCancellable: AnyObject {
  /// Where the tasks are. Keep one for as long as the object lives.
  var taskStore: TaskStore<AnyTaskID> { get }
}

/// An id of any type: two are equal if they are of one type and equal there.
///
/// Unchecked because `AnyHashable` does not say what the initialiser asks for.
public struct AnyTaskID: Hashable, @unchecked Sendable {
  private let base: AnyHashable

  /// Wraps an id.
  public init(_ id: some Hashable & Sendable) {
    base = AnyHashable(id)
  }
}

extension TaskCancellable {
  /// Starts a task under the default id.
  @discardableResult
  public func addTask<Success: Sendable>(
    priority: TaskPriority? = nil,
    @_inheritActorContext operation: sending @escaping @isolated(any) () async throws -> Success
  ) -> Task<Success, any Error> {
    addTask(id: DefaultTaskID(), priority: priority, operation: operation)
  }

  /// Starts a task; several may run under one id.
  @discardableResult
  public func addTask<Success: Sendable>(
    id: some Hashable & Sendable,
    priority: TaskPriority? = nil,
    @_inheritActorContext operation: sending @escaping @isolated(any) () async throws -> Success
  ) -> Task<Success, any Error> {
    taskStore.addTask(id: AnyTaskID(id), priority: priority, operation: operation)
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
