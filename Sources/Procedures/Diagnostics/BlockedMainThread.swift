internal import Dispatch
internal import ProcedurePrimitives

extension WaitingCall {
  /// Blocks the calling thread until `semaphore` is signalled.
  ///
  /// - Parameter patience: how long the main thread may wait before its wait is reported.
  /// - Returns: an error if the wait would never have ended. The semaphore may still be signalled
  ///   later.
  func block(
    on semaphore: DispatchSemaphore, patience: DispatchTimeInterval = .seconds(1)
  ) -> ProcedureError? {
    if MainThread.isCurrent {
      if semaphore.wait(timeout: .now() + patience) == .success { return nil }
      if let stuck = WaitGraph(from: awaited(by: nil)).waitsForMainThread {
        ProcedureDiagnostic.mainThreadBlocked(by: self, stuck).reportAloud(to: stuck.supervisor)
      }
    }
    return SpareThreads.blocking { blockAsWait(on: semaphore) }
  }
}

extension WaitGraph {
  /// A procedure that needs the main thread, if a root cannot end without it; nil if all roots can
  /// end.
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
    if case .observer(let call) = wait, call.entry.place.isOnMainThread { return true }
    if !isFinished, peek({ $0.list })?.context.scheduler.isOnMainThread == true { return true }
    if isPending, !isCancelled, peek({ $0.requirements?.value.conditions?.needsMainActor }) == true
    {
      return true
    }
    guard needsMainActor, !(isPending && isCancelled) else { return false }
    return peek { !$0.life.isToldToFinish }
  }
}
