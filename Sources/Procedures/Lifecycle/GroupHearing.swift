/// What a child asks its group before it finishes: which of its errors the group takes over. Pure, a part of the
/// life of the child.
///
/// Events and stages; – changes nothing, ✕ is an inconsistency and traps:
///
/// | event      | none | due      | asked        | awaited      | heard |
/// |------------|------|----------|--------------|--------------|-------|
/// | next       | –    | → asked  | → awaited    | –            | –     |
/// | hearAtOnce | ✕    | → heard  | ✕            | ✕            | ✕     |
/// | hear       | ✕    | ✕        | → heard      | → heard¹     | ✕     |
///
/// ¹ and the turn, which was kept, goes on.
enum GroupHearing: UInt8, Sendable, CaseIterable {
  /// It is in no group.
  case none
  /// The group is to be asked.
  case due
  /// It is being asked: it may answer before the turn comes back.
  case asked
  /// The turn is kept until it answers.
  case awaited
  case heard

  /// The next step of a child that has delivered willFinish.
  enum Step: Sendable {
    case ask
    case wait
    case goOn
  }

  @inline(__always)
  mutating func next() -> Step {
    switch self {
    case .due:
      self = .asked
      return .ask
    case .asked, .awaited:
      self = .awaited
      return .wait
    case .none, .heard:
      return .goOn
    }
  }

  /// The group has decided while it was asked.
  mutating func hearAtOnce() {
    precondition(self == .due, "Internal inconsistency: heard at once, and asked before")
    self = .heard
  }

  /// The group has decided since.
  ///
  /// - Returns: whether the turn goes on, for the caller.
  mutating func hear() -> Bool {
    defer { self = .heard }
    switch self {
    case .awaited: return true
    case .asked: return false
    case .none, .due, .heard:
      preconditionFailure("Internal inconsistency: heard without having asked")
    }
  }
}
