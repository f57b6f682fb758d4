internal import Dispatch
internal import ProcedurePrimitives

extension DispatchSemaphore {
  /// Blocks the calling thread for procedures in `list`.
  ///
  /// If that is the main thread, and one of them needs it, neither will ever go on: that is reported, to the handler
  /// of its queue or else to standard error.
  ///
  /// - Parameters:
  ///   - call: the function that blocks.
  ///   - instead: what to write in its place.
  ///   - patience: after how long it is reported.
  ///   - list: where what it waits for is by then.
  func wait(
    in call: String, instead: String, patience: DispatchTimeInterval = .seconds(1),
    for list: @autoclosure () -> ReadyList
  ) {
    if MainThread.isCurrent {
      if wait(timeout: .now() + patience) == .success { return }
      list().memberInNeedOfMainThread?.reportBlockedMainThread(by: call, instead: instead)
    }
    wait()
  }
}

extension ReadyList {
  /// One of the members, and of those below them, that does not end without the main thread.
  var memberInNeedOfMainThread: Procedure? {
    var unvisited = [self]
    while let list = unvisited.popLast() {
      let procedures = list.procedures
      if list.context.scheduler.isOnMainThread, let first = procedures.first { return first }
      for procedure in procedures {
        if procedure.isInNeedOfMainThread { return procedure }
        if let children = procedure.childList { unvisited.append(children) }
      }
    }
    return nil
  }
}

extension Procedure {
  fileprivate final var isInNeedOfMainThread: Bool {
    if case .observer(.mainActor) = obstacle { return true }
    guard runsOnMainActor, !(isPending && isCancelled) else { return false }
    return read { !$0.machine.isToldToFinish }
  }

  fileprivate final func reportBlockedMainThread(by call: String, instead: String) {
    let diagnostic = ProcedureDiagnostic.mainThreadBlocked(by: call, self, instead: instead)
    if supervisor?.report(diagnostic) != true {
      StandardError.write("Procedures: \(diagnostic)\n")
    }
  }
}
