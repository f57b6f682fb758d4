/// Satisfied if the other is not, ignored or failed; fails if the other is satisfied.
///
/// ```swift
/// download.add(condition: NotCondition(IsCached()))
/// ```
///
/// Also written `!condition`. It fails with `ProcedureError.Code.conditionFailed`; for "do not run, and
/// that is no failure" write `IgnoredCondition(!condition)`.
public struct NotCondition<Base: Condition>: ConditionOfOthers {
  let base: Base
  var members: [any Condition] { [base] }

  /// The opposite of `base`.
  public init(_ base: Base) { self.base = base }

  /// For example `Not<IsCached>`.
  public var name: String { "Not<\(base.name)>" }

  /// Answers at once if the other does.
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

/// Ignored where the other fails: the procedure is cancelled without errors.
public struct IgnoredCondition<Base: Condition>: ConditionOfOthers {
  let base: Base
  var members: [any Condition] { [base] }
  var isExclusionOnly: Bool { base.asksForCategoriesOnly }

  /// `base`, whose failure counts as ignored.
  public init(_ base: Base) { self.base = base }

  /// For example `Ignored<IsOnline>`.
  public var name: String { "Ignored<\(base.name)>" }

  /// Answers at once if the other does.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation {
    base.begin(procedure).flatMap { result in
      if case .failed = result { .answered(.ignored) } else { .answered(result) }
    }
  }
}

/// The other condition without its prerequisites: it takes things as they are.
///
/// ```swift
/// // Says whether access was granted, and does not ask the user for it.
/// record.add(condition: SilentCondition(HasAccess()))
/// ```
public struct SilentCondition<Base: Condition>: ConditionOfOthers {
  let base: Base
  var members: [any Condition] { [base] }
  var isExclusionOnly: Bool { base.asksForCategoriesOnly }

  /// `base` without its prerequisites.
  public init(_ base: Base) { self.base = base }

  /// For example `Silent<HasAccess>`.
  public var name: String { "Silent<\(base.name)>" }

  /// None.
  public func prerequisites(of procedure: Procedure) -> [Procedure] { [] }

  /// Answers as the other condition does.
  public func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    try await base.evaluate(procedure)
  }

  /// Begins as the other condition does.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation { base.begin(procedure) }
}

/// A condition with prerequisites: procedures that run before it is evaluated.
public struct WithPrerequisites<Base: Condition>: ConditionOfOthers {
  let base: Base
  var members: [any Condition] { [base] }
  private let make: @Sendable (Procedure) -> [Procedure]

  /// `base`, after procedures that `make` makes for each procedure it is added to.
  public init(
    _ base: Base, _ make: @escaping @Sendable (_ procedure: Procedure) -> [Procedure]
  ) {
    self.base = base
    self.make = make
  }

  /// The name of the other condition.
  public var name: String { base.name }

  /// The prerequisites of the other condition, and those made.
  public func prerequisites(of procedure: Procedure) -> [Procedure] {
    base.prerequisites(of: procedure) + make(procedure)
  }

  /// Answers as the other condition does.
  public func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    try await base.evaluate(procedure)
  }

  /// Begins as the other condition does.
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
