/// Who has the turn of a procedure. Pure, a part of its life.
///
/// Events and states; – changes nothing, ✕ is an inconsistency and traps:
///
/// | event    | free    | held     | wanted  |
/// |----------|---------|----------|---------|
/// | request  | → held¹ | → wanted | –       |
/// | take     | → held¹ | –        | –       |
/// | giveBack | ✕       | → free   | → held² |
/// | giveUp   | ✕       | → free   | → free  |
///
/// ¹ for the caller. ² it is kept, since there is more to do.
enum Turn: UInt8, Sendable, CaseIterable {
  case free
  /// Exactly one thread has it, or a message under way.
  case held
  /// It is held, and something was noted since.
  case wanted

  var isHeld: Bool { @inline(__always) get { self != .free } }

  /// Something was noted that the turn is to do.
  ///
  /// - Returns: whether it is held for the caller.
  @inline(__always)
  mutating func request() -> Bool {
    guard self == .free else {
      self = .wanted
      return false
    }
    self = .held
    return true
  }

  /// It is wanted for one thing, if it is free.
  ///
  /// - Returns: whether it is held for the caller.
  mutating func take() -> Bool {
    guard self == .free else { return false }
    self = .held
    return true
  }

  /// The one thing is done.
  ///
  /// - Returns: whether it is kept, to go on.
  mutating func giveBack() -> Bool {
    precondition(isHeld, "Internal inconsistency: a turn given back that no thread holds")
    let isKept = self == .wanted
    self = isKept ? .held : .free
    return isKept
  }

  /// Nothing is left to do.
  @inline(__always)
  mutating func giveUp() {
    precondition(isHeld, "Internal inconsistency: a turn given up that no thread holds")
    self = .free
  }
}
