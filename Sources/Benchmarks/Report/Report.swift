/// All that a run found out: what `--json` writes and `--compare` reads.
struct Report: Codable {
  /// Of the format.
  var version = 1
  let machine: Machine
  /// nil where it is not known.
  let commit: String?
  /// Whether the run was a quick one, which is not to be judged by.
  let isQuick: Bool
  var contests: [ContestReport] = []
  var costs: [Cost] = []

  var rows: [Row] { contests.flatMap(\.rows) }

  /// How much the machine's speed varied, over the contests: the median one and the worst.
  var referenceSpreads: (median: Double, worst: Double) {
    let spreads = contests.map(\.referenceLoop.spread).sorted()
    return (spreads.quantile(0.5), spreads.last ?? 0)
  }
}
