internal import Dispatch

extension Procedure {
  /// Blocks the calling thread until the procedure has finished and its didFinish observers have
  /// returned.
  ///
  /// Must not be called from what the procedure waits for, nor on the main thread if something of it
  /// needs the main actor: it would wait for ever, which is reported after a second. In `async` code await `waitUntilFinished()`, which
  /// blocks nothing.
  ///
  /// - Returns: how it ended.
  @available(*, noasync, message: "await waitUntilFinished() instead")
  @discardableResult
  public final func blockUntilFinished() -> ProcedureOutcome {
    MissingReport.schedule(for: self)
    let semaphore = DispatchSemaphore(value: 0)
    if addFinishWaiter(.thread(semaphore)) {
      semaphore.wait(
        in: "blockUntilFinished()", instead: "await waitUntilFinished()", for: [self])
    }
    guard let outcome else {
      preconditionFailure("Internal inconsistency: a wait for '\(name)' ended before its finish")
    }
    return outcome
  }
}
