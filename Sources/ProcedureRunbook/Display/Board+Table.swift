extension Board {
  /// The step, outcome and duration of every failed step; empty if none failed.
  ///
  /// If the table is wider than `width`, names are cut first, and then reasons.
  func table(width: Int?, style: Style) -> [String] {
    let rows = names.compactMap {
      name -> (name: String, outcome: StepOutcome, text: String, duration: String)? in
      guard case .ended(let outcome, let duration) = state(of: name), outcome.isFailure else {
        return nil
      }
      let attempts = attempts[name].map { ", \($0) attempts" } ?? ""
      return (name.visible, outcome, outcome.text + attempts, duration?.text ?? "–")
    }
    guard !rows.isEmpty else { return [] }
    let durationWidth = rows.map(\.duration.columns).reduce(8, max)
    let outcomeRoom = width.map { max(9, $0 - 12 - durationWidth - 4) } ?? .max
    let outcomeWidth = min(outcomeRoom, rows.map(\.text.columns).reduce(7, max))
    let room = width.map { max(4, $0 - outcomeWidth - durationWidth - 4) } ?? .max
    let nameWidth = min(room, rows.map(\.name.columns).reduce(4, max))
    let head = [
      "Step".rightPadded(to: nameWidth), "Outcome".rightPadded(to: outcomeWidth),
      "Duration".leftPadded(to: durationWidth),
    ]
    let lines = rows.map { name, outcome, text, duration in
      let cells = [
        name.cut(to: nameWidth).rightPadded(to: nameWidth),
        style.colour(outcome, text.cut(to: outcomeWidth).rightPadded(to: outcomeWidth)),
        duration.leftPadded(to: durationWidth),
      ]
      return cells.joined(separator: "  ")
    }
    return [style.bold(head.joined(separator: "  "))] + lines
  }

  /// The number of steps for each outcome, and the duration so far.
  func summary(at now: ContinuousClock.Instant) -> String {
    var countsByWord: [String: Int] = [:]
    if upToDateCount > 0 { countsByWord[StepOutcome.upToDate.word] = upToDateCount }
    for name in names {
      guard case .ended(let outcome, _) = state(of: name) else {
        countsByWord[StepOutcome.notRun.word, default: 0] += 1
        continue
      }
      countsByWord[outcome.word, default: 0] += 1
    }
    let counts = StepOutcome.words.compactMap { word in
      countsByWord[word].map { "\($0) \(word)" }
    }
    let steps = count == 1 ? "1 step" : "\(count) steps"
    return "\(steps) in \((now - start).text): \(counts.joined(separator: ", "))"
  }
}
