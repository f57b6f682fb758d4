/// How far a cancel has come, of which there is one. Pure, a part of the life of a procedure.
///
/// Events and states; ✕ is an inconsistency and traps:
///
/// | event   | none     | marked        | deliverable | delivered |
/// |---------|----------|---------------|-------------|-----------|
/// | mark    | → marked | ✕             | ✕           | ✕         |
/// | allow   | ✕        | → deliverable | ✕           | ✕         |
/// | deliver | ✕        | ✕             | → delivered | ✕         |
enum CancelDelivery: UInt8, Sendable, CaseIterable {
  case none
  /// The flag is set, and the turn goes no further than where it is.
  case marked
  /// The whole tree is marked: the turn may deliver it.
  case deliverable
  /// The turn delivers it, or has.
  case delivered

  /// Whether it was cancelled and that is not delivered yet: no other user code begins before.
  var isDue: Bool { @inline(__always) get { self == .marked || self == .deliverable } }

  /// Whether the turn may deliver it, or has.
  var isAllowed: Bool { self == .deliverable || self == .delivered }

  mutating func mark() { advance(from: .none, to: .marked) }

  mutating func allow() { advance(from: .marked, to: .deliverable) }

  mutating func deliver() { advance(from: .deliverable, to: .delivered) }

  private mutating func advance(from before: CancelDelivery, to after: CancelDelivery) {
    precondition(self == before, "Internal inconsistency: a cancel out of order")
    self = after
  }
}
