/// Whether, and where, a procedure is in its list. Guarded by the lock of that list, not by its own.
///
/// As small as it can be: it is part of every procedure.
struct Membership: Sendable {
  private static let nowhere = UInt32.max

  private var storedPlace = Membership.nowhere

  static let none = Membership()

  static func member(place: UInt32) -> Membership { Membership(storedPlace: place) }

  /// Its place in the list; nil if it is no member.
  var place: UInt32? { storedPlace == Self.nowhere ? nil : storedPlace }
}
