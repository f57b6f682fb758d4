/// Further properties of the framework's conditions, for `asksForCategoriesOnly` and
/// `isMainActorBound`.
protocol KnownCondition: Condition {
  /// Whether each condition of the type asks for categories only: then the properties below need
  /// not be read.
  static var asksForCategoriesOnly: Bool { get }
  var isExclusionOnly: Bool { get }
  var runsOnMainActor: Bool { get }
}

extension KnownCondition {
  static var asksForCategoriesOnly: Bool { false }
  var isExclusionOnly: Bool { false }
  var runsOnMainActor: Bool { false }
}

extension Condition {
  /// Whether it is always satisfied at once, and has no prerequisites. The getter calls no user
  /// code.
  var asksForCategoriesOnly: Bool { (self as? any KnownCondition)?.isExclusionOnly ?? false }

  var isMainActorBound: Bool { (self as? any KnownCondition)?.runsOnMainActor ?? false }
}

/// A condition that only asks for places in a category, and is not evaluated.
///
/// A procedure with only such conditions becomes ready at once, without waiting for a worker to
/// evaluate them.
protocol ExclusionCondition: SynchronousCondition, KnownCondition {
  var limit: ExclusionLimit { get }
}

extension ExclusionCondition {
  static var asksForCategoriesOnly: Bool { true }
  var isExclusionOnly: Bool { true }

  /// The category.
  public var exclusions: [ExclusionCategory] { [limit.category] }

  /// The category with its limit.
  public var exclusionLimits: [ExclusionLimit] { [limit] }
}

/// A condition that consists of others. A procedure acquires the categories of all members, even of
/// unsatisfied ones.
protocol ConditionOfOthers: KnownCondition {
  var members: [any Condition] { get }
}

extension ConditionOfOthers {
  var runsOnMainActor: Bool { members.contains(where: \.isMainActorBound) }

  /// The categories of all members.
  public var exclusions: [ExclusionCategory] { members.flatMap(\.exclusions) }

  /// The limits of all members.
  public var exclusionLimits: [ExclusionLimit] { members.flatMap(\.exclusionLimits) }

  /// The prerequisites of all members, which run before the first of them is evaluated.
  public func prerequisites(of procedure: Procedure) -> [Procedure] {
    members.flatMap { $0.prerequisites(of: procedure) }
  }

  /// Awaits the answer of `begin`.
  public func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    await begin(procedure).result
  }

  /// Evaluates the members in order until an answer decides. It needs no task while the members
  /// answer at once.
  ///
  /// - Parameters:
  ///   - errors: the errors of the earlier members.
  ///   - decide: returns the decision that an answer makes, or nil to continue with the next
  ///     member. It may add to the errors.
  ///   - end: the answer if no member decides.
  func beginInOrder(
    _ procedure: Procedure, from first: Int = 0, after errors: [any Error] = [],
    _ decide: @escaping @Sendable (ConditionResult, inout [any Error]) -> ConditionResult?,
    end: @escaping @Sendable ([any Error]) -> ConditionResult
  ) -> ConditionEvaluation {
    var errors = errors
    for index in members.indices[first...] {
      switch members[index].begin(procedure) {
      case .answered(let result):
        if let decision = decide(result, &errors) { return .answered(decision) }
      case let evaluation:
        return evaluation.flatMap { [errors] result in
          var errors = errors
          if let decision = decide(result, &errors) { return .answered(decision) }
          return beginInOrder(procedure, from: index + 1, after: errors, decide, end: end)
        }
      }
    }
    return .answered(end(errors))
  }
}
