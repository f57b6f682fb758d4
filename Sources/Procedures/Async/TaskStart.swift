internal import ProcedurePrimitives

/// Lets a task begin that was made earlier, elsewhere: where its procedure was added.
///
/// There is no other way to hand task-local values on than to make a task where they are set. The
/// task waits until its work is known, and costs its memory meanwhile: so none is made where there
/// is nothing to hand on.
final class TaskStart: Sendable {
  typealias Body = @Sendable () async -> Void

  private enum Beginning: Sendable {
    /// The task has not asked yet.
    case early
    case waiting(CheckedContinuation<Body?, Never>)
    /// It is known what to do; nil for nothing.
    case known(Body?)
  }

  private let state = Locked(Beginning.early)

  /// Whether the caller runs in a task, which may have task-local values and a priority.
  static var isWorthwhile: Bool {
    // Not a comparison with nil, nor a property of the task: both cost as much as adding does.
    unsafe withUnsafeCurrentTask { task in if case .some = unsafe task { true } else { false } }
  }

  /// Makes the task, which waits. It has the caller's task-local values and priority.
  func makeTask(on executor: ProcedureTask) -> Task<Void, Never> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      // It waits when this returns: no worker is needed to bring it so far.
      return Task.immediate(executorPreference: executor) { await self.work()?() }
    }
    return makeTaskThatComesLater(on: executor)
  }

  /// The executor keeps it until it is known where its work is to run.
  func makeTaskThatComesLater(on executor: ProcedureTask) -> Task<Void, Never> {
    Task(executorPreference: executor) { await self.work()?() }
  }

  /// Has the task do `work`, or end if that is nil. The first call counts.
  func begin(_ work: Body?) {
    let continuation = state.withLock { state -> CheckedContinuation<Body?, Never>? in
      guard case .waiting(let continuation) = state else {
        if case .early = state { state = .known(work) }
        return nil
      }
      state = .known(nil)
      return continuation
    }
    continuation?.resume(returning: work)
  }

  private func work() async -> Body? {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state -> Body?? in
        guard case .known(let work) = state else {
          state = .waiting(continuation)
          return nil
        }
        state = .known(nil)
        return .some(work)
      }
      if let known { continuation.resume(returning: known) }
    }
  }
}
