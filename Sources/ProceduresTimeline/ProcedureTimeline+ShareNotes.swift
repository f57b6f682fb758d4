internal import Procedures

/// The verdict's notes on shares, besides their causes.
extension ProcedureTimeline.Snapshot {
  /// - Parameter longest: the entry with the largest part of the share, and its time in it.
  func note(
    on kind: ProcedureTimeline.PathShare.Kind, _ name: String?, _ segments: [PathSegment],
    total: Int64, longest: (entry: ProcedureTimeline.Entry, time: Int64)?
  ) -> String {
    guard let longest else { return "" }
    let who = "'\(longest.entry.name.shown)'"
    switch kind {
    case .work:
      let isMost = total > (end - start) / 2
      let row = isMost && longest.time < total / 3 ? rowText(segments) : ""
      return "\(row) (longest: \(who), \(NumberText.time(longest.time))\(longest.entry.runText))"
    case .notEnqueued, .wait(.condition), .wait(.group): return " (\(who))"
    case .wait(.worker):
      let others = otherCodeText(segments, total: total, name, root: longest.entry.root)
      return " (\(who))\(others)"
    case .wait(.delay): return ""
    case .wait(.slot): return overtakingText(segments)
    case .wait(let cause):
      // A dependency that is not recorded is known only by its dependents.
      return cause.isAfterStart || cause == .dependency && name == nil ? " (\(who))" : ""
    }
  }

  /// For example ` of 10 in a row, by dependencies`. Very short steps are left out.
  private func rowText(_ segments: [PathSegment]) -> String {
    let least = (segments.map(\.length).max() ?? 0) / 10
    let steps = Set(segments.lazy.filter { $0.length >= least }.map(\.step))
    guard steps.count > 2 else { return "" }
    let path = criticalPath
    // The link between two attempts says nothing about the user's dependencies.
    let links = steps.filter {
      steps.contains($0 - 1) && !isNextAttempt(path[$0], after: path[$0 - 1])
    }
    .map { path[$0].link }
    let isChain = !links.isEmpty && links.allSatisfy { $0 == .dependency }
    return " of \(steps.count) in a row" + (isChain ? ", by dependencies" : "")
  }

  private func isNextAttempt(
    _ step: ProcedureTimeline.Step, after last: ProcedureTimeline.Step
  ) -> Bool {
    guard let group = step.entry.parent, group == last.entry.parent else { return false }
    return entry(group)?.hasAttempts == true
  }

  /// A note that other code held the threads, if no recorded procedure ran for most of the time;
  /// else empty.
  private func otherCodeText(
    _ segments: [PathSegment], total: Int64, _ name: String?, root: Int
  ) -> String {
    // Procedures outside the sample may have run.
    guard sampleSize == 1 else { return "" }
    let quiet = quietTime(in: segments)
    guard quiet > total / 2 else { return "" }
    let threads =
      name.map { "the \($0)" } ?? underlyingQueues[root].map { "underlying queue '\($0.shown)'" }
      ?? "the threads"
    let length = quiet < total / 100 * 99 ? "for \(NumberText.time(quiet)) of it" : "meanwhile"
    return ", none of the recorded procedures ran \(length): other code held \(threads)"
  }

  /// The time in these ordered segments in which no recorded procedure ran.
  private func quietTime(in segments: [PathSegment]) -> Int64 {
    let runs = entries.lazy.filter { !$0.isGroup }.compactMap { entry in
      entry.times.started.map { (from: $0, to: entry.times.finished ?? end) }
    }.sorted { $0.from < $1.from }
    var quiet: Int64 = 0
    var (next, busyUntil) = (0, start)
    for segment in segments {
      var now = segment.from
      while next < runs.count, runs[next].from < segment.to {
        quiet += max(0, runs[next].from - max(now, busyUntil))
        now = max(now, runs[next].from)
        busyUntil = max(busyUntil, runs[next].to)
        next += 1
      }
      quiet += max(0, segment.to - max(now, busyUntil))
    }
    return quiet
  }

  /// For example `, 50 more urgent ones that were added later went before 'report'`, about the
  /// least urgent waiter. Empty if no more than the number of slots went before it.
  private func overtakingText(_ segments: [PathSegment]) -> String {
    let waiter = Set(segments.map(\.waiter)).min {
      let (left, right) = (entries[$0], entries[$1])
      return (left.priority, right.nanosecondsWaited(for: .slot), $0)
        < (right.priority, left.nanosecondsWaited(for: .slot), $1)
    }
    guard let waiter, let ready = entries[waiter].times.ready else { return "" }
    let entry = entries[waiter]
    let home = WaitNames.Home(of: entry)
    let limit = entry.waits.first { $0.cause == .slot }?.limit ?? 1
    // Entries are in the order of enqueuing.
    let count = entries[(waiter + 1)...].count { other in
      guard let started = other.times.started, other.priority > entry.priority else { return false }
      return started >= ready && started <= entry.times.started ?? end
        && WaitNames.Home(of: other) == home
    }
    return count <= limit
      ? "" : ", \(count) more urgent ones that were added later went before '\(entry.name.shown)'"
  }
}
