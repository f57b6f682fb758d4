import Foundation

/// A finding as it is printed.
struct Row: Encodable {
  /// A contestant, and the median of its costs for an item.
  struct Cost: Encodable {
    let name: String
    let median: Double
  }

  let name: String
  let unit: Contest.Unit
  let ours: Cost
  let theirs: Cost
  let rounds: Int
  let median: Double
  let lowerQuartile: Double
  let upperQuartile: Double
  /// Our processor time divided by theirs, the median of the rounds; nil for bytes.
  let processorTime: Double?
  let ceiling: Double?
  let aim: Double?
  let verdict: Finding.Verdict

  init(_ finding: Finding) {
    let contest = finding.contest
    let answers = finding.answers
    name = contest.name
    unit = contest.unit
    ours = Cost(name: contest.ours.name, median: finding.ours.quantile(0.5))
    theirs = Cost(name: contest.theirs.name, median: finding.theirs.quantile(0.5))
    rounds = answers.count
    median = answers.quantile(0.5)
    lowerQuartile = answers.quantile(0.25)
    upperQuartile = answers.quantile(0.75)
    let times = finding.processorTimes
    processorTime = times.isEmpty ? nil : times.quantile(0.5)
    ceiling = contest.ceiling
    aim = contest.aim
    verdict = finding.verdict
  }

  func text(_ cost: Cost) -> String { "\(cost.median.short) \(unit.rawValue)" }

  func text(_ answer: Double) -> String {
    switch unit {
    case .nanoseconds: "\(answer.short) ×"
    case .bytes: "\(answer.short) bytes"
    }
  }

  var quartiles: String { "\(lowerQuartile.short) – \(upperQuartile.short)" }
}

extension Double {
  /// Shows three significant digits, or all digits before the point.
  var short: String {
    let digits = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0
    return formatted(
      .number.precision(.fractionLength(digits)).locale(Locale(identifier: "en_US")))
  }
}
