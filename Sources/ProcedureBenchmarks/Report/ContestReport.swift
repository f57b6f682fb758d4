/// A contest as it is printed and stored.
struct ContestReport: Codable {
  let name: String
  let unit: Unit
  let item: String
  let rounds: Int
  let rows: [Row]
  let referenceLoop: Summary

  init(_ result: ContestResult) {
    name = result.contest.name
    unit = result.contest.unit
    item = result.contest.item
    rounds = result.measured.rounds
    rows = result.rows
    referenceLoop = result.measured.referenceLoop
  }

  /// Whether another process had the processors meanwhile. Bytes are what they are on any machine.
  var isDisturbed: Bool {
    unit == .nanoseconds && referenceLoop.tail > Noise.mostReferenceTail
  }

  /// What all entries that do not say otherwise did in a round.
  var mostItems: Int { rows.map(\.items).max() ?? 0 }

  /// For example `100,000 items, 11 rounds, ns for each item`.
  var title: String {
    let items = rows.contains { $0.name.size != nil } ? "" : "\(mostItems.grouped) \(item)s, "
    return "\(items)\(rounds) rounds, \(unit.rawValue) for each \(item)"
  }

  /// What is to be said below the rows.
  var remark: String? {
    guard isDisturbed else { return nil }
    return
      "too noisy to judge: one in ten reference loops took \(referenceLoop.tail.percent) longer"
  }
}

extension Row {
  /// What is to be said behind its figures.
  var remarks: [String] {
    var remarks: [String] = []
    if isReference { remarks.append("reference") }
    if share > 1 { remarks.append("1/\(share.grouped) of the items") }
    if isNoisy { remarks.append("noisy") }
    return remarks
  }
}
