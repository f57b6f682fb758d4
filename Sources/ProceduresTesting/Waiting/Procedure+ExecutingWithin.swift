internal import ProcedurePrimitives
public import Procedures

/// Waits that throw instead of lasting forever.
extension Procedure {
  /// Waits until it executes, or has ended without; throws `WaitTimedOut` if that takes longer than `duration`.
  ///
  /// ```swift
  /// try await upload.executing(within: .seconds(5))
  /// upload.cancel()
  /// ```
  ///
  /// In real time, whatever the queue's clock. It looks each millisecond: a procedure that is done at once may have
  /// finished. Cancelling the task ends the wait as the end of the time does.
  public final func executing(within duration: Duration) async throws {
    let deadline = ContinuousClock.now.saturatingAdvanced(by: duration)
    while state < .executing, ContinuousClock.now < deadline, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(1))
    }
    if state < .executing {
      throw WaitTimedOut(
        "'\(name)' did not execute", within: duration, "\(snapshotOfSurroundings())")
    }
  }
}
