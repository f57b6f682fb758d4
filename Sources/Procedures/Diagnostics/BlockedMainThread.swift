internal import Dispatch
internal import ProcedurePrimitives

extension WaitingCall {
  /// Blocks the calling thread until `semaphore` is signalled.
  ///
  /// - Parameter patience: after how long it is reported on the main thread.
  /// - Returns: an error if it would never have returned by itself. The semaphore may be signalled later.
  func block(
    on semaphore: DispatchSemaphore, patience: DispatchTimeInterval = .seconds(1)
  ) -> ProcedureError? {
    if MainThread.isCurrent {
      if semaphore.wait(timeout: .now() + patience) == .success { return nil }
      // One that does not end without the main thread; nil if all of these can end.
      let graph = WaitGraph(from: awaited(by: nil))
      if let stuck = graph.firstStuck(without: \.isInNeedOfMainThread) {
        ProcedureDiagnostic.mainThreadBlocked(by: self, stuck).reportAloud(to: stuck.supervisor)
      }
    }
    return SpareThreads.blocking {
      if isEndable, let procedure = TurnNote.procedure {
        return procedure.block(on: semaphore, in: self)
      }
      semaphore.wait()
      return nil
    }
  }
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
    if case .observer(let call) = obstacle(), call.entry.place.isOnMainThread { return true }
    if !isFinished, read({ $0.list })?.context.scheduler.isOnMainThread == true { return true }
    if isPending, !isCancelled, read({ $0.requirements?.conditions?.needsMainActor }) == true {
      return true
    }
    guard runsOnMainActor, !(isPending && isCancelled) else { return false }
    return read { !$0.life.isToldToFinish }
  }
}
