/// How a report is written. It comes in pieces, so that a long run can be followed.
protocol ReportFormat {
  func heading(_ report: Report) -> String
  func section(_ contest: ContestReport) -> String
  func closing(_ report: Report) -> String
  func comparison(_ comparison: Comparison) -> String
}

extension Cost {
  var found: String { unit.text(summary.median) }

  var quartiles: String {
    unit == .bytes ? "" : "\(summary.lowerQuartile.short) – \(summary.upperQuartile.short)"
  }

  var aimText: String { aim.map(unit.text) ?? "–" }

  var verdictText: String {
    verdict.rawValue + (verdict == .met && reachesAim ? ", aim reached" : "")
  }
}

extension RowName {
  /// With its contest.
  var full: String { "\(contest): \(text)" }
}
