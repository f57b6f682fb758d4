/// Colours for a terminal, or none.
struct Style {
  let isColoured: Bool

  func colour(_ outcome: StepOutcome, _ text: String) -> String {
    switch outcome {
    case .succeeded: green(text)
    case .failed, .timedOut: red(text)
    case .cancelled: yellow(text)
    case .notRun, .notNeeded, .skipped: faint(text)
    }
  }

  func green(_ text: String) -> String { wrap("32", text) }
  func red(_ text: String) -> String { wrap("31", text) }
  func yellow(_ text: String) -> String { wrap("33", text) }
  func cyan(_ text: String) -> String { wrap("36", text) }
  func faint(_ text: String) -> String { wrap("2", text) }
  func bold(_ text: String) -> String { wrap("1", text) }

  private func wrap(_ code: String, _ text: String) -> String {
    isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
