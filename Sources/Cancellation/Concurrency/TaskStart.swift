internal import ProcedurePrimitives

/// Starts a task that waits before its first line until it is registered at its place.
///
/// Unchecked because it is used once, to make one task, which alone calls `operation`.
struct TaskStart<Success: Sendable>: @unchecked Sendable {
  private let operation: @isolated(any) () async throws -> Success
  private let place: TaskPlace

  /// - Parameter place: opened when the task is registered there.
  init(
    _ operation: sending @escaping @isolated(any) () async throws -> Success, at place: TaskPlace
  ) {
    self.operation = operation
    self.place = place
  }

  /// Starts the task on the actor of `operation`, in the order in which Swift starts tasks there.
  func task(priority: TaskPriority?) -> Task<Success, any Error> {
    // A closure gets an actor that is known only at run time if it is formed in a function isolated
    // to that actor. Forming it touches no state of the actor, so the function may be called as if
    // it were not isolated; `Actor.assumeIsolated` of the standard library casts in the same way.
    typealias Isolated = (Self, TaskPriority?, isolated (any Actor)?) -> Task<Success, any Error>
    typealias Plain = (Self, TaskPriority?, (any Actor)?) -> Task<Success, any Error>
    let isolated: Isolated = Self.start
    let start = unsafe unsafeBitCast(isolated, to: Plain.self)
    return start(self, priority, operation.isolation)
  }

  private static func start(
    _ start: Self, _ priority: TaskPriority?, on actor: isolated (any Actor)?
  ) -> Task<Success, any Error> {
    if actor == nil, let executor = HelperExecutor.current {
      return Task(executorPreference: executor, priority: priority) { try await start.run() }
    }
    return Task(priority: priority) {
      _ = actor
      return try await start.run()
    }
  }

  private nonisolated(nonsending) func run() async throws -> Success {
    await place.isOpen()
    defer { place.taskHasEnded() }
    return try await operation()
  }
}

/// The place where the canceller finds a task. The task begins when it is registered, and leaves
/// when it ends.
class TaskPlace: @unchecked Sendable {
  @safe private struct Gate: Sendable {
    var isOpen = false
    var waiting: UnsafeContinuation<Void, Never>?
  }

  private let gate = Locked(Gate())

  /// Lets the task begin, which is registered now.
  final func open() {
    let waiting = unsafe gate.withLock { gate in
      gate.isOpen = true
      return unsafe exchange(&gate.waiting, with: nil)
    }
    unsafe waiting?.resume()
  }

  /// Returns when the place is open, usually at once.
  nonisolated(nonsending) final func isOpen() async {
    if gate.withLock({ $0.isOpen }) { return }
    await unsafe withUnsafeContinuation { continuation in
      let isOpen = gate.withLock { gate in
        if !gate.isOpen { unsafe gate.waiting = continuation }
        return gate.isOpen
      }
      if isOpen { unsafe continuation.resume() }
    }
  }

  /// Called when the task has ended. Subclasses override it.
  func taskHasEnded() {}
}

final class TokenPlace: TaskPlace, @unchecked Sendable {
  /// Written before `open()`, and read by the task after it.
  private var registration: CancellationRegistration?

  func note<Success: Sendable>(_ task: Task<Success, any Error>, on token: CancellationToken) {
    registration = token.onCancel { task.cancel() }
    open()
  }

  override func taskHasEnded() {
    registration?.remove()
    BodyTask.endStandingIn()
  }
}

extension Task where Failure == any Error {
  /// Makes a task that is cancelled when `token` is, and begins when it is registered there.
  init(
    placedOn token: CancellationToken, priority: TaskPriority?,
    _ operation: sending @escaping @isolated(any) () async throws -> Success
  ) {
    let place = TokenPlace()
    self = TaskStart(operation, at: place).task(priority: priority)
    place.note(self, on: token)
  }
}
