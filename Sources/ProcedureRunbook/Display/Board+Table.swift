extension Board {
  /// Step, outcome and duration of every step, and a line that sums them up.
  ///
  /// Names are cut when the table would else be wider than `width`, and reasons when that is not
  /// enough.
  ///
  /// - Parameter notes: lines about the whole run, shown before the last one.
  func table(
    at now: ContinuousClock.Instant, width: Int?, _ notes: [String] = [], style: Style
  ) -> [String] {
    let rows = names.map { name -> (name: String, outcome: StepOutcome, duration: String) in
      guard case .ended(let outcome, let duration) = state(of: name) else {
        return (name.visible, .notRun, "–")
      }
      return (name.visible, outcome, duration?.text ?? "–")
    }
    let durationWidth = rows.map(\.duration.columns).reduce(8, max)
    let outcomeRoom = width.map { max(9, $0 - 12 - durationWidth - 4) } ?? .max
    let outcomeWidth = min(outcomeRoom, rows.map(\.outcome.text.columns).reduce(7, max))
    let room = width.map { max(4, $0 - outcomeWidth - durationWidth - 4) } ?? .max
    let nameWidth = min(room, rows.map(\.name.columns).reduce(4, max))
    let head = [
      "Step".rightPadded(to: nameWidth), "Outcome".rightPadded(to: outcomeWidth),
      "Duration".leftPadded(to: durationWidth),
    ]
    let lines = rows.map { name, outcome, duration in
      let cells = [
        name.cut(to: nameWidth).rightPadded(to: nameWidth),
        style.colour(
          outcome, outcome.text.cut(to: outcomeWidth).rightPadded(to: outcomeWidth)),
        duration.leftPadded(to: durationWidth),
      ]
      return cells.joined(separator: "  ")
    }
    let notes = notes.map { note in width.map { note.cut(to: $0) } ?? note }
    return [style.bold(head.joined(separator: "  "))] + lines + [""] + notes
      + [summary(rows.map(\.outcome), now)]
  }

  private func summary(_ outcomes: [StepOutcome], _ now: ContinuousClock.Instant) -> String {
    var countsByWord: [String: Int] = [:]
    for outcome in outcomes { countsByWord[outcome.word, default: 0] += 1 }
    let counts = StepOutcome.words.compactMap { word in
      countsByWord[word].map { "\($0) \(word)" }
    }
    let steps = outcomes.count == 1 ? "1 step" : "\(outcomes.count) steps"
    return "\(steps) in \((now - start).text): \(counts.joined(separator: ", "))"
  }
}
