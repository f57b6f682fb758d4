/// An item that a list schedules. It keeps how it stands in its list, so that a member needs no memory of its own.
///
/// The lock of the list guards it; before the item is added, it belongs to the thread that adds it.
protocol Schedulable: AnyObject, Sendable {
  var membership: Membership { get set }
  var links: MemberLinks { get set }
  /// The number that it was given when it became a member. It wraps.
  var age: UInt32 { get set }
}

/// What an item asks for, beside a slot, before it may start: the list keeps it, and what grants it is
/// elsewhere.
protocol SchedulingRequest: AnyObject, Sendable {
  /// When it was asked for the first time; smaller ones come first.
  var ticket: UInt64 { get }
  /// Where it is among those that wait for a slot again. Guarded by the lock of the list.
  var listPlace: Int { get set }
}
