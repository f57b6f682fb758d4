internal import ProcedurePrimitives

/// A task on its way to its first line: it is given its place before that.
///
/// Unchecked because it is used once, to make one task, which alone calls `operation`.
struct TaskStart<Success: Sendable>: @unchecked Sendable {
  private let operation: @isolated(any) () async throws -> Success
  private let place: TaskPlace

  /// - Parameter place: which is opened when the task is known there.
  init(
    _ operation: sending @escaping @isolated(any) () async throws -> Success, at place: TaskPlace
  ) {
    self.operation = operation
    self.place = place
  }

  /// Starts the task where `operation` is isolated to, in the order in which Swift starts them there.
  func task(priority: TaskPriority?) -> Task<Success, any Error> {
    // A closure is isolated to an actor that is not known before if it is formed in a function that is.
    // Forming it touches nothing of the actor's, so that the function is called as if it were not:
    // `Actor.assumeIsolated` of the standard library casts in the same way.
    typealias Isolated = (Self, TaskPriority?, isolated (any Actor)?) -> Task<Success, any Error>
    typealias Plain = (Self, TaskPriority?, (any Actor)?) -> Task<Success, any Error>
    let isolated: Isolated = Self.start
    let start = unsafe unsafeBitCast(isolated, to: Plain.self)
    return start(self, priority, operation.isolation)
  }

  private static func start(
    _ start: Self, _ priority: TaskPriority?, on actor: isolated (any Actor)?
  ) -> Task<Success, any Error> {
    Task(priority: priority) {
      _ = actor
      await start.place.isOpen()
      defer { start.place.taskHasEnded() }
      return try await start.operation()
    }
  }
}

/// The place where a cancel finds a task. The task enters it before it begins, and leaves it when it ends.
class TaskPlace: @unchecked Sendable {
  @safe private struct Gate: Sendable {
    var isOpen = false
    var waiting: UnsafeContinuation<Void, Never>?
  }

  private let gate = Locked(Gate())

  /// The task is there: from here on it may begin.
  final func open() {
    let waiting = unsafe gate.withLock { gate in
      gate.isOpen = true
      return unsafe exchange(&gate.waiting, with: nil)
    }
    unsafe waiting?.resume()
  }

  /// Returns when it is open: mostly at once, else in the moment in which it is.
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

  /// To override.
  func taskHasEnded() {}
}

/// The place of a task on a token.
final class TokenPlace: TaskPlace, @unchecked Sendable {
  /// Written before the place is open, and read by the task.
  @safe @exclusivity(unchecked) private var registration: CancellationRegistration?

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
  /// A task that is cancelled when `token` is, and begins when it has its place there.
  init(
    placedOn token: CancellationToken, priority: TaskPriority?,
    _ operation: sending @escaping @isolated(any) () async throws -> Success
  ) {
    let place = TokenPlace()
    self = TaskStart(operation, at: place).task(priority: priority)
    place.note(self, on: token)
  }
}
