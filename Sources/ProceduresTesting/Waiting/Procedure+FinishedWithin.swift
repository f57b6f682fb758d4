internal import ProcedurePrimitives
public import Procedures

/// Waits that throw instead of lasting forever.
extension Procedure {
  /// Waits until the procedure has finished, and throws `WaitTimedOut` if that takes longer than
  /// `duration`.
  ///
  /// ```swift
  /// let outcome = try await upload.finished(within: .seconds(600))
  /// ```
  ///
  /// It waits in real time, even with another clock of the queue. The error shows the waits of
  /// everything on its queue. It works with any test framework: it only throws the error.
  @discardableResult
  public final func finished(within duration: Duration) async throws -> ProcedureOutcome {
    let isInTime = await RealTimeWait.finishes(within: duration) {
      _ = await self.waitUntilFinished()
    }
    return try outcome(isInTime, duration)
  }

  /// Like `finished(within:)`, but blocks the calling thread, for tests that are not `async`.
  ///
  /// Do not call it from a procedure of the same queue.
  @available(*, noasync, message: "await finished(within:) instead")
  @discardableResult
  public final func blockUntilFinished(within duration: Duration) throws -> ProcedureOutcome {
    let isInTime = RealTimeWait.blocks(forAtMost: duration) { _ = await self.waitUntilFinished() }
    return try outcome(isInTime, duration)
  }

  private func outcome(_ isInTime: Bool, _ duration: Duration) throws -> ProcedureOutcome {
    guard isInTime, let outcome else {
      throw WaitTimedOut(
        "'\(name.onOneLine)' did not finish", within: duration, "\(snapshotOfSurroundings())")
    }
    return outcome
  }
}
