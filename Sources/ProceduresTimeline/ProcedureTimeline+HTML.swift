extension ProcedureTimeline.Snapshot {
  /// Returns one page that shows the whole timeline, and loads nothing: open it in a browser,
  /// attach it to a report.
  ///
  /// It shows lanes, or procedures with their waits, over time, to zoom, pan and search; the times,
  /// waits, errors and dependencies of each procedure; and the critical path, the longest waits and
  /// all procedures as tables, for keyboard and screen reader. It is light or dark like the system.
  /// Names and errors are inserted as text.
  ///
  /// - Parameter title: the title of the page.
  public func html(title: String = "Timeline") -> String {
    var data = PageData(self, title: title)
    return TimelinePage.beforeTitle + title.escapedForHTML + TimelinePage.beforeData + data.text()
      + TimelinePage.afterData + "\n"
  }
}

/// The data for the page's script: an array for each procedure, with names by number.
private struct PageData {
  private let snapshot: ProcedureTimeline.Snapshot
  private let title: String
  private var json = JSONWriter()
  private var names: [String] = []
  private var numbers: [String: Int] = [:]

  init(_ snapshot: ProcedureTimeline.Snapshot, title: String) {
    self.snapshot = snapshot
    self.title = title
  }

  mutating func text() -> String {
    json.raw("{")
    json.member("title", title)
    json.raw("\"end\":\(snapshot.end - snapshot.start),\"dropped\":\(snapshot.droppedCount),")
    json.raw("\"causes\":")
    strings(ProcedureTimeline.WaitCause.allCases.map(\.rawValue))
    json.raw(",\"labels\":")
    strings(ProcedureTimeline.WaitCause.allCases.map(\.label))
    json.raw(",\"roots\":")
    strings(snapshot.rootNames)
    json.raw(",")
    writePath()
    json.raw(",\"entries\":[")
    for (index, entry) in snapshot.entries.enumerated() {
      json.raw(index == 0 ? "\n" : ",\n")
      write(entry)
    }
    json.raw("],\"names\":")
    strings(names)
    json.raw("}")
    return json.text
  }

  /// Writes the verdict, the shares, and the steps, each with the path's segments in which it did
  /// not run: before it, and after it while its groups finished.
  private mutating func writePath() {
    let segments = snapshot.pathSegments
    let shares = snapshot.shares(of: segments)
    json.member("verdict", snapshot.verdict(on: shares))
    json.raw("\"shares\":[")
    for (index, share) in shares.filter({ $0.fraction >= 0.005 }).prefix(30).enumerated() {
      json.raw(index == 0 ? "[" : ",[")
      json.string(share.label)
      json.raw(",\(cause(of: share.kind)),\(share.total.nanoseconds),\(share.longest),")
      json.raw("\(share.longestDuration.nanoseconds)]")
    }
    json.raw("],\"path\":[")
    let steps = snapshot.criticalPath
    let gaps = segments.filter { segment in
      (!segment.isRunning || snapshot.entries[segment.place].id != steps[segment.step].id)
        && snapshot.isWorthShowing(segment.length)
    }
    let bySteps = Dictionary(grouping: gaps, by: \.step)
    for (index, step) in steps.enumerated() {
      json.raw("\(index == 0 ? "" : ",")[\(step.id),\"\(step.link.rawValue)\"")
      for gap in bySteps[index] ?? [] {
        json.raw(",[\(gap.isRunning ? 1 : 0),\(cause(of: gap.kind)),\(gap.from - snapshot.start),")
        json.raw("\(gap.length),\(snapshot.entries[gap.place].id),")
        json.string(snapshot.text(of: gap))
        json.raw("]")
      }
      json.raw("]")
    }
    json.raw("]")
  }

  /// Returns the number of the cause; -1 for work, -2 for the time before the enqueue.
  private func cause(of kind: ProcedureTimeline.PathShare.Kind) -> Int {
    switch kind {
    case .work: -1
    case .notEnqueued: -2
    case .wait(let cause): ProcedureTimeline.WaitCause.allCases.firstIndex(of: cause) ?? 0
    }
  }

  private mutating func strings(_ strings: [String]) {
    json.raw("[")
    for (index, string) in strings.enumerated() {
      if index > 0 { json.raw(",") }
      json.string(string)
    }
    json.raw("]")
  }

  private mutating func number(_ name: String) -> Int {
    if let number = numbers[name] { return number }
    numbers[name] = names.count
    names.append(name)
    return names.count - 1
  }

  private func time(_ nanoseconds: Int64?) -> String {
    nanoseconds.map { String($0 - snapshot.start) } ?? "-1"
  }

  private mutating func write(_ entry: ProcedureTimeline.Entry) {
    let times = entry.times
    let outcome =
      switch entry.outcome {
      case .succeeded: 0
      case .failed: 1
      case .cancelled: 2
      case nil: times.started == nil ? 4 : 3
      }
    let instants = [
      times.enqueued, times.ready, times.started, times.executing, times.finished, times.cancelled,
    ]
    json.raw("[\(entry.id),\(entry.parent ?? 0),\(number(entry.name)),\(number(entry.type)),")
    json.raw("\(entry.isGroup ? 1 : 0),\(entry.root),\(entry.lane ?? -1),")
    json.raw(instants.map(time).joined(separator: ",") + ",\(outcome),[")
    json.raw(entry.dependencies.map(String.init).joined(separator: ",") + "],[")
    // Waits after the start are drawn at their places, so they are written one by one.
    let waits =
      entry.waits.filter { !$0.cause.isAfterStart } + entry.stretches.filter(\.cause.isAfterStart)
    for (index, wait) in waits.enumerated() {
      let cause = ProcedureTimeline.WaitCause.allCases.firstIndex(of: wait.cause) ?? 0
      let blocker = wait.blocker.map { number($0) } ?? -1
      let category = wait.category.map { number("‘\($0)’\(wait.limitText)") } ?? -1
      json.raw(index == 0 ? "[" : ",[")
      let third =
        wait.cause.isAfterStart
        ? wait.from - snapshot.start
        : Int64(wait.blockerID ?? (wait.cause == .slot ? wait.limit : nil) ?? 0)
      json.raw("\(cause),\(wait.nanoseconds),\(third),")
      json.raw("\(blocker),\(category)")
      if let cause = wait.groupCause.flatMap(ProcedureTimeline.WaitCause.allCases.firstIndex(of:)) {
        json.raw(",\(cause)")
      }
      json.raw("]")
    }
    json.raw("]")
    if !entry.errors.isEmpty || entry.cancelReason != nil {
      json.raw(",")
      strings(entry.errors.map { "\($0)" })
      json.raw(",")
      json.string(entry.reasonText)
    }
    json.raw("]")
  }
}

extension String {
  /// Escapes it as text of an HTML page.
  fileprivate var escapedForHTML: String {
    var escaped = ""
    for character in unicodeScalars {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
