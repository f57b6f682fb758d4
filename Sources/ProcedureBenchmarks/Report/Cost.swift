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
    let names = ceiling.quantity.names
    let reports = results.map { ContestReport($0) }
      .filter { report in names.contains { $0.contest == report.name } }
    let noise: Noise? =
      if reports.contains(where: \.isDisturbed) {
        .machine
      } else if reports.flatMap(\.rows).contains(where: { names.contains($0.name) && $0.isNoisy }) {
        .rows
      } else {
        nil
      }
    self.init(ceiling, Summary(samples), noise: noise)
  }

  init(_ ceiling: Ceiling, _ summary: Summary, noise: Noise?) {
    what = ceiling.what
    unit = ceiling.unit
    self.ceiling = ceiling.ceiling
    aim = ceiling.aim
    self.summary = summary
    verdict = Self.verdict(summary, ceiling: ceiling.ceiling, noise)
    reachesAim = ceiling.aim.map { summary.median <= $0 } ?? false
  }

  /// The median decides. When rows are noisy both quartiles must lie on its side, and on a disturbed
  /// machine nothing is decided.
  private static func verdict(_ summary: Summary, ceiling: Double, _ noise: Noise?) -> Verdict {
    let isMet = summary.median <= ceiling
    let decisive = isMet ? summary.upperQuartile <= ceiling : summary.lowerQuartile > ceiling
    return switch noise {
    case .machine: .tooNoisy
    case .rows where !decisive: .tooNoisy
    case .rows, nil: isMet ? .met : .notMet
    }
  }
}
