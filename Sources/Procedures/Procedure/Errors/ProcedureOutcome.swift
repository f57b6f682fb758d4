internal import ProcedurePrimitives

/// How a procedure ended.
public enum ProcedureOutcome: Sendable {
  /// It finished without errors.
  case succeeded
  /// It was not cancelled, and finished with these errors (at least one).
  case failed([any Error])
  /// It was cancelled. The errors of the cancel come first, then the errors of the finish; there
  /// may be none.
  case cancelled([any Error])

  /// The errors that it ended with, in each case.
  public var errors: [any Error] {
    switch self {
    case .succeeded: []
    case .failed(let errors), .cancelled(let errors): errors
    }
  }

  /// Whether it was neither cancelled nor failed.
  public var isSuccess: Bool { if case .succeeded = self { true } else { false } }

  /// Whether it failed. A cancelled procedure has not failed, even if it has errors.
  public var isFailure: Bool { if case .failed = self { true } else { false } }

  /// Whether it was cancelled.
  public var isCancelled: Bool { if case .cancelled = self { true } else { false } }

  /// Returns if it succeeded.
  ///
  /// ```swift
  /// try await queue.run(upload).get()
  /// ```
  ///
  /// - Throws: the first error otherwise, and `CancellationError` if it was cancelled without one.
  ///   If that error only reports the end of a dependency, its cause is thrown instead: `catch let
  ///   error as HTTPError` gets the error of the procedure where it began.
  public func get() throws {
    switch self {
    case .succeeded: return
    case .failed(let errors): throw errors[0].cause
    case .cancelled(let errors): throw errors.first?.cause ?? CancellationError()
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

extension ProcedureOutcome: Equatable {
  /// Whether both ended in the same way, with equal errors in the same order.
  ///
  /// Two errors are equal if they are of the same type and `==` says so. If the type has no `==`,
  /// objects are equal if they are identical, and values if their descriptions are equal.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.succeeded, .succeeded): true
    case (.failed(let left), .failed(let right)), (.cancelled(let left), .cancelled(let right)):
      left.count == right.count && zip(left, right).allSatisfy { areEqual($0, $1) }
    case (.succeeded, _), (.failed, _), (.cancelled, _): false
    }
  }
}
