public import Procedures

/// Waits that throw instead of lasting forever.
extension Procedure {
  /// Waits until it has finished, and throws `WaitTimedOut` if that takes longer than `duration`.
  ///
  /// ```swift
  /// let outcome = try await upload.finished(within: .seconds(600))
  /// ```
  ///
  /// In real time, whatever the queue's clock. The error shows what everything on its queue waits
  /// for. For tests of any framework: nothing but the error is reported.
  @discardableResult
  public final func finished(within duration: Duration) async throws -> ProcedureOutcome {
    let isInTime = await RealTimeWait.finishes(within: duration) {
      _ = await self.waitUntilFinished()
    }
    return try outcome(isInTime, duration)
  }

  /// The same, blocking the calling thread: for tests that are not `async`.
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
        "'\(name)' did not finish", within: duration, "\(snapshotOfSurroundings())")
    }
    return outcome
  }
}
