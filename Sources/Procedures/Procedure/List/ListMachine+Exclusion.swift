internal import ProcedurePrimitives

/// Members that exclude others: had a slot at hand, and wait in line for the categories that they asked for.
extension ListMachine {
  /// The member that had to ask has been granted its categories, and is taken.
  mutating func takeGranted(_ procedure: Procedure) -> Job {
    requireConsistency(
      procedure.membership.line != .none, "Internal inconsistency: taken, but no member")
    return start(.unowned(procedure))
  }

  /// The member that had to ask waits in line.
  mutating func exclude(_ procedure: Procedure) {
    requireConsistency(
      procedure.membership.line != .none, "Internal inconsistency: excluded, but no member")
    lines.move(.unowned(procedure), to: .excluded)
  }

  /// An excluded member gets an offer of its categories. False if it has no use for them now.
  mutating func grant(_ request: ExclusionRequest, to procedure: Procedure) -> Bool {
    let member = Member.unowned(procedure)
    guard member.membership.line == .excluded, lines.request(of: member) === request
    else { return false }
    guard isOpen, slotsInUse < limit, !isPreceded(member, request) else {
      lines.returnToPlace(member, request)
      return false
    }
    lines.move(member, to: .granted)
    return true
  }

  /// Whether a ready member is to be given a free slot before an excluded one.
  private func isPreceded(_ member: Member, _ request: ExclusionRequest) -> Bool {
    if limit == .max { return false }
    if arrivals.readyCount > 0, member.membership.urgency.priority < .normal { return true }
    return lines.isPreceded(member, request)
  }

  /// The list is suspended: members with a granted slot go back to wait for one.
  mutating func revokeGrants() -> [ExclusionRequest] {
    var revoked: [ExclusionRequest] = []
    while let member = lines.granted.first {
      guard let request = lines.request(of: member) else {
        stopBecauseOfInconsistency("Internal inconsistency: granted, but without a request")
      }
      revoked.append(request)
      lines.returnToPlace(member, request)
    }
    return revoked
  }

  /// A cancelled member leaves the line that it waits in: it has no use for a slot. It still has to finish, and
  /// gives its request up then.
  ///
  /// - Returns: the request, if it was excluded.
  mutating func withdraw(_ procedure: Procedure) -> ExclusionRequest? {
    let line = procedure.membership.line
    procedure.membership.isReady = false
    guard line != .none, line != .waiting, !line.hasSlot else { return nil }
    let member = Member.unowned(procedure)
    lines.move(member, to: .waiting)
    return line == .excluded ? lines.request(of: member) : nil
  }
}
