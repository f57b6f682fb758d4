internal import ProcedurePrimitives
public import Procedures

/// Waits that throw instead of lasting forever.
extension ProcedureQueue {
  /// Waits until all procedures have finished, and throws `WaitTimedOut` if that takes longer than
  /// `duration`.
  ///
  /// It waits in real time, even with another clock of the queue. The error contains `snapshot()`.
  public func allFinished(within duration: Duration) async throws {
    let isInTime = await RealTimeWait.finishes(within: duration) {
      await self.waitUntilAllFinished()
    }
    if !isInTime { throw timedOut(duration) }
  }

  /// Like `allFinished(within:)`, but blocks the calling thread, for tests that are not `async`.
  @available(*, noasync, message: "await allFinished(within:) instead")
  public func blockUntilAllFinished(within duration: Duration) throws {
    let isInTime = RealTimeWait.blocks(forAtMost: duration) { await self.waitUntilAllFinished() }
    if !isInTime { throw timedOut(duration) }
  }

  private func timedOut(_ duration: Duration) -> WaitTimedOut {
    WaitTimedOut(
      "Not everything on '\(name.onOneLine)' finished", within: duration, "\(snapshot())")
  }
}
