internal import ProcedurePrimitives

/// The requests of unfinished members to their list.
extension ReadyList {
  /// Called under the procedure's lock, when it has nothing left to wait for but a slot, or a worker
  /// that evaluates its conditions.
  ///
  /// - Parameter asks: false if the caller is a worker that will look for more in this list.
  func advance(
    _ procedure: Procedure, to readiness: Readiness, in attempt: UInt32,
    asking request: ExclusionRequest?, asks: Bool
  ) -> Aftermath {
    storage.withLock { storage in
      admitAll(&storage)
      storage.machine.advance(procedure, to: readiness, in: attempt, asking: request)
      // It waits for its group from here on, which may wait for it.
      if storage.machine.phase == .held {
        return aftermath(
          of: &storage, needsWorker: storage.machine.requestWorker(),
          isStuck: storage.context.wantsStuckLists, foreign: [])
      }
      guard procedure.membership.isInBatch else {
        return asks ? aftermath(of: &storage) : .none
      }
      // Whoever completes the batch says whether members wait.
      return aftermath(
        of: &storage, needsWorker: storage.machine.requestWorker(), isStuck: false, foreign: [])
    }
  }

  /// One has a wait less, and others left: among them may be a barrier that waits for it.
  func aftermathOfWaitingOn() -> Aftermath? {
    // Arrivals are closed as soon as there is a barrier.
    owner == nil && !arrivals.isOpen ? aftermathOfWaiting() : nil
  }

  /// Called under the procedure's lock.
  func makeWaiting(_ procedure: Procedure) -> Aftermath {
    locked { makeWaiting(procedure, &$0) }
  }

  private func makeWaiting(_ procedure: Procedure, _ storage: inout Storage) -> Aftermath {
    let offers = storage.machine.makeWaiting(procedure).map { request in
      request.record?.leaveLine()
      return ExclusionTable.shared.withLock { $0.leave(request) }
    }
    return aftermath(of: &storage, offering: offers)
  }

  /// Called under the lock of a procedure that a worker has taken with a slot, and that will not start in that
  /// attempt: it was cancelled. It gives back the slot, and what it excludes others from.
  func surrender(_ procedure: Procedure, in attempt: UInt32) -> Aftermath {
    locked { storage in
      let membership = procedure.membership
      guard membership.line == .running, membership.attempt == attempt else { return .none }
      return makeWaiting(procedure, &storage)
    }
  }

  /// Called under the lock of a procedure that was cancelled: it leaves the line it waits in.
  ///
  /// If it has been offered what it waits for, the offer is on its way here, and is declined.
  ///
  /// Those behind it are notified when it has finished, at the latest: this holds a procedure's
  /// lock.
  func withdraw(_ procedure: Procedure) {
    locked { storage in
      guard let request = storage.machine.withdraw(procedure) else { return }
      request.record?.leaveLine()
      ExclusionTable.shared.withLock { $0.withdraw(request) }
    }
  }

  /// Has the turn run that the caller took for `procedure`.
  ///
  /// Not of one that is on no queue and is being released: its turn would come after it.
  func requestTurn(of procedure: Procedure) {
    if owner == nil, !isOnQueue, isBeingReleased(procedure) { return }
    let aftermath = storage.withLock { storage in
      admitAll(&storage)
      storage.machine.requestTurn(of: procedure)
      return self.aftermath(of: &storage)
    }
    aftermath.carryOut()
  }

  /// Has the turns run that a group took for its children.
  func requestTurns(of children: consuming Fifo<Procedure>) {
    if children.isEmpty { return }
    let aftermath = storage.withLock { storage in
      admitAll(&storage)
      while let child = children.popFirst() { storage.machine.requestTurn(of: child) }
      return self.aftermath(of: &storage)
    }
    aftermath.carryOut()
  }
}

extension ReadyList.Aftermath {
  /// Joins what an earlier step in the same critical section of a procedure left to be done.
  func following(_ earlier: Self?) -> Self {
    guard let earlier = earlier?.work else { return self }
    guard let work else { return .work(earlier) }
    return .work(
      Work(
        on: work.list, workerContext: earlier.workerContext ?? work.workerContext,
        supervisor: work.supervisor, offers: earlier.offers + work.offers))
  }

  private var work: Work? {
    switch self {
    case .none: nil
    case .worker(let list):
      Work(on: list, workerContext: list.fixedContext, supervisor: nil, offers: [])
    case .stuck(let list):
      Work(on: list, workerContext: nil, supervisor: list.context.supervisor, offers: [])
    case .work(let work): work
    }
  }
}
