public import Cancellation
internal import Procedures

/// So that a test compares reasons, and a failure shows them.
///
/// Not public outside of the tests: the reason is for logs and messages.
extension CancellationReason: Equatable {
  /// Whether both are the same, with equal errors as those of an outcome are compared.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.requested, .requested), (.deadlineExceeded, .deadlineExceeded),
      (.taskCancelled, .taskCancelled):
      true
    case (.signal(let left), .signal(let right)):
      left == right
    case (.failure(let left), .failure(let right)):
      ProcedureOutcome.failed([left]) == .failed([right])
    default: false
    }
  }
}
