internal import ProcedureExclusion
internal import ProcedurePrimitives

extension ExclusionTable {
  /// The one table of the process. Its lock is the innermost: acquired inside a list's.
  static let shared: Locked<ExclusionTable> = Locked(ExclusionTable(timeIsUp: passTime))

  private static func passTime(_ times: StartTimes) {
    let offers = shared.withLock { table in table.timePasses(for: times).noting(RecordID.none) }
    ProcedureList.pass(on: offers)
  }
}

extension MemberRequest {
  /// The procedure has finished, or no longer waits. Called under the list's lock.
  ///
  /// - Parameter hasStarted: false if it was admitted, and did not start.
  func leave(hasStarted: Bool) -> ExclusionOffers {
    ExclusionTable.shared.withLock { leave(in: &$0, hasStarted: hasStarted) }
  }

  func leave(in table: inout ExclusionTable, hasStarted: Bool = true) -> ExclusionOffers {
    list.assertHeld()
    let offers = table.leave(self, hasStarted: hasStarted)
    return recording.map { offers.noting($0.id) } ?? offers
  }

  /// The procedure cannot use an offer now. Called under the list's lock.
  func decline() -> ExclusionOffers {
    list.assertHeld()
    return ExclusionTable.shared.withLock { table in
      let offers = table.decline(self)
      // It never held them for long: the procedure that admitted it made the room.
      return recording.map { offers.noting($0.admittedBy) } ?? offers
    }
  }

  /// The priority of the procedure has changed. Called under the list's lock.
  func setPriority(_ priority: ProcedurePriority) -> ExclusionOffers {
    list.assertHeld()
    return ExclusionTable.shared.withLock {
      $0.setRank(priority.rank, of: self).noting(RecordID.none)
    }
  }
}

extension ExclusionOffers {
  /// Notes in each the record of the procedure that made room for it. Called under the lock of the
  /// table.
  fileprivate func noting(_ record: RecordID) -> Self {
    for offer in self { offer.asMember.recording?.admittedBy = record }
    return self
  }
}

/// The exclusion requests of members.
extension ProcedureList {
  /// Grants the first ready member the categories that it requests with its slot; otherwise it
  /// steps aside.
  @inline(never)
  func ask(
    _ request: MemberRequest, _ storage: inout Storage
  ) -> Job? {
    // 1. The table decides about all categories in one step.
    let around = storage.exclusionAround
    guard ExclusionTable.shared.withLock({ $0.ask(request, inside: around) }) else {
      // 2. An offer may follow at once. It needs the list's lock, so it finds the member excluded.
      storage.machine.exclude(request.procedure)
      request.record?.enterLine(RecordedLine(of: request))
      return nil
    }
    return storage.machine.takeGranted(request.procedure)
  }

  /// Grants freed categories to members of this list that have a slot for them, in the same
  /// critical section.
  ///
  /// - Returns: offers for procedures of other lists.
  func accept(_ offers: ExclusionOffers, _ storage: inout Storage) -> ExclusionOffers {
    var open = offers
    var foreign = ExclusionOffers()
    var next = 0
    // 1. The order counts: there may be a slot only for the first of them.
    while next < open.count {
      let offer = open[next].asMember
      next += 1
      // 2. Never two locks of lists at a time.
      if offer.list !== self {
        foreign.append(offer)
        continue
      }
      // 3. A member that cannot use the categories declines, which may admit others here.
      if let recording = offer.recording {
        recording.record?.leaveLine(after: recording.admittedBy)
      }
      if !storage.machine.grant(offer, to: offer.procedure) {
        open.append(contentsOf: offer.decline())
      }
    }
    return foreign
  }

  /// Passes each offer on to its list. Called with no lock held.
  static func pass(on offers: ExclusionOffers) {
    var open = offers
    var next = 0
    while next < open.count {
      let offer = open[next].asMember
      next += 1
      // A list that declines makes further offers, for this list or for others.
      let (foreign, followUp) = offer.list.locked { storage in
        let foreign = offer.list.accept(.one(offer), &storage)
        return (foreign, offer.list.followUp(of: &storage))
      }
      open.append(contentsOf: foreign)
      followUp.perform()
    }
  }
}
