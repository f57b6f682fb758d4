/// The answer of a condition about a procedure.
public enum ConditionResult: Sendable {
  /// It may run, as far as this condition is concerned.
  case satisfied
  /// It should not run, and that is no failure: it is cancelled without errors.
  case ignored
  /// It cannot run: it is cancelled with the error.
  case failed(any Error)
}

extension ConditionResult: Equatable {
  /// Whether both say the same, with equal errors: as of a `ProcedureOutcome`.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.satisfied, .satisfied), (.ignored, .ignored): true
    case (.failed(let left), .failed(let right)):
      ProcedureOutcome.failed([left]) == ProcedureOutcome.failed([right])
    case (.satisfied, _), (.ignored, _), (.failed, _): false
    }
  }
}

/// How a condition answers: at once, or later.
public enum ConditionEvaluation: Sendable {
  /// At once. Costs no task.
  case answered(ConditionResult)
  /// When this has returned: run as a task on the queue of the procedure.
  case asynchronous(@Sendable () async throws -> ConditionResult)

  /// The answer, when there is one.
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

  /// Goes on with the answer; at once if it is there.
  func flatMap(
    _ next: @escaping @Sendable (ConditionResult) -> ConditionEvaluation
  ) -> ConditionEvaluation {
    switch self {
    case .answered(let result): next(result)
    case .asynchronous: .asynchronous { await next(self.result).result }
    }
  }
}
