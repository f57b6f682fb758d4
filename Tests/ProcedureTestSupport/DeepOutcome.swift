package import Procedures

/// An outcome as tests compare it: with everything behind its errors.
package enum DeepOutcome: Equatable, CustomStringConvertible {
  case succeeded
  case failed([DeepError])
  case cancelled([DeepError])

  package var description: String {
    switch self {
    case .succeeded: "succeeded"
    case .failed(let errors): "failed: \(errors)"
    case .cancelled(let errors): "cancelled: \(errors)"
    }
  }
}

extension ProcedureOutcome {
  /// The outcome with everything behind its errors, to be compared.
  package var deep: DeepOutcome {
    switch self {
    case .succeeded: .succeeded
    case .failed(let errors): .failed(errors.deep)
    case .cancelled(let errors): .cancelled(errors.deep)
    }
  }
}
