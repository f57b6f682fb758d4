/// A condition that is satisfied if its base is ignored or fails, and fails if its base is
/// satisfied.
///
/// ```swift
/// download.add(condition: NotCondition(IsCached()))
/// ```
///
/// You can also write `!condition`. It fails with `ProcedureError.Code.conditionFailed`; to skip
/// the procedure without a failure write `IgnoredCondition(!condition)`.
public struct NotCondition<Base: Condition>: ConditionOfOthers {
  let base: Base
  var members: [any Condition] { [base] }

  /// Makes the opposite of `base`.
  public init(_ base: Base) { self.base = base }

  /// For example `Not<IsCached>`.
  public var name: String { "Not<\(base.name)>" }

  /// Answers at once if the base does.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation {
    base.begin(procedure).flatMap { result in
      switch result {
      case .satisfied:
        .answered(.failed(ProcedureError(.conditionFailed, of: procedure.name, .condition(name))))
      case .ignored, .failed: .answered(.satisfied)
      }
    }
  }
}

/// A condition that is ignored if its base fails: the procedure is cancelled without errors.
public struct IgnoredCondition<Base: Condition>: ConditionOfOthers {
  let base: Base
  var members: [any Condition] { [base] }
  var isExclusionOnly: Bool { base.asksForCategoriesOnly }

  /// Makes a condition from `base`, whose failure counts as ignored.
  public init(_ base: Base) { self.base = base }

  /// For example `Ignored<IsOnline>`.
  public var name: String { "Ignored<\(base.name)>" }

  /// Answers at once if the base does.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation {
    base.begin(procedure).flatMap { result in
      if case .failed = result { .answered(.ignored) } else { .answered(result) }
    }
  }
}

/// A condition without the prerequisites of its base.
///
/// ```swift
/// // Says whether access was granted, and does not ask the user for it.
/// record.add(condition: SilentCondition(HasAccess()))
/// ```
public struct SilentCondition<Base: Condition>: ConditionOfOthers {
  let base: Base
  var members: [any Condition] { [base] }
  var isExclusionOnly: Bool { base.asksForCategoriesOnly }

  /// Makes a condition from `base` without its prerequisites.
  public init(_ base: Base) { self.base = base }

  /// For example `Silent<HasAccess>`.
  public var name: String { "Silent<\(base.name)>" }

  /// Returns no procedures.
  public func prerequisites(of procedure: Procedure) -> [Procedure] { [] }

  /// Evaluates the base.
  public func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    try await base.evaluate(procedure)
  }

  /// Begins the evaluation of the base.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation { base.begin(procedure) }
}

/// A condition with prerequisites: procedures that run before its base is evaluated.
public struct WithPrerequisites<Base: Condition>: ConditionOfOthers {
  let base: Base
  var members: [any Condition] { [base] }
  private let make: @Sendable (Procedure) -> [Procedure]

  /// Makes a condition from `base` and a closure that makes the prerequisites.
  public init(
    _ base: Base, _ make: @escaping @Sendable (_ procedure: Procedure) -> [Procedure]
  ) {
    self.base = base
    self.make = make
  }

  /// The name of the base.
  public var name: String { base.name }

  /// The prerequisites of the base, followed by the made ones.
  public func prerequisites(of procedure: Procedure) -> [Procedure] {
    base.prerequisites(of: procedure) + make(procedure)
  }

  /// Evaluates the base.
  public func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    try await base.evaluate(procedure)
  }

  /// Begins the evaluation of the base.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation { base.begin(procedure) }
}

extension Condition {
  /// This condition, with prerequisites: procedures that run before it is evaluated.
  ///
  /// ```swift
  /// let hasAccess = BlockCondition { microphone.isAllowed }
  ///   .withPrerequisites { _ in [AskForMicrophone()] }
  /// ```
  ///
  /// - Parameter make: called once for each procedure that the condition is added to.
  public func withPrerequisites(
    _ make: @escaping @Sendable (_ procedure: Procedure) -> [Procedure]
  ) -> WithPrerequisites<Self> {
    WithPrerequisites(self, make)
  }
}
