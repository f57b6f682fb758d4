internal import Dispatch
internal import ProcedurePrimitives

extension DispatchSemaphore {
  /// Blocks the calling thread for procedures.
  ///
  /// If that is the main thread, and one of them does not end without it, neither will ever go on: that is reported, to
  /// the handler of the queue of what needs it, or else to standard error.
  ///
  /// - Parameters:
  ///   - call: the function that blocks.
  ///   - instead: what to write in its place.
  ///   - patience: after how long it is reported.
  ///   - procedures: the awaited procedures.
  func wait(
    in call: String, instead: String, patience: DispatchTimeInterval = .seconds(1),
    for procedures: @autoclosure () -> [Procedure]
  ) {
    if MainThread.isCurrent {
      if wait(timeout: .now() + patience) == .success { return }
      let obstacle = WaitGraph(from: procedures()).waitsForMainThread
      obstacle?.reportBlockedMainThread(by: call, instead: instead)
    }
    SpareThreads.blocking { wait() }
  }
}

extension WaitGraph {
  /// One that does not end without the main thread, of those for which the first ones wait; nil if all of these can end.
  var waitsForMainThread: Procedure? { firstStuck(without: \.isInNeedOfMainThread) }
}

extension ObserverPlace {
  fileprivate var isOnMainThread: Bool {
    switch self {
    case .worker, .stage: false
    case .queue(let queue): MainThread.runs(queue)
    case .mainActor: true
    }
  }
}

extension Procedure {
  fileprivate final var isInNeedOfMainThread: Bool {
    if case .observer(let call) = obstacle, call.entry.place.isOnMainThread { return true }
    if !isFinished, read({ $0.list })?.context.scheduler.isOnMainThread == true { return true }
    if isPending, !isCancelled, read({ $0.requirements?.conditions?.needsMainActor }) == true {
      return true
    }
    guard runsOnMainActor, !(isPending && isCancelled) else { return false }
    return read { !$0.life.isToldToFinish }
  }

  fileprivate final func reportBlockedMainThread(by call: String, instead: String) {
    supervisor.reportAloud(.mainThreadBlocked(by: call, self, instead: instead))
  }
}
