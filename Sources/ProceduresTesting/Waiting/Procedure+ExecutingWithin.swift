internal import ProcedurePrimitives
public import Procedures

/// Waits that throw instead of lasting forever.
extension Procedure {
  /// Waits until the procedure executes, or has ended without executing; throws `WaitTimedOut` if
  /// that takes longer than `duration`.
  ///
  /// ```swift
  /// try await upload.executing(within: .seconds(5))
  /// upload.cancel()
  /// ```
  ///
  /// It waits in real time, even with another clock of the queue. It polls every millisecond, so a
  /// short procedure may already have finished. Cancelling the task ends the wait, with the same
  /// error.
  public final func executing(within duration: Duration) async throws {
    let deadline = ContinuousClock.now.saturatingAdvanced(by: duration)
    while state < .executing, ContinuousClock.now < deadline, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(1))
    }
    if state < .executing {
      throw WaitTimedOut(
        "'\(name.onOneLine)' did not execute", within: duration, "\(snapshotOfSurroundings())")
    }
  }
}
