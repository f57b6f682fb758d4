/// Satisfied if all members are. It evaluates them in order until one is not satisfied, and gives
/// the answer of that one.
///
/// `AndCondition(a, b)`, also written `a && b`, is the same as adding `a` and then `b`. Without members it is
/// satisfied.
public struct AndCondition: Condition, MainActorBound {
  var runsOnMainActor: Bool { members.contains { $0.isMainActorBound } }
  let members: [any Condition]

  /// Makes a condition of several.
  public init(_ members: any Condition...) { self.members = members }

  /// Makes a condition of a sequence of them.
  public init(_ members: some Sequence<any Condition>) { self.members = Array(members) }

  /// Makes a condition of a list of them, of whatever types.
  public init(_ members: [any Condition]) { self.members = members }

  /// Makes a condition of a sequence of conditions of one type.
  public init<Members: Sequence>(_ members: Members) where Members.Element: Condition {
    self.members = members.map { $0 as any Condition }
  }

  /// For example `And(IsOnline, HasSpace)`.
  public var name: String { "And(" + members.map(\.name).joined(separator: ", ") + ")" }

  /// The categories of all members.
  public var exclusions: [ExclusionCategory] { members.flatMap(\.exclusions) }

  /// The limits of all members.
  public var exclusionLimits: [ExclusionLimit] { members.flatMap(\.exclusionLimits) }

  /// The prerequisites of all members, which run before the first of them is evaluated.
  public func prerequisites(of procedure: Procedure) -> [Procedure] {
    members.flatMap { $0.prerequisites(of: procedure) }
  }

  /// Evaluates the members in order, until one is not satisfied.
  public func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    await begin(procedure).result
  }

  /// Answers at once if the members that decide do.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation {
    begin(procedure, from: members.startIndex)
  }

  private func begin(_ procedure: Procedure, from first: Int) -> ConditionEvaluation {
    for index in members.indices[first...] {
      switch members[index].begin(procedure) {
      case .answered(.satisfied):
        continue
      case .answered(let result):
        return .answered(result)
      case let evaluation:
        return evaluation.flatMap { result in
          guard case .satisfied = result else { return .answered(result) }
          return begin(procedure, from: index + 1)
        }
      }
    }
    return .answered(.satisfied)
  }
}

/// Satisfied if one member is. It evaluates them in order until one is satisfied.
///
/// If none is, failed beats ignored: the errors of all that failed are reported, several of them in
/// one `ProcedureError.Code.conditionFailed`. Also written `a || b`. Without members it is ignored.
public struct OrCondition: Condition, MainActorBound {
  var runsOnMainActor: Bool { members.contains { $0.isMainActorBound } }
  let members: [any Condition]

  /// Makes a condition of several.
  public init(_ members: any Condition...) { self.members = members }

  /// Makes a condition of a sequence of them.
  public init(_ members: some Sequence<any Condition>) { self.members = Array(members) }

  /// Makes a condition of a list of them, of whatever types.
  public init(_ members: [any Condition]) { self.members = members }

  /// Makes a condition of a sequence of conditions of one type.
  public init<Members: Sequence>(_ members: Members) where Members.Element: Condition {
    self.members = members.map { $0 as any Condition }
  }

  /// For example `Or(IsOnline, IsCached)`.
  public var name: String { "Or(" + members.map(\.name).joined(separator: ", ") + ")" }

  /// The categories of all members, whichever is satisfied.
  public var exclusions: [ExclusionCategory] { members.flatMap(\.exclusions) }

  /// The limits of all members.
  public var exclusionLimits: [ExclusionLimit] { members.flatMap(\.exclusionLimits) }

  /// The prerequisites of all members, which run before the first of them is evaluated.
  public func prerequisites(of procedure: Procedure) -> [Procedure] {
    members.flatMap { $0.prerequisites(of: procedure) }
  }

  /// Evaluates the members in order, until one is satisfied.
  public func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    await begin(procedure).result
  }

  /// Answers at once if the members that decide do.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation {
    begin(procedure, from: members.startIndex, after: [])
  }

  private func begin(
    _ procedure: Procedure, from first: Int, after earlier: [any Error]
  ) -> ConditionEvaluation {
    var errors = earlier
    for index in members.indices[first...] {
      switch members[index].begin(procedure) {
      case .answered(.satisfied):
        return .answered(.satisfied)
      case .answered(.ignored):
        continue
      case .answered(.failed(let error)):
        errors.append(error)
      case let evaluation:
        return evaluation.flatMap { [errors] result in
          switch result {
          case .satisfied: .answered(.satisfied)
          case .ignored: begin(procedure, from: index + 1, after: errors)
          case .failed(let error): begin(procedure, from: index + 1, after: errors + [error])
          }
        }
      }
    }
    switch errors.count {
    case 0: return .answered(.ignored)
    case 1: return .answered(.failed(errors[0]))
    default:
      let error = ProcedureError(
        .conditionFailed, of: procedure.name, because: errors, .condition(name))
      return .answered(.failed(error))
    }
  }
}

/// `AndCondition(left, right)`: the right one is evaluated only if the left one is satisfied.
public func && (left: some Condition, right: some Condition) -> AndCondition {
  AndCondition(left, right)
}

/// `OrCondition(left, right)`: the right one is evaluated only if the left one is not satisfied.
public func || (left: some Condition, right: some Condition) -> OrCondition {
  OrCondition(left, right)
}

/// `NotCondition(condition)`.
public prefix func ! <Base: Condition>(condition: Base) -> NotCondition<Base> {
  NotCondition(condition)
}
