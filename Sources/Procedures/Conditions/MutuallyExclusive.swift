/// A condition that keeps procedures of one category from running at the same time.
///
/// ```swift
/// migrate.add(condition: MutuallyExclusive<Database>())
/// export.add(condition: MutuallyExclusive(named: "disk"))
/// ```
///
/// At most one procedure of a category runs at a time, on all queues of the process or of the given
/// domain. It holds the category from its start until its DidFinish observers have returned. A
/// procedure acquires all of its categories in one step together with its slot, after dependencies
/// and other conditions; while it waits it holds neither. Waiting procedures acquire by priority,
/// then first come, first served; none waits forever. To let several run at a time use `AtMost`.
///
/// A child of a group that holds the category can acquire it too; siblings still exclude each
/// other. The prerequisites of a condition run before the procedure has acquired anything.
///
/// As a member of an `OrCondition` or a `NotCondition` it still excludes: it is always satisfied,
/// and the procedure acquires the category in any case.
///
/// No thread waits. The condition costs two to four microseconds for each procedure.
public struct MutuallyExclusive<Category>: ExclusionCondition {
  let limit: ExclusionLimit

  /// Makes a condition of the category of this type, in the process or a domain.
  public init(in domain: ExclusionDomain = .process) {
    limit = ExclusionLimit(ExclusionCategory(Category.self, in: domain))
  }

  /// For example `MutuallyExclusive<Database>`.
  public var name: String { "MutuallyExclusive<\(limit.category)>" }

  /// Always satisfied: the procedure waits later, together with its slot.
  public func evaluate(_ procedure: Procedure) -> ConditionResult { .satisfied }
}

/// The type parameter for categories that are values, such as names.
public enum NamedCategory {}

extension MutuallyExclusive where Category == NamedCategory {
  /// Makes a condition of a category.
  ///
  /// ```swift
  /// let exports = ExclusionDomain(name: "exports")
  /// archive.add(condition: MutuallyExclusive(of: ExclusionCategory(Disk.self, in: exports)))
  /// ```
  public init(of category: ExclusionCategory) {
    limit = ExclusionLimit(category)
  }

  /// Makes a condition of the category `ExclusionCategory(named: name, in: domain)`.
  public init(named name: String, in domain: ExclusionDomain = .process) {
    self.init(of: ExclusionCategory(named: name, in: domain))
  }
}

extension MutuallyExclusive {
  /// Unavailable: a type and a name are different categories.
  @available(
    *, unavailable,
    message: "write MutuallyExclusive(named: \"x\") for a name, MutuallyExclusive<T>() for a type"
  )
  public init(category: String, in domain: ExclusionDomain = .process) {
    self.init(in: domain)
  }
}
