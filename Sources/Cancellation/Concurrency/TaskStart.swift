internal import ProcedurePrimitives

/// A task on its way to its first line: it is given its place on a token before that.
///
/// Unchecked because it is used once, to make one task, which alone calls `operation` and `end`.
struct TaskStart<Success: Sendable>: @unchecked Sendable {
  private let operation: @isolated(any) () async throws -> Success
  private let end: @Sendable () -> Void
  private let registration = TaskRegistration()

  /// - Parameter end: called when `operation` has ended.
  init(
    _ operation: sending @escaping @isolated(any) () async throws -> Success,
    end: @escaping @Sendable () -> Void = {}
  ) {
    self.operation = operation
    self.end = end
  }

  /// Starts the task where `operation` is isolated to, in the order in which Swift starts them there.
  func task(
    priority: TaskPriority?, cancelledBy token: CancellationToken
  ) -> Task<Success, any Error> {
    // A closure is isolated to an actor that is not known before if it is formed in a function that is.
    // Forming it touches nothing of the actor's, so that the function is called as if it were not:
    // `Actor.assumeIsolated` of the standard library casts in the same way.
    typealias Isolated = (Self, TaskPriority?, isolated (any Actor)?) -> Task<Success, any Error>
    typealias Plain = (Self, TaskPriority?, (any Actor)?) -> Task<Success, any Error>
    let isolated: Isolated = Self.start
    let start = unsafe unsafeBitCast(isolated, to: Plain.self)
    let task = start(self, priority, operation.isolation)
    registration.note(token.onCancel { task.cancel() })
    return task
  }

  private static func start(
    _ start: Self, _ priority: TaskPriority?, on actor: isolated (any Actor)?
  ) -> Task<Success, any Error> {
    Task(priority: priority) {
      _ = actor
      await start.registration.isNoted()
      defer {
        start.registration.taskHasEnded()
        start.end()
      }
      return try await start.operation()
    }
  }
}

/// The place of a task on a token. The task begins when it is noted, and takes it off when it ends.
private final class TaskRegistration: Sendable {
  private enum State: Sendable {
    case unnoted(waiting: CheckedContinuation<Void, Never>?)
    case noted(CancellationRegistration)
  }

  private let state = Locked(State.unnoted(waiting: nil))

  func note(_ registration: CancellationRegistration) {
    let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
      defer { state = .noted(registration) }
      if case .unnoted(let waiting) = state { return waiting }
      return nil
    }
    waiting?.resume()
  }

  /// Returns when it has been noted: mostly at once, else in the moment in which it is.
  nonisolated(nonsending) func isNoted() async {
    if case .noted = state.withLock({ $0 }) { return }
    await withCheckedContinuation { continuation in
      let isNoted = state.withLock { state in
        if case .noted = state { return true }
        state = .unnoted(waiting: continuation)
        return false
      }
      if isNoted { continuation.resume() }
    }
  }

  func taskHasEnded() {
    if case .noted(let registration) = state.withLock({ $0 }) { registration.unregister() }
  }
}
