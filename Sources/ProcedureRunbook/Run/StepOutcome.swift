/// The outcome of a step, as the table shows it.
enum StepOutcome: Sendable, Equatable {
  case succeeded
  /// It did not run because of a condition, for this reason. The steps after it go on.
  case notNeeded(String?)
  case failed(String)
  /// What it ran had this time, and took longer.
  case timedOut(Duration, of: Limited = .attempt)
  /// It was stopped while it ran.
  case cancelled
  /// It was stopped before it ran.
  case notRun
  /// It did not run, because a step before it did not succeed.
  case skipped(after: String)

  /// What a time limit holds for.
  enum Limited: Sendable, Equatable {
    case attempt
    case check(StepCheck.Key)
    /// The whole run, with `--timeout`.
    case run
  }

  static let upToDate = StepOutcome.notNeeded("up to date")

  var text: String { reason.map { "\(word): \($0)" } ?? word }

  /// The reason, unless the word already says it.
  var reason: String? {
    switch self {
    case .failed(let reason): reason
    case .notNeeded(let reason): reason
    case .timedOut(let limit, of: .attempt): "more than \(limit.text)"
    case .timedOut(let limit, of: .check(let key)):
      "'\(key.rawValue)' took more than \(limit.text)"
    case .timedOut(let limit, of: .run):
      "the \(limit.text) of the whole run were over (--timeout)"
    case .skipped(let name): "'\(name.visible)' did not succeed"
    case .succeeded, .cancelled, .notRun: nil
    }
  }

  /// The word that counts it in the last line.
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

  /// The words in the order in which they are counted.
  static let words = [
    "succeeded", "not needed", "failed", "timed out", "cancelled", "skipped", "not run",
  ]

  var isFailure: Bool {
    switch self {
    case .failed, .timedOut: true
    case .succeeded, .notNeeded, .cancelled, .notRun, .skipped: false
    }
  }

  /// Whether the run may count as a success.
  var isSuccess: Bool {
    switch self {
    case .succeeded, .notNeeded: true
    case .failed, .timedOut, .cancelled, .notRun, .skipped: false
    }
  }

  /// The outcome with a reason that shows no secret. The name of a step shows none already.
  func hiding(_ secrets: Secrets) -> Self {
    switch self {
    case .failed(let reason): .failed(secrets.hiding(reason))
    case .notNeeded(let reason): .notNeeded(reason.map(secrets.hiding))
    case .succeeded, .timedOut, .cancelled, .notRun, .skipped: self
    }
  }
}
