/// What is known about every step, and how it looks: the live lines and the table.
///
/// A value that is told the time, so that it can be tested without any.
struct Board {
  enum State: Equatable {
    case waiting
    case running(since: ContinuousClock.Instant)
    case stopping(since: ContinuousClock.Instant)
    case ended(StepOutcome, Duration?)
  }

  private let names: [String]
  private let start: ContinuousClock.Instant
  private var states: [String: State] = [:]
  private var running: [String] = []
  private var endedCount = 0

  init(_ names: [String], start: ContinuousClock.Instant) {
    self.names = names
    self.start = start
  }

  mutating func started(_ name: String, at now: ContinuousClock.Instant) {
    states[name] = .running(since: now)
    running.append(name)
  }

  mutating func stopping(_ name: String) {
    if case .running(let since)? = states[name] { states[name] = .stopping(since: since) }
  }

  /// Returns how long the step ran, if it did.
  @discardableResult
  mutating func ended(
    _ name: String, _ outcome: StepOutcome, at now: ContinuousClock.Instant
  ) -> Duration? {
    var duration: Duration?
    switch states[name] {
    case .running(let since)?, .stopping(let since)?: duration = now - since
    default: break
    }
    states[name] = .ended(outcome, duration)
    running.removeAll { $0 == name }
    endedCount += 1
    return duration
  }

  func state(of name: String) -> State { states[name] ?? .waiting }

  var allSucceeded: Bool {
    names.allSatisfy { name in
      if case .ended(let outcome, _) = state(of: name) { outcome.isSuccess } else { false }
    }
  }

  // MARK: Looks

  /// One line for each running step, and a progress bar.
  ///
  /// - Parameter fraction: how much of the plan is done.
  func liveLines(
    at now: ContinuousClock.Instant, fraction: Double, width: Int, height: Int, style: Style
  ) -> [String] {
    let room = max(1, height - 3)
    let shown = running.count > room ? Array(running.prefix(room - 1)) : running
    let nameWidth = min(width - 13, shown.map(\.count).reduce(20, max) + 10)
    var lines = shown.map { line(for: $0, at: now, nameWidth: max(1, nameWidth), style: style) }
    if shown.count < running.count {
      lines.append(style.faint("  … and \(running.count - shown.count) more"))
    }
    let took = now - start
    let text = " \(endedCount)/\(names.count) steps, \(running.count) running, \(took.text)"
    let bar = Self.bar(fraction, width: min(40, width - text.count - 1), style: style)
    return lines + [bar + text]
  }

  private func line(
    for name: String, at now: ContinuousClock.Instant, nameWidth: Int, style: Style
  ) -> String {
    let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
    let frame = frames[Int((now - start) / .milliseconds(100)) % frames.count]
    switch state(of: name) {
    case .running(let since):
      let time = (now - since).text.leftPadded(to: 10)
      return "\(style.cyan(frame)) \(name.cut(to: nameWidth).rightPadded(to: nameWidth))\(time)"
    case .stopping(let since):
      let time = (now - since).text.leftPadded(to: 10)
      let text = "\(name), stopping".cut(to: nameWidth)
      return "\(style.yellow(frame)) \(style.yellow(text.rightPadded(to: nameWidth)))\(time)"
    case .waiting, .ended:
      return ""
    }
  }

  static func bar(_ fraction: Double, width: Int, style: Style) -> String {
    guard width >= 4 else { return "" }
    let filled = Int(Double(width) * min(max(fraction, 0), 1))
    return style.green(String(repeating: "█", count: filled))
      + style.faint(String(repeating: "░", count: width - filled))
  }

  /// Step, outcome and duration of every step, and a line that sums them up.
  ///
  /// Names are cut when the table would else be wider than `width`.
  func table(at now: ContinuousClock.Instant, width: Int?, style: Style) -> [String] {
    let rows = names.map { name -> (String, StepOutcome, String) in
      guard case .ended(let outcome, let duration) = state(of: name) else {
        return (name, .notRun, "–")
      }
      return (name, outcome, duration?.text ?? "–")
    }
    let outcomeWidth = rows.map(\.1.text.count).reduce(7, max)
    let durationWidth = rows.map(\.2.count).reduce(8, max)
    let room = width.map { max(12, $0 - outcomeWidth - durationWidth - 4) } ?? .max
    let nameWidth = min(room, rows.map(\.0.count).reduce(4, max))
    let head = [
      "Step".rightPadded(to: nameWidth), "Outcome".rightPadded(to: outcomeWidth),
      "Duration".leftPadded(to: durationWidth),
    ]
    let lines = rows.map { name, outcome, duration in
      let cells = [
        name.cut(to: nameWidth).rightPadded(to: nameWidth),
        style.colour(outcome, outcome.text.rightPadded(to: outcomeWidth)),
        duration.leftPadded(to: durationWidth),
      ]
      return cells.joined(separator: "  ")
    }
    return [style.bold(head.joined(separator: "  "))] + lines + ["", summary(rows.map(\.1), now)]
  }

  private func summary(_ outcomes: [StepOutcome], _ now: ContinuousClock.Instant) -> String {
    let words = [
      "succeeded", "not needed", "failed", "timed out", "cancelled", "skipped", "not run",
    ]
    let counts = words.compactMap { word -> String? in
      let count = outcomes.count { $0.word == word }
      return count == 0 ? nil : "\(count) \(word)"
    }
    let steps = outcomes.count == 1 ? "1 step" : "\(outcomes.count) steps"
    return "\(steps) in \((now - start).text): \(counts.joined(separator: ", "))"
  }
}
