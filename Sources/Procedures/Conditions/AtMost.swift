/// A condition that lets only so many procedures of one category run at the same time.
///
/// ```swift
/// // Six transfers at once for each host, on whatever queues they are.
/// download.add(condition: AtMost(6, of: ExclusionCategory(named: host)))
/// render.add(condition: AtMost(2, of: "GPU"))
/// // Of eight processors this one takes four, when so many are free.
/// simulate.add(condition: AtMost(8, of: "processors", taking: 4))
/// ```
///
/// `MutuallyExclusive` is the case of one, and everything said there holds here: a procedure
/// acquires a place together with its slot and all other categories, by priority and in the order of asking, and
/// holds it until its DidFinish observers have returned.
///
/// ## Several counts for one category
/// Each count is kept: a procedure starts only if fewer hold the category than its own count, and
/// than the count of each holder. So `MutuallyExclusive` and `AtMost` of one category are a lock
/// for one writer or several readers. A later, no more urgent procedure does not
/// overtake a waiting one of the same category, so small requests do not pass a large one forever.
/// If a procedure has two conditions of one category, the lower count and the larger share hold.
///
/// ## Groups
/// A group that holds places lends them to its descendants: one descendant at a time, however many
/// places are free. For several at once, give the condition to the children and not to the group.
///
/// ## Cost
/// No thread waits. Two to four microseconds more for a procedure.
public struct AtMost: ExclusionCondition {
  let limit: ExclusionLimit

  /// Lets `count` procedures of a category run at once, or fewer that take several places each.
  ///
  /// A count of less than one, and places that are less than one or more than the count, are programmer errors, and
  /// trap.
  public init(_ count: Int, of category: ExclusionCategory, taking places: Int = 1) {
    limit = ExclusionLimit(category, atMost: count, taking: places)
  }

  /// For example `AtMost(3, of: disk)`, or `AtMost(8, of: processors, taking: 4)`.
  public var name: String {
    let share = limit.places == 1 ? "" : ", taking: \(limit.places)"
    return "AtMost(\(limit.count), of: \(limit.category)\(share))"
  }

  /// Always satisfied: the waiting comes later, with the slot.
  public func evaluate(_ procedure: Procedure) -> ConditionResult { .satisfied }
}
