internal import Procedures

/// An error as tests compare it: with everything behind it.
///
/// `==` of `ProcedureError` compares the code and the name only.
package struct DeepError: Equatable, CustomStringConvertible {
  package let error: any Error

  private init(_ error: any Error) { self.error = error }

  /// The error as it is.
  package static func error(_ error: any Error) -> Self { Self(error) }

  /// What a group reports of a child.
  package static func child(_ name: String, _ cause: any Error) -> Self {
    Self(ProcedureError(.child, procedure: name, underlyingErrors: [cause]))
  }

  package static func child(_ name: String, _ cause: Self) -> Self { .child(name, cause.error) }

  /// What a dependent ends with whose dependency had to succeed, and failed.
  package static func dependencyFailed(_ name: String, _ causes: any Error...) -> Self {
    Self(ProcedureError(.dependencyFailed, procedure: name, underlyingErrors: causes))
  }

  /// What a dependent ends with whose dependency was cancelled.
  package static func dependencyCancelled(_ name: String, _ causes: any Error...) -> Self {
    Self(ProcedureError(.dependencyCancelled, procedure: name, underlyingErrors: causes))
  }

  package static func == (left: Self, right: Self) -> Bool {
    guard let left = left.error as? ProcedureError, let right = right.error as? ProcedureError
    else {
      return ProcedureOutcome.failed([left.error]) == .failed([right.error])
    }
    return left == right && left.duration == right.duration && left.cycle == right.cycle
      && left.underlyingErrors.map(Self.init) == right.underlyingErrors.map(Self.init)
  }

  package var description: String { "\(error)" }
}

extension DeepError: Comparable {
  /// In the order of the texts: for errors that come in any order.
  package static func < (left: Self, right: Self) -> Bool {
    left.description < right.description
  }
}

extension [any Error] {
  /// The errors with everything behind them, to be compared.
  package var deep: [DeepError] { map { .error($0) } }
}
