/// How a step ended, as the table shows it.
enum StepOutcome: Sendable, Equatable {
  case succeeded
  /// Not run, because a condition says so, and why. The steps after it go on.
  case notNeeded(String?)
  case failed(String)
  /// After its own time, or after that of the whole run.
  case timedOut(Duration, isOfRun: Bool = false)
  /// Stopped while it ran.
  case cancelled
  /// Stopped before it ran.
  case notRun
  /// Not run, because a step that it is after did not succeed.
  case skipped(after: String)

  static let upToDate = StepOutcome.notNeeded("up to date")

  var text: String { reason.map { "\(word): \($0)" } ?? word }

  /// Why, where that is not in the word.
  var reason: String? {
    switch self {
    case .failed(let reason): reason
    case .notNeeded(let reason): reason
    case .timedOut(let limit, isOfRun: false): "more than \(limit.text)"
    case .timedOut(let limit, isOfRun: true):
      "the \(limit.text) of the whole run were over (--timeout)"
    case .skipped(let name): "'\(name.visible)' did not succeed"
    case .succeeded, .cancelled, .notRun: nil
    }
  }

  /// The word it is counted under in the last line.
  var word: String {
    switch self {
    case .succeeded: "succeeded"
    case .notNeeded: "not needed"
    case .failed: "failed"
    case .timedOut: "timed out"
    case .cancelled: "cancelled"
    case .notRun: "not run"
    case .skipped: "skipped"
    }
  }

  /// In the order in which they are counted.
  static let words = [
    "succeeded", "not needed", "failed", "timed out", "cancelled", "skipped", "not run",
  ]

  var isFailure: Bool {
    switch self {
    case .failed, .timedOut: true
    case .succeeded, .notNeeded, .cancelled, .notRun, .skipped: false
    }
  }

  /// Whether the run as a whole may count as a success.
  var isSuccess: Bool {
    switch self {
    case .succeeded, .notNeeded: true
    case .failed, .timedOut, .cancelled, .notRun, .skipped: false
    }
  }
}
