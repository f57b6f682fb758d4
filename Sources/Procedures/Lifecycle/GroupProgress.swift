/// How far a group has come with its children. Pure, a part of the life of a procedure.
///
/// Events and stages; – changes nothing, ✕ is an inconsistency and traps:
///
/// | event    | notAGroup | unannounced | running     | settling   | finished |
/// |----------|-----------|-------------|-------------|------------|----------|
/// | announce | –         | → running¹  | –           | –          | –        |
/// | settle   | –         | → settling¹ | → settling¹ | –          | –        |
/// | end      | ✕         | ✕           | ✕           | → finished | ✕        |
///
/// ¹ and that is a step of the turn.
enum GroupProgress: UInt8, Sendable, CaseIterable {
  case notAGroup
  /// Those that are added are announced when the group executes.
  case unannounced
  case running
  /// Nothing but children keeps it from its end.
  case settling
  case finished

  /// It is about to execute.
  ///
  /// - Returns: whether its children are to be announced first.
  @inline(__always)
  mutating func announce() -> Bool {
    guard self == .unannounced else { return false }
    self = .running
    return true
  }

  /// It is about to end.
  ///
  /// - Returns: whether its children are to be told first.
  @inline(__always)
  mutating func settle() -> Bool {
    guard self == .unannounced || self == .running else { return false }
    self = .settling
    return true
  }

  /// The last child has finished.
  mutating func end() {
    precondition(self == .settling, "Internal inconsistency: a group's children ended early")
    self = .finished
  }
}
