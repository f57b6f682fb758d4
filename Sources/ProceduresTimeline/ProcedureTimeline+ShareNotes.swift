internal import Procedures

/// What the verdict says of a share besides its cause.
extension ProcedureTimeline.Snapshot {
  /// - Parameter longest: the entry that the share is most of, and how much of it.
  func note(
    on kind: ProcedureTimeline.PathShare.Kind, _ name: String?,
    longest: (entry: ProcedureTimeline.Entry, time: Int64)?
  ) -> String {
    guard let longest else { return "" }
    let who = "'\(longest.entry.name.shown)'"
    switch kind {
    case .work:
      return " (longest: \(who), \(NumberText.time(longest.time))\(longest.entry.runText))"
    case .notEnqueued, .wait(.condition), .wait(.worker), .wait(.group): return " (\(who))"
    case .wait(.delay): return ""
    case .wait(let cause):
      // A dependency on no recorded queue is known only by its dependents.
      return cause.isAfterStart || cause == .dependency && name == nil ? " (\(who))" : ""
    }
  }
}
