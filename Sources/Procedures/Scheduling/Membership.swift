/// Whether, and where, a procedure is in its list. Guarded by the lock of that list, not by its own.
enum Membership: Sendable {
  case none
  case member(place: UInt32)
}
