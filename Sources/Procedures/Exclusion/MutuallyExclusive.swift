/// A condition that keeps procedures of one category from running at the same time.
///
/// ```swift
/// migrate.add(condition: MutuallyExclusive<Database>())
/// export.add(condition: MutuallyExclusive(named: "disk"))
/// ```
///
/// Never more than one procedure of a category is between its start and its end, DidFinish observers
/// included, on any queue of the process or of the domain given. All categories of a procedure are
/// granted in one step together with its slot, after dependencies and other conditions; a waiting
/// one keeps neither. The order is that of asking, among those who can run.
///
/// A child of a group that holds the category is granted it too; its siblings still exclude each
/// other. What a condition brings to run before it is not excluded from anything.
///
/// In an `Or`, or under a `Not`, it excludes all the same: it is always satisfied, and what it asks
/// for belongs to the procedure.
///
/// Cost: no thread waits. Some hundred nanoseconds more for a procedure.
public struct MutuallyExclusive<Category>: SynchronousCondition {
  private let category: ExclusionCategory

  /// Excludes others of this type, in the process or a domain.
  public init(in domain: ExclusionDomain = .process) {
    category = ExclusionCategory(Category.self, in: domain)
  }

  /// Excludes others of this name, whatever the type.
  public init(category name: String, in domain: ExclusionDomain = .process) {
    category = ExclusionCategory(named: name, in: domain)
  }

  /// For example `MutuallyExclusive<Database>`.
  public var name: String { "MutuallyExclusive<\(category)>" }

  /// The category.
  public var exclusions: [ExclusionCategory] { [category] }

  /// Always satisfied: the waiting comes later, with the slot.
  public func evaluate(_ procedure: Procedure) -> ConditionResult { .satisfied }
}

/// Stands in the place of a type for categories that have a name instead.
public enum NamedCategory {}

extension MutuallyExclusive where Category == NamedCategory {
  /// Excludes others of this name.
  public init(named name: String, in domain: ExclusionDomain = .process) {
    self.init(category: name, in: domain)
  }
}
