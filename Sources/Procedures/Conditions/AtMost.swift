/// A condition that limits how many procedures of one category run at the same time.
///
/// ```swift
/// // Six transfers at once for each host, on any queues.
/// download.add(condition: AtMost(6, of: ExclusionCategory(named: host)))
/// render.add(condition: AtMost(2, of: "GPU"))
/// // Takes four of eight processors, once four are free.
/// simulate.add(condition: AtMost(8, of: "processors", taking: 4))
/// ```
///
/// `MutuallyExclusive` is the case of one, and its documentation holds here, too: a procedure
/// acquires a place together with its slot and all other categories, by priority and then first
/// come, first served, and holds it until its DidFinish observers have returned.
///
/// ## Several counts for one category
/// Every count is respected: a procedure starts only if the number of holders is below its own
/// count, and below the count of each holder. So `MutuallyExclusive` and `AtMost` of one category
/// make a lock for one writer or several readers. A later procedure that is no more urgent does not
/// overtake a waiting one of the same category, so small requests cannot starve a large one. If a
/// procedure has two conditions of one category, the lower count and the larger number of places
/// apply.
///
/// ## Groups
/// A group that holds places lends them to one of its descendants at a time, even if more places
/// are free. To let several run at once, give the condition to the children and not to the group.
///
/// ## Cost
/// No thread waits. The condition costs two to four microseconds for each procedure.
public struct AtMost: ExclusionCondition {
  let limit: ExclusionLimit

  /// Lets `count` procedures of a category run at once, or fewer if they take several places each.
  ///
  /// A count below one, and places below one or above the count, are programmer errors, and trap.
  public init(_ count: Int, of category: ExclusionCategory, taking places: Int = 1) {
    limit = ExclusionLimit(category, atMost: count, taking: places)
  }

  /// For example `AtMost(3, of: disk)`, or `AtMost(8, of: processors, taking: 4)`.
  public var name: String {
    let share = limit.places == 1 ? "" : ", taking: \(limit.places)"
    return "AtMost(\(limit.count), of: \(limit.category)\(share))"
  }

  /// Always satisfied: the procedure waits later, together with its slot.
  public func evaluate(_ procedure: Procedure) -> ConditionResult { .satisfied }
}
