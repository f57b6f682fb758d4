extension Board {
  /// Returns one line for each running step, and a progress bar; they fit into the terminal.
  func liveLines(
    at now: ContinuousClock.Instant, width: Int, height: Int, style: Style
  ) -> [String] {
    // The cursor has a line of its own, and one earlier line stays visible.
    let room = max(0, height - 3)
    let shown = running.count > room ? Array(running.prefix(max(0, room - 1))) : running
    let names = shown.map(\.visible)
    let widest = names.map(\.columns).reduce(20, max) + 10
    // A frame and a space stand before the name, ten columns for the time behind it.
    let nameWidth = min(width - 13, widest)
    var lines: [String] = []
    for (name, text) in zip(shown, names) {
      lines.append(line(for: state(of: name), text, at: now, nameWidth: nameWidth, style: style))
    }
    if shown.count < running.count, room > 0 {
      let more = "  … and \(running.count - shown.count) more".cut(to: width - 1)
      lines.append(style.faint(more))
    }
    if height > 1 { lines.append(summaryLine(at: now, width: width, style: style)) }
    return lines
  }

  private func line(
    for state: State, _ name: String, at now: ContinuousClock.Instant, nameWidth: Int,
    style: Style
  ) -> String {
    let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
    let frame = frames[Int((now - start) / .milliseconds(100)) % frames.count]
    let (text, since, isStopping) =
      switch state {
      case .running(let since): (name, since, false)
      case .stopping(let since): ("\(name), stopping", since, true)
      case .waiting, .ended: ("", now, false)
      }
    // A terminal that is too narrow for a name and a time shows the name alone.
    guard nameWidth >= 4 else { return text.cut(to: max(1, nameWidth + 12)) }
    let cell = text.cut(to: nameWidth).rightPadded(to: nameWidth)
    let time = (now - since).text.leftPadded(to: 10)
    return isStopping
      ? "\(style.yellow(frame)) \(style.yellow(cell))\(time)"
      : "\(style.cyan(frame)) \(cell)\(time)"
  }

  private func summaryLine(
    at now: ContinuousClock.Instant, width: Int, style: Style
  ) -> String {
    let counts = " \(endedCount)/\(count)"
    let text = "\(counts) steps, \(running.count) running, \((now - start).text)"
    if text.columns >= width { return String(counts.dropFirst()).cut(to: max(1, width - 1)) }
    let fraction = Double(endedCount) / Double(max(count, 1))
    return Self.bar(fraction, width: min(40, width - text.columns - 1), style: style) + text
  }

  static func bar(_ fraction: Double, width: Int, style: Style) -> String {
    guard width >= 4 else { return "" }
    let filled = Int(Double(width) * min(max(fraction, 0), 1))
    return style.green(String(repeating: "█", count: filled))
      + style.faint(String(repeating: "░", count: width - filled))
  }
}
