internal import ProcedurePrimitives

/// Why something was cancelled. The first reason stays.
///
/// It is meant for logs and messages. Whether work should stop is `CancellationToken.isCancelled`.
public enum CancellationReason: Sendable {
  /// A caller asked for it: `CancellationTokenSource.cancel()`.
  case requested
  /// A deadline or timeout passed.
  case deadlineExceeded
  /// The surrounding Swift task was cancelled.
  case taskCancelled
  /// This process got the signal of this number: see `CancellationToken.signals` of
  /// `ProceduresProcess`.
  case signal(Int32)
  /// Something it depends on failed with this error.
  case failure(any Error)
}

extension CancellationReason: CustomStringConvertible {
  /// The reason as a few words, for a log line.
  public var description: String {
    switch self {
    case .requested: "requested"
    case .deadlineExceeded: "deadline exceeded"
    case .taskCancelled: "task cancelled"
    case .signal(let number): "signal \(number)"
    case .failure(let error): "failure: \(error)"
    }
  }
}

extension CancellationReason: Equatable {
  /// Whether both are the same reason, with the same signal, or with equal errors.
  ///
  /// Two errors are equal if they are of the same type and `==` says so. If the type has no `==`,
  /// objects are equal if they are identical, and values if their descriptions are equal.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.requested, .requested), (.deadlineExceeded, .deadlineExceeded),
      (.taskCancelled, .taskCancelled):
      true
    case (.signal(let left), .signal(let right)): left == right
    case (.failure(let left), .failure(let right)): areEqual(left, right)
    case (.requested, _), (.deadlineExceeded, _), (.taskCancelled, _), (.signal, _), (.failure, _):
      false
    }
  }
}
