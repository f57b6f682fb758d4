internal import ProcedurePrimitives

/// Running tasks by id, all cancelled when the store is released.
///
/// ```swift
/// enum Work { case search, save }
/// let tasks = TaskStore<Work>()
/// tasks.addTask(id: .search, policy: .cancelPrevious) { try await search(text) }
/// ```
///
/// A task that ends leaves the store automatically. A task does not keep the store alive.
///
/// ## Thread safety
/// Everything may be called from any thread, including from the tasks. No lock is held while a task
/// is created or cancelled, nor while ids are compared, hashed or released. So a task's cancellation
/// handler may add and cancel tasks, also under the id of its task. The store's cancel of the other
/// tasks under this id then happens inside the handler: with many such tasks the calls nest.
public final class TaskStore<ID: Hashable & Sendable>: Sendable {
  /// Decides how a new task treats the tasks under the same id.
  public enum Policy: Sendable {
    /// They go on next to it.
    case concurrent
    /// They are cancelled, before the first line of the new one runs.
    ///
    /// This holds for tasks that another caller cancels at that moment, too: they read cancelled,
    /// while their cancellation handlers may still run in the other caller.
    case cancelPrevious
    /// If one is running, the new one is not started.
    case skipIfRunning
  }

  private final class Group: TaskTable.Group, @unchecked Sendable {
    private let id: ID

    init(_ id: ID) {
      self.id = id
      super.init(hash: id.hashValue)
    }

    // All groups of a table are of one store.
    override func hasKey(of other: KeyTable.Entry) -> Bool {
      unsafe unsafeDowncast(other, to: Group.self).id == id
    }
  }

  private let table = TaskTable()

  /// Makes an empty store.
  public init() {}

  deinit {
    table.cancelAll()
  }

  /// Starts a task and keeps it until it ends.
  ///
  /// - Parameters:
  ///   - id: the key for `cancel(_:)` and `count(_:)`.
  ///   - policy: how to treat the tasks under the same id.
  ///   - priority: as in `Task.init`.
  ///   - operation: runs where it was formed, as in `Task.init`.
  /// - Returns: the new task; with `.skipIfRunning`, the running one. If that has
  ///   another type of result, a task that throws `CancellationError`.
  @discardableResult
  public func addTask<Success: Sendable>(
    id: ID,
    policy: Policy = .concurrent,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws -> Success
  ) -> Task<Success, any Error> {
    let entry = StoredTask(in: table)
    let admission = table.admit(
      entry, in: Group(id), isOnlyOne: policy == .skipIfRunning,
      replaces: policy == .cancelPrevious)
    if let running = admission.running { return running.task() }
    table.cancel(admission.previous, of: admission.group)
    let task = TaskStart(operation, at: entry).task(priority: priority)
    entry.attach(task)
    return task
  }

  /// Cancels the tasks under `id`. They leave the count at once.
  ///
  /// ```swift
  /// tasks.cancel(.search)
  /// ```
  public func cancel(_ id: ID) {
    table.cancel(Group(id))
  }

  /// Named `cancel(_:)` here.
  @available(*, unavailable, renamed: "cancel(_:)")
  public func cancel(id: ID) {}

  /// Named `count(_:)` here.
  @available(*, unavailable, renamed: "count(_:)")
  public func count(id: ID) -> Int { 0 }

  /// Cancels all tasks and empties the store, which may be used again.
  public func cancelAll() {
    table.cancelAll()
  }

  /// How many tasks have neither ended nor been cancelled by the store, under any id. O(ids).
  public var count: Int { table.count }

  /// Whether no task runs that the store has not cancelled.
  public var isEmpty: Bool { table.isEmpty }

  /// How many tasks under `id` have neither ended nor been cancelled by the store.
  public func count(_ id: ID) -> Int {
    table.count(Group(id))
  }
}

extension TaskStore where ID == DefaultTaskID {
  /// Starts a task under the default id.
  @discardableResult
  public func addTask<Success: Sendable>(
    policy: Policy = .concurrent,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws -> Success
  ) -> Task<Success, any Error> {
    addTask(id: DefaultTaskID(), policy: policy, priority: priority, operation: operation)
  }
}
