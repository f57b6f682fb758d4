/// A condition that only asks for categories: there is nothing to evaluate.
///
/// A procedure that has no others becomes ready at once, in its place, instead of after a worker has
/// evaluated its conditions.
protocol ExclusionCondition: SynchronousCondition, PossiblyExclusionOnly {}

extension ExclusionCondition {
  var isExclusionOnly: Bool { true }
}

/// A condition of the framework that may be, or consist of, nothing but `ExclusionCondition`s.
protocol PossiblyExclusionOnly {
  var isExclusionOnly: Bool { get }
}

extension AndCondition: PossiblyExclusionOnly {
  var isExclusionOnly: Bool { members.allSatisfy(\.asksForCategoriesOnly) }
}

extension OrCondition: PossiblyExclusionOnly {
  var isExclusionOnly: Bool {
    !members.isEmpty && members.allSatisfy(\.asksForCategoriesOnly)
  }
}

extension IgnoredCondition: PossiblyExclusionOnly {
  var isExclusionOnly: Bool { base.asksForCategoriesOnly }
}

extension SilentCondition: PossiblyExclusionOnly {
  var isExclusionOnly: Bool { base.asksForCategoriesOnly }
}

extension Condition {
  /// Whether it is always satisfied, at once, and brings nothing. Calls none of the user's code.
  var asksForCategoriesOnly: Bool {
    (self as? any PossiblyExclusionOnly)?.isExclusionOnly ?? false
  }
}
