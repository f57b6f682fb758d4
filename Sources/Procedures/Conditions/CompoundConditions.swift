/// A condition that is satisfied if all members are. It evaluates them in order, and the first
/// unsatisfied one gives the answer.
///
/// `AndCondition(a, b)`, also written `a && b`, is the same as adding `a` and then `b`. Without
/// members it is always satisfied.
public struct AndCondition: ConditionOfOthers {
  let members: [any Condition]

  /// Makes a condition from its members.
  public init(_ members: any Condition...) { self.members = members }

  /// Makes a condition from a sequence of members.
  public init(_ members: some Sequence<any Condition>) { self.members = Array(members) }

  /// Makes a condition from an array of members of any types.
  public init(_ members: [any Condition]) { self.members = members }

  /// Makes a condition from a sequence of conditions of one type.
  public init<Members: Sequence>(_ members: Members) where Members.Element: Condition {
    self.members = members.map { $0 as any Condition }
  }

  /// For example `And(IsOnline, HasSpace)`.
  public var name: String { "And(" + members.map(\.name).joined(separator: ", ") + ")" }

  /// Answers at once if the deciding members do.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation {
    beginInOrder(procedure) { result, _ in
      if case .satisfied = result { nil } else { result }
    } end: { _ in
      .satisfied
    }
  }

  var isExclusionOnly: Bool { members.allSatisfy(\.asksForCategoriesOnly) }
}

/// A condition that is satisfied if one member is. It evaluates them in order until one is
/// satisfied.
///
/// If none is, it fails if a member failed, and is ignored otherwise. It fails with the member's
/// error, or with one `ProcedureError.Code.conditionFailed` for several. You can also write
/// `a || b`. Without members it is ignored. A procedure acquires the categories of all members,
/// even of unsatisfied ones.
public struct OrCondition: ConditionOfOthers {
  let members: [any Condition]

  /// Makes a condition from its members.
  public init(_ members: any Condition...) { self.members = members }

  /// Makes a condition from a sequence of members.
  public init(_ members: some Sequence<any Condition>) { self.members = Array(members) }

  /// Makes a condition from an array of members of any types.
  public init(_ members: [any Condition]) { self.members = members }

  /// Makes a condition from a sequence of conditions of one type.
  public init<Members: Sequence>(_ members: Members) where Members.Element: Condition {
    self.members = members.map { $0 as any Condition }
  }

  /// For example `Or(IsOnline, IsCached)`.
  public var name: String { "Or(" + members.map(\.name).joined(separator: ", ") + ")" }

  /// Answers at once if the deciding members do.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation {
    beginInOrder(procedure) { result, errors in
      if case .satisfied = result { return .satisfied }
      if case .failed(let error) = result { errors.append(error) }
      return nil
    } end: { errors in
      switch errors.count {
      case 0: .ignored
      case 1: .failed(errors[0])
      default:
        .failed(
          ProcedureError(
            .conditionFailed, of: procedure.name, because: errors, .condition(name)))
      }
    }
  }

  var isExclusionOnly: Bool {
    !members.isEmpty && members.allSatisfy(\.asksForCategoriesOnly)
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
