internal import Procedures

extension ProcedureTimeline.Snapshot {
  /// A text for a terminal: the duration, the shares of the critical path, slots in use over time,
  /// the critical path, waits by cause, the longest waits, and the slowest procedures. It has some
  /// 50 lines, for any number of procedures, and leaves out shares below 1 %.
  ///
  /// ```
  /// 4 procedures, 6 s, at most 2 at once, 1.33 on average
  /// Of 6 s on the critical path, 67 % is work (longest: 'link', 3 s); 33 % slot of queue 'build' (limit 2).
  ///
  /// Running, over time (each column 100 ms, highest 2)
  ///   ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄████████████████████▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
  /// …
  /// ```
  public var summary: String {
    guard !entries.isEmpty else { return "No procedures.\n" }
    let segments = pathSegments
    let shares = shares(of: segments)
    let verdict = verdict(on: shares).oneLine
    let least = least
    let parts = [
      heading + (verdict.isEmpty ? "" : "\n" + verdict), useLines, pathLines(segments, least),
      shareLines(shares), waitLines(least), longestWaitLines(least), slowestLines,
      nameLines,
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  private var heading: String {
    let count = entries.count { !$0.isGroup }
    let groups = entries.count - count
    var text = "\(count) procedure\(count == 1 ? "" : "s")"
    if groups > 0 { text += " in \(groups) group\(groups == 1 ? "" : "s")" }
    text += ", \(NumberText.time(end - start))"
    text += ", at most \(mostRunning) at once"
    text += ", \(NumberText.decimal(Int64(averageRunning * 100), per: 100, digits: 2)) on average"
    let failed = endCount { if case .failed = $0 { true } else { false } }
    let cancelled = endCount { if case .cancelled = $0 { true } else { false } }
    let unfinished = entries.count { $0.outcome == nil }
    if failed > 0 { text += "\n\(failed) failed" }
    if cancelled > 0 { text += "\n\(cancelled) cancelled" }
    if unfinished > 0 { text += "\n\(unfinished) not finished" }
    if leftOutCount > 0 {
      text += "\n\(leftOutCount) others were not recorded: one of \(sampleSize) is"
    }
    if droppedCount > 0 { text += "\n\(droppedCount) older ones were dropped" }
    return text
  }

  /// Counts procedures with such an outcome, as a user would: instead of a group, its children with
  /// that outcome, if it has any. A group of attempts, or one that has dealt with its children's
  /// outcomes, counts as a whole.
  private func endCount(_ isOne: (ProcedureOutcome) -> Bool) -> Int {
    /// Whether children of the entry may count: it has that outcome, and is not a group of
    /// attempts.
    var isOpen = [Bool](repeating: false, count: entries.count)
    var isExplained = isOpen
    var count = 0
    // A group is enqueued before its children.
    for place in entries.indices {
      guard let outcome = entries[place].outcome, isOne(outcome) else { continue }
      let group = entries[place].parent.flatMap { places[$0] }
      if let group, entries[group].outcome != nil {
        guard isOpen[group] else { continue }
        // The group counts by its children, so it no longer counts itself.
        if !isExplained[group] { count -= 1 }
        isExplained[group] = true
      }
      isOpen[place] = !entries[place].hasAttempts
      count += 1
    }
    return count
  }

  // MARK: Use

  private var useLines: String {
    let columns = 60
    let most = mostRunning
    guard end > start, most > 0 else { return "" }
    let marks = Array(" ▁▂▃▄▅▆▇█")
    let line = averages(columns).map { average -> Character in
      average <= 0 ? marks[0] : marks[max(1, min(8, Int((average / Double(most) * 8).rounded())))]
    }
    let column = NumberText.time((end - start) / Int64(columns))
    return "Running, over time (each column \(column), highest \(most))\n  "
      + String(line)
  }

  /// Returns the average number of running procedures in `count` equal parts of the time.
  private func averages(_ count: Int) -> [Double] {
    let use = slotUse
    let width = Double(end - start) / Double(count)
    var sums = [Double](repeating: 0, count: count)
    for (index, step) in use.enumerated() {
      var from = Double(step.time.nanoseconds)
      let to = index + 1 < use.count ? Double(use[index + 1].time.nanoseconds) : Double(end - start)
      // The column is counted: if it were computed for each step, rounding could give the previous
      // one.
      var column = min(Int(from / width), count - 1)
      while from < to {
        let until = column == count - 1 ? to : min(to, Double(column + 1) * width)
        sums[column] += max(0, until - from) * Double(step.running)
        from = max(from, until)
        column = min(column + 1, count - 1)
      }
    }
    return sums.map { $0 / width }
  }

  // MARK: Lists

  private func pathLines(_ segments: [PathSegment], _ least: Least) -> String {
    let path = criticalPath
    guard !path.isEmpty else { return "" }
    let shown = 12
    let bySteps = Dictionary(grouping: segments, by: \.step)
    var lines = ["Critical path (\(path.count) step\(path.count == 1 ? "" : "s"))"]
    for (index, step) in path.enumerated() {
      // A long path shows its beginning and its end, since the order explains it better than its
      // longest steps.
      if path.count > shown, index >= shown / 2, index < path.count - shown / 2 {
        if index == shown / 2 { lines.append("  … \(path.count - shown) more") }
        continue
      }
      let entry = step.entry
      let own = bySteps[index] ?? []
      // Its group may have run before it was added, and runs on after it.
      let begin = entry.endOfWaits ?? end
      let others = own.filter {
        isWorthShowing($0.length) && (!$0.isRunning || entries[$0.place].id != entry.id)
      }
      lines += others.filter { !$0.isRunning || $0.to <= begin }.map(self.line(for:))
      var line =
        "  \(Self.padded(NumberText.time(entry.run(until: end)))) \(entry.name.shown)\(entry.runText)"
      var notes = entry.times.started == nil ? ["not started"] : []
      // A delay is nothing but its wait.
      let waits = entry.waits.filter {
        $0.cause != .delay && isWorthShowing($0, of: entry, least)
      }.map {
        "\($0.cause.label) \(text(of: $0, of: entry).oneLine)"
      }
      if step.link != .beginning { notes.append("after the one before by \(step.link.rawValue)") }
      if !waits.isEmpty { notes.append("waited: \(waits.joined(separator: "; "))") }
      if !notes.isEmpty { line += "  (\(notes.joined(separator: "; ")))" }
      lines.append(line)
      lines += others.filter { $0.isRunning && $0.to > begin }.map(self.line(for:))
    }
    return lines.joined(separator: "\n")
  }

  /// Returns the line for a part of the path in which no procedure of it ran.
  private func line(for segment: PathSegment) -> String {
    "  \(Self.padded(NumberText.time(segment.length))) – \(text(of: segment).oneLine)"
  }

  /// For example `suspension of queue 'build'`.
  func text(of segment: PathSegment) -> String {
    let name = entries[segment.place].name.shown
    switch segment.kind {
    case .notEnqueued: return "'\(name)' was not enqueued yet"
    case .work where segment.waiter != segment.place:
      let waiter = entries[segment.waiter].name.shown
      return "group '\(name)' ran, before '\(waiter)' was added"
    case .work: return "group '\(name)' finished"
    case .wait(let cause):
      let what = segment.text.map { " " + $0 } ?? ""
      return "\(cause.label)\(what), \(segment.isRunning ? "of" : "before") '\(name)'"
    }
  }

  /// Whether it is at least 1 % of the whole duration.
  func isWorthShowing(_ nanoseconds: Int64) -> Bool {
    nanoseconds > 0 && nanoseconds >= (end - start) / 100
  }

  /// The limits of lists, which leave out times below 1 % of the whole.
  ///
  /// If a service runs for days, its procedures' waits are long only by their own measure. So a
  /// cause also counts if it is 1 % of the sum of all procedures' times, and a wait for it if it is
  /// 1 % of its procedure's time.
  struct Least {
    /// The least sum of waits that counts.
    let sum: Int64
    /// The causes whose sums reach it.
    let causes: Set<ProcedureTimeline.WaitCause>
  }

  var least: Least {
    let taken = entries.reduce(Int64(0)) { sum, entry in
      entry.isGroup ? sum : sum.addingReportingOverflow(entry.whole(until: end)).partialValue
    }
    let least = min(end - start, taken) / 100
    return Least(
      sum: least, causes: Set(waits.lazy.filter { $0.total.nanoseconds >= least }.map(\.cause)))
  }

  func isWorthShowing(
    _ wait: ProcedureTimeline.Wait, of entry: ProcedureTimeline.Entry, _ least: Least
  ) -> Bool {
    isWorthShowing(wait.nanoseconds)
      || least.causes.contains(wait.cause) && wait.nanoseconds >= entry.whole(until: end) / 100
  }

  private func shareLines(_ shares: [ProcedureTimeline.PathShare]) -> String {
    let shown = shares.counting
    guard !shown.isEmpty else { return "" }
    return
      (["Critical path, by cause"]
      + shown.prefix(8).map {
        "  \(Self.padded($0.percent)) \($0.label.oneLine), "
          + NumberText.time($0.total.nanoseconds)
      }).joined(separator: "\n")
  }

  private func waitLines(_ least: Least) -> String {
    let waits = namedWaits
    let shown = waits.filter { $0.sum >= least.sum }.prefix(12)
    guard !waits.isEmpty else { return "" }
    var lines = ["Waits, by cause (sum over all procedures)"]
    for wait in shown {
      let label = wait.name.isEmpty ? wait.cause.label : "\(wait.cause.label) \(wait.name)"
      lines.append(
        "  \(Self.padded(NumberText.time(wait.sum))) \(label.oneLine), \(wait.count) "
          + "procedure\(wait.count == 1 ? "" : "s"); longest "
          + "\(NumberText.time(wait.longestTime)): \(entries[wait.longest].name.shown)")
    }
    if shown.count < waits.count {
      let rest = waits.dropFirst(shown.count)
      let sum = rest.reduce(0) { $0 + $1.sum }
      lines.append("  and \(rest.count) more, \(NumberText.time(sum)) together")
    }
    return lines.joined(separator: "\n")
  }

  /// The sum of all waits for one thing.
  struct NamedWait {
    let cause: ProcedureTimeline.WaitCause
    /// The name of the thing, if several waits share it: `'disk'`, `of queue 'build' (limit 2)`.
    let name: String
    var sum: Int64 = 0
    var count = 0
    var longest = 0
    var longestTime: Int64 = 0
  }

  /// All waits by cause, the greatest sum first. Waits for a condition, an exclusion, a slot, a
  /// suspension or an event are also separated by name.
  var namedWaits: [NamedWait] {
    struct Key: Hashable {
      let cause: ProcedureTimeline.WaitCause
      let name: String
    }
    var totals: [Key: NamedWait] = [:]
    var order: [Key] = []
    for place in entries.indices {
      for wait in entries[place].waits {
        let name =
          switch wait.cause {
          case .dependency, .barrier, .group, .worker, .lingering: ""
          case .delay where wait.blocker == nil: ""
          default: subject(of: wait, of: entries[place]).text ?? ""
          }
        let key = Key(cause: wait.cause, name: name)
        if totals[key] == nil {
          order.append(key)
          totals[key] = NamedWait(cause: wait.cause, name: name)
        }
        totals[key]?.sum += wait.nanoseconds
        totals[key]?.count += 1
        if wait.nanoseconds > totals[key]?.longestTime ?? 0 {
          totals[key]?.longest = place
          totals[key]?.longestTime = wait.nanoseconds
        }
      }
    }
    return order.enumerated().compactMap { offset, key in totals[key].map { (offset, $0) } }
      .sorted { ($1.1.sum, $0.0) < ($0.1.sum, $1.0) }.map(\.1)
  }

  private func longestWaitLines(_ least: Least) -> String {
    let waits = longestWaits(5).filter { isWorthShowing($0.wait, of: $0.entry, least) }
    guard !waits.isEmpty else { return "" }
    return
      (["Longest waits"]
      + waits.map { entry, wait in
        "  \(Self.padded(NumberText.time(wait.nanoseconds))) \(entry.name.shown): "
          + "\(wait.cause.label)\(text(of: wait, of: entry).dropFirst(NumberText.time(wait.nanoseconds).count))"
          .oneLine
      }).joined(separator: "\n")
  }

  private var slowestLines: String {
    let slowest = slowest(5)
    guard !slowest.isEmpty else { return "" }
    return
      (["Slowest"]
      + slowest.map {
        "  \(Self.padded(NumberText.time($0.run(until: end)))) \($0.name.shown)\($0.runText)"
          + ($0.outcomeText == "succeeded" ? "" : "  (\($0.outcomeText))")
      }).joined(separator: "\n")
  }

  /// The lines about names that several procedures have.
  private var nameLines: String {
    let names = byName.filter { $0.count > 1 }.prefix(8)
    guard !names.isEmpty else { return "" }
    return
      (["By name"]
      + names.map { runs in
        "  \(Self.padded(NumberText.time(runs.sum.nanoseconds))) \(runs.name.shown), \(runs.count) procedures; "
          + "half within \(NumberText.time(runs.median.nanoseconds)), 99 % within "
          + NumberText.time(runs.p99.nanoseconds)
          + (runs.failedCount == 0 ? "" : "; \(runs.failedCount) failed")
      }).joined(separator: "\n")
  }

  private static func padded(_ text: String) -> String {
    String(repeating: " ", count: max(0, 9 - text.count)) + text
  }
}

extension Unicode.Scalar {
  /// Whether it breaks the line, controls the terminal, or changes the direction of the text.
  fileprivate var steersText: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: properties.isBidiControl
    }
  }

  fileprivate var isInvisible: Bool {
    steersText || properties.isWhitespace || properties.isDefaultIgnorableCodePoint
  }
}

extension String {
  /// Replaces characters that break the line, control the terminal, or change the direction of the
  /// text.
  var oneLine: String {
    guard unicodeScalars.contains(where: \.steersText) else { return self }
    var line = String.UnicodeScalarView()
    for scalar in unicodeScalars { line.append(scalar.steersText ? " " : scalar) }
    return String(line)
  }

  /// A name for people: one line, and cut to 100 characters. O(1) for any length.
  var shown: String {
    let scalars = unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: 101, limitedBy: scalars.endIndex),
      end < scalars.endIndex
    else { return oneLine }
    return String(scalars.prefix(66)).oneLine + "…" + String(scalars.suffix(33)).oneLine
  }

  /// Whether it has no visible character.
  var isBlank: Bool { unicodeScalars.allSatisfy(\.isInvisible) }
}
