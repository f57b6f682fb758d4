internal import ProcedurePrimitives

/// The exclusion requests of members.
extension ProcedureList {
  /// Grants the first ready member the categories that it requests with its slot; otherwise it
  /// steps aside.
  @inline(never)
  func ask(
    _ request: ExclusionRequest, _ storage: inout Storage
  ) -> Job? {
    // 1. The table decides about all categories in one step.
    let around = storage.exclusionAround
    guard ExclusionTable.shared.withLock({ $0.ask(request, inside: around) }) else {
      // 2. An offer may follow at once. It needs the list's lock, so it finds the member excluded.
      storage.machine.exclude(request.procedure)
      request.record?.enterLine(
        ExclusionTable.shared.withLock { _ in request.recordedLine } ?? .left)
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
      let offer = open[next]
      next += 1
      // 2. Never two locks of lists at a time.
      if offer.list !== self {
        foreign.append(offer)
        continue
      }
      // 3. A member that cannot use the categories declines, which may admit others here.
      offer.record?.leaveLine(after: offer.admittedBy)
      if !storage.machine.grant(offer, to: offer.procedure) {
        open.append(contentsOf: ExclusionTable.shared.withLock { $0.decline(offer) })
      }
    }
    return foreign
  }

  /// Passes each offer on to its list. Called with no lock held.
  static func pass(on offers: ExclusionOffers) {
    var open = offers
    var next = 0
    while next < open.count {
      let offer = open[next]
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
