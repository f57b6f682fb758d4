internal import Procedures

extension ProcedureTimeline.Snapshot {
  /// For a terminal: how long it took, slots in use over time, the critical path, waits by cause, and
  /// the slowest procedures. Some 30 lines, however many procedures there were.
  ///
  /// ```
  /// 4 procedures in 6 s, at most 2 at once, 1.33 on average
  ///
  /// Running, over time (each column 100 ms, highest 2)
  ///   ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄████████████████████▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
  /// …
  /// ```
  public var summary: String {
    guard !entries.isEmpty else { return "No procedures.\n" }
    return ([heading] + [useLines, pathLines, waitLines, slowestLines].filter { !$0.isEmpty })
      .joined(separator: "\n\n") + "\n"
  }

  private var heading: String {
    let count = entries.count { !$0.isGroup }
    let groups = entries.count - count
    var text = "\(count) procedure\(count == 1 ? "" : "s")"
    if groups > 0 { text += " in \(groups) group\(groups == 1 ? "" : "s")" }
    text += ", \(NumberText.time(end - start))"
    text += ", at most \(mostRunning) at once"
    text += ", \(NumberText.decimal(Int64(averageRunning * 100), per: 100, digits: 2)) on average"
    let failed = entries.count { if case .failed = $0.outcome { true } else { false } }
    let cancelled = entries.count { if case .cancelled = $0.outcome { true } else { false } }
    let unfinished = entries.count { $0.outcome == nil }
    if failed > 0 { text += "\n\(failed) failed" }
    if cancelled > 0 { text += "\n\(cancelled) cancelled" }
    if unfinished > 0 { text += "\n\(unfinished) not finished" }
    if droppedCount > 0 { text += "\n\(droppedCount) older ones were dropped" }
    return text
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

  /// How many ran on average in each of so many equal parts of the time.
  private func averages(_ count: Int) -> [Double] {
    let use = slotUse
    let width = Double(end - start) / Double(count)
    var sums = [Double](repeating: 0, count: count)
    for (index, step) in use.enumerated() {
      var from = Double(step.time.nanoseconds)
      let to = index + 1 < use.count ? Double(use[index + 1].time.nanoseconds) : Double(end - start)
      while from < to {
        let column = min(Int(from / width), count - 1)
        let until = column == count - 1 ? to : min(to, Double(column + 1) * width)
        guard until > from else { break }
        sums[column] += (until - from) * Double(step.running)
        from = until
      }
    }
    return sums.map { $0 / width }
  }

  // MARK: Lists

  private var pathLines: String {
    let path = criticalPath
    guard !path.isEmpty else { return "" }
    let shown = 12
    var lines = ["Critical path (\(path.count) step\(path.count == 1 ? "" : "s"))"]
    for (index, step) in path.enumerated() {
      // The longest steps of a long path count, but its order is what explains it.
      if path.count > shown, index >= shown / 2, index < path.count - shown / 2 {
        if index == shown / 2 { lines.append("  … \(path.count - shown) more") }
        continue
      }
      let entry = step.entry
      var line = "  \(Self.padded(NumberText.time(entry.run(until: end)))) \(entry.name.oneLine)"
      let waits = entry.waits.map { "\($0.cause.label) \($0.text.oneLine)" }
      if !waits.isEmpty { line += "  (waited: \(waits.joined(separator: "; ")))" }
      lines.append(line)
    }
    return lines.joined(separator: "\n")
  }

  private var waitLines: String {
    let waits = waits
    guard !waits.isEmpty else { return "" }
    return
      (["Waits, by cause (sum over all procedures)"]
      + waits.map { wait in
        "  \(Self.padded(NumberText.time(wait.total.nanoseconds))) \(wait.cause.label), of "
          + "\(wait.count); longest \(NumberText.time(wait.longestDuration.nanoseconds)): "
          + (entry(wait.longest)?.name ?? "").oneLine
      }).joined(separator: "\n")
  }

  private var slowestLines: String {
    let slowest = slowest(5)
    guard !slowest.isEmpty else { return "" }
    return
      (["Slowest"]
      + slowest.map {
        "  \(Self.padded(NumberText.time($0.run(until: end)))) \($0.name.oneLine)"
          + ($0.outcomeText == "succeeded" ? "" : "  (\($0.outcomeText))")
      }).joined(separator: "\n")
  }

  private static func padded(_ text: String) -> String {
    String(repeating: " ", count: max(0, 9 - text.count)) + text
  }
}

extension String {
  /// Without control characters, which would break the line, or steer the terminal.
  var oneLine: String {
    if !unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      return self
    }
    var line = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      line.append(scalar.properties.generalCategory == .control ? " " : scalar)
    }
    return String(line)
  }
}
