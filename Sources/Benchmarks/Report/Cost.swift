/// A line of the cost table with what a run found.
struct Cost: Codable {
  enum Verdict: String, Codable {
    case met
    case notMet = "not met"
    case tooNoisy = "too noisy"
  }

  let what: String
  let unit: CostUnit
  let ceiling: Double
  let aim: Double?
  let summary: Summary
  let verdict: Verdict
  /// False too where no aim is measured.
  let reachesAim: Bool

  /// nil if a contest that it needs was not run.
  init?(_ ceiling: Ceiling, in results: [ContestResult]) {
    guard let samples = ceiling.quantity.samples(in: results) else { return nil }
    let contests = Set(ceiling.quantity.names.map(\.contest))
    let isNoisy = results.contains { result in
      let report = ContestReport(result)
      return contests.contains(report.name)
        && (report.isDisturbed
          || report.rows.contains { ceiling.quantity.names.contains($0.name) && $0.isNoisy })
    }
    self.init(ceiling, Summary(samples), isNoisy: isNoisy)
  }

  init(_ ceiling: Ceiling, _ summary: Summary, isNoisy: Bool) {
    what = ceiling.what
    unit = ceiling.unit
    self.ceiling = ceiling.ceiling
    aim = ceiling.aim
    self.summary = summary
    verdict = Self.verdict(summary, ceiling: ceiling.ceiling, isNoisy: isNoisy)
    reachesAim = ceiling.aim.map { summary.median <= $0 } ?? false
  }

  /// The median decides. With noise both quartiles must lie on its side.
  private static func verdict(_ summary: Summary, ceiling: Double, isNoisy: Bool) -> Verdict {
    let isMet = summary.median <= ceiling
    let decisive = isMet ? summary.upperQuartile <= ceiling : summary.lowerQuartile > ceiling
    if isNoisy, !decisive { return .tooNoisy }
    return isMet ? .met : .notMet
  }
}
