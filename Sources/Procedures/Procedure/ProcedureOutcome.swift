/// How a procedure ended.
public enum ProcedureOutcome: Sendable {
  /// It finished without errors.
  case succeeded
  /// It was not cancelled, and finished with these errors (at least one).
  case failed([any Error])
  /// It was cancelled. The errors are those of the cancel, then those of the finish; maybe none.
  case cancelled([any Error])

  /// The errors it ended with, whichever way.
  public var errors: [any Error] {
    switch self {
    case .succeeded: []
    case .failed(let errors), .cancelled(let errors): errors
    }
  }
}

extension ProcedureOutcome: CustomStringConvertible {
  /// For example `failed: the disk is full; the network is down`.
  public var description: String {
    switch self {
    case .succeeded: "succeeded"
    case .failed(let errors): "failed: " + errors.sentence
    case .cancelled(let errors) where errors.isEmpty: "cancelled"
    case .cancelled(let errors): "cancelled: " + errors.sentence
    }
  }
}

extension [any Error] {
  /// The errors on one line.
  var sentence: String { map { "\($0)" }.joined(separator: "; ") }
}
