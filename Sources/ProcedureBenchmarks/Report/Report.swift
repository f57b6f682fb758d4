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

  /// What is to be said about the machine, over all contests.
  var machineRemark: String {
    let timed = contests.filter { $0.unit == .nanoseconds }
    let disturbed = timed.count(where: \.isDisturbed)
    return disturbed == 0
      ? "The reference loop was steady in all cases."
      : "The machine was too noisy to judge in \(disturbed) of \(timed.count) cases."
  }
}
