internal import ProcedurePrimitives

extension ReadyList {
  /// Adds a procedure the way its queue or group would.
  ///
  /// - Parameter role: its role on the queue.
  func add(_ procedure: Procedure, as role: MemberRole = .member) {
    if let group {
      group.takeIn(procedure)
    } else {
      admit(procedure, as: role)
    }
  }

  /// Adds a procedure to the list of a queue, with word to the delegate.
  ///
  /// - Parameter role: its role.
  /// - Returns: whether it was accepted.
  @discardableResult
  func admit(
    _ procedure: Procedure, as role: MemberRole = .member
  ) -> Bool {
    let tells = hasDelegate
    if tells { delegate?.tell(.willAdd, of: procedure, errors: []) }
    guard procedure.enqueue(in: self, as: role) != .refused else {
      procedure.end(refusedBy: self)
      return false
    }
    if tells { delegate?.tell(.didAdd, of: procedure, errors: []) }
    return true
  }

  /// Adds several to the list of a queue, with word to the delegate: none starts before all are members.
  ///
  /// No user code is called while some are members and others are not.
  func admit(_ batch: [Procedure]) {
    if batch.count <= 1 { return batch.forEach { admit($0) } }
    let tells = hasDelegate
    if tells { for procedure in batch { delegate?.tell(.willAdd, of: procedure, errors: []) } }
    var refused: [Procedure] = []
    batch.forEachUncounted { procedure in
      if procedure.enqueue(in: self, isInBatch: true) == .refused { refused.append(procedure) }
    }
    complete(batch)
    for procedure in refused { procedure.end(refusedBy: self) }
    guard tells else { return }
    let unadded = Set(refused)
    for procedure in batch where !unadded.contains(procedure) {
      delegate?.tell(.didAdd, of: procedure, errors: [])
    }
  }

  /// All that were added in one call are members, and may start.
  func complete(_ batch: [Procedure]) {
    let aftermath = storage.withLock { storage in
      storage.machine.complete(batch)
      receiveArrivals(&storage)
      return self.aftermath(of: &storage)
    }
    aftermath.carryOut()
  }

  /// Adds a member. Called under the procedure's lock; what is returned is for afterwards.
  ///
  /// - Parameter mark: marks it as cancelled, if the group is: before others can find it here.
  @inline(__always)
  func insert(
    _ procedure: Procedure, _ standing: MemberStanding,
    asking request: ExclusionRequest?, marking mark: (TreeCancel) -> Void
  ) -> (Insertion, Aftermath) {
    if request == nil, standing.mayArriveLate, owner == nil || standing.role == .founding,
      arrivals.isOpen
    {
      standing.note(in: procedure)
      let answer = arrivals.append(procedure, isExpected: isWorkerComing)
      // What follows comes when the group is made.
      if owner != nil, answer != .closed { return (.accepted(isAnnounced: false), .none) }
      if answer == .accepted {
        return (
          .accepted(isAnnounced: true),
          standing.readiness == .waiting ? aftermathOfWaiting() : .none
        )
      }
      if answer == .acceptedUnexpected {
        // If it cannot be taken now, it stays there until what keeps it has changed.
        return storage.withLock { storage in
          if storage.machine.isSuspended { return (.accepted(isAnnounced: true), .none) }
          if storage.machine.hasRoom { receiveArrivals(&storage) }
          return (.accepted(isAnnounced: true), aftermath(of: &storage))
        }
      }
    }
    return storage.withLock { storage in
      admitAll(&storage)
      let insertion = storage.machine.insert(procedure, standing, asking: request)
      if insertion != .refused, storage.isOrphaned { storage.itself = self }
      if insertion != .refused, let cancel = storage.treeCancel {
        if procedure.childList != nil { cancel.expectFollower() }
        mark(cancel)
      }
      return (insertion, aftermath(of: &storage))
    }
  }

  /// One that waits has been added to a queue's list, outside of any critical section.
  func aftermathOfWaiting() -> Aftermath {
    guard isWorkerComing.load() == 0 else { return .none }
    var isNoted = false
    withFixedContext { isNoted = $0.wantsStuckLists }
    return isNoted ? .stuck(self) : .none
  }
}
