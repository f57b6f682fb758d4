/// How far the group has come whose children a list holds. Pure. The list of a queue is always *running*.
///
/// Events and phases; – changes nothing, ✕ is an inconsistency and traps:
///
/// | event       | held       | running    | settling | closed |
/// |-------------|------------|------------|----------|--------|
/// | begin       | → running  | –          | –        | –      |
/// | settle      | → settling | → settling | ✕        | ✕      |
/// | becameEmpty | –          | –          | → closed | –      |
enum ListPhase: UInt8, Sendable, CaseIterable {
  /// A group that has not executed: no child starts.
  case held
  /// Members start.
  case running
  /// A group that has executed, or was cancelled before: it closes when no member is left.
  case settling
  /// The end of the group: no child is accepted any more.
  case closed

  /// The group executes: children may start.
  mutating func begin() {
    if self == .held { self = .running }
  }

  /// The group has executed, or never will.
  mutating func settle() {
    precondition(
      self == .held || self == .running, "Internal inconsistency: a group settled twice")
    self = .settling
  }

  /// No member is left.
  ///
  /// - Returns: whether that closed the group.
  @inline(__always)
  mutating func becameEmpty() -> Bool {
    guard self == .settling else { return false }
    self = .closed
    return true
  }

  /// Whether members may start at all.
  var letsStart: Bool { @inline(__always) get { self == .running || self == .settling } }
}
