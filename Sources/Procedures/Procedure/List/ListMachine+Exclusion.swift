internal import ProcedureExclusion
internal import ProcedurePrimitives

/// Members that exclude others. An excluded member had a slot available, and waits in line for the
/// categories that it requested.
extension ListMachine {
  /// Takes the member that requested categories and has been granted them.
  mutating func takeGranted(_ procedure: Procedure) -> Job {
    requireConsistency(
      buckets.held[procedure].bucket != .none, "Internal inconsistency: taken, but no member")
    return start(.unowned(procedure))
  }

  /// Moves the member that requested categories into the line for them.
  mutating func exclude(_ procedure: Procedure) {
    requireConsistency(
      buckets.held[procedure].bucket != .none, "Internal inconsistency: excluded, but no member")
    buckets.move(.unowned(procedure), to: .excluded)
  }

  /// Offers an excluded member its categories. False if it cannot use them now.
  mutating func grant(_ request: MemberRequest, to procedure: Procedure) -> Bool {
    let member = Member.unowned(procedure)
    // 1. Since the offer was made, the member may have been cancelled, or must wait again.
    guard buckets.held[member].bucket == .excluded, buckets.request(of: member) === request
    else { return false }
    // 2. Without a slot it declines, goes back to its place among the ready ones, and asks anew
    //    from there: it does not hold categories while it waits for a slot.
    guard isOpen, slotsInUse < limit, !isPreceded(member, request) else {
      buckets.returnToPlace(member, request)
      return false
    }
    buckets.move(member, to: .granted)
    return true
  }

  /// Whether a ready member gets a free slot before an excluded one.
  private func isPreceded(_ member: Member, _ request: MemberRequest) -> Bool {
    if limit == .max { return false }
    if arrivals.readyCount > 0, buckets.held[member].urgency.priority < .normal { return true }
    return buckets.isPreceded(member, request)
  }

  /// The ticket of the request has changed. A member that has returned moves to the place of the
  /// new ticket.
  mutating func reorder(_ procedure: Procedure, _ request: MemberRequest) {
    guard buckets.held[procedure].bucket.isReturned else { return }
    buckets.returnToPlace(.unowned(procedure), request)
  }

  /// The list is suspended: members with a granted slot wait for a slot again.
  mutating func revokeGrants() -> [MemberRequest] {
    // A rest has none, and stays.
    var revoked: [MemberRequest] = []
    buckets.granted.forEach(buckets.held) { member in
      if let request = buckets.request(of: member) { revoked.append(request) }
    }
    for request in revoked { buckets.returnToPlace(.unowned(request.procedure), request) }
    return revoked
  }

  /// Removes a cancelled member from the line in which it waits: it needs no slot. It still has to
  /// finish, and gives up its request then.
  ///
  /// - Returns: the request, if it was excluded.
  mutating func withdraw(_ procedure: Procedure) -> MemberRequest? {
    let bucket = buckets.held[procedure].bucket
    buckets.held.change(procedure) { $0.isReady = false }
    guard bucket != .none, bucket != .waiting, !bucket.hasSlot else { return nil }
    let member = Member.unowned(procedure)
    buckets.move(member, to: .waiting)
    return bucket == .excluded ? buckets.request(of: member) : nil
  }
}
