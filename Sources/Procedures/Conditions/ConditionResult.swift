/// The answer of a condition about a procedure.
public enum ConditionResult: Sendable {
  /// The procedure may run, as far as this condition is concerned.
  case satisfied
  /// The procedure should not run, which is no failure: it is cancelled without errors.
  case ignored
  /// The procedure cannot run: it is cancelled with the error.
  case failed(any Error)
}

extension ConditionResult: Equatable {
  /// Whether both are the same case. Errors are compared like those of a `ProcedureOutcome`.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.satisfied, .satisfied), (.ignored, .ignored): true
    case (.failed(let left), .failed(let right)):
      ProcedureOutcome.failed([left]) == ProcedureOutcome.failed([right])
    case (.satisfied, _), (.ignored, _), (.failed, _): false
    }
  }
}

/// The answer of a condition, now or later.
public enum ConditionEvaluation: Sendable {
  /// The condition has answered, and needs no task.
  case answered(ConditionResult)
  /// The closure returns the answer. It runs as a task on the queue of the procedure.
  case asynchronous(@Sendable () async throws -> ConditionResult)

  /// Waits for the answer.
  public var result: ConditionResult {
    get async {
      switch self {
      case .answered(let result):
        return result
      case .asynchronous(let body):
        do {
          return try await body()
        } catch {
          return .failed(error)
        }
      }
    }
  }

  /// Passes the answer to `next`; immediately if it is known.
  func flatMap(
    _ next: @escaping @Sendable (ConditionResult) -> ConditionEvaluation
  ) -> ConditionEvaluation {
    switch self {
    case .answered(let result): next(result)
    case .asynchronous: .asynchronous { await next(self.result).result }
    }
  }
}
