internal import ProcedurePrimitives

/// Whether a queue has a list in which members wait that no worker can help, for looks that search
/// for waits that never end. Each list reads it after each critical section, so it costs one load.
///
/// | state | a list is stuck               | the look begins           | the look is over               |
/// |-------|-------------------------------|---------------------------|--------------------------------|
/// | none  | → once: a look is scheduled   | –                         | –                              |
/// | once  | → again                       | looks                     | → none                         |
/// | again | nothing: that is known        | → once, if it is put off  | → once: another look scheduled |
///
/// A thread that changes a wait reads this after the change: under the lock that guards the wait,
/// after that lock, or after a change of the arrivals. A look changes this, and then reads the wait
/// under the same lock, or after a change of the arrivals (`ProcedureList.proceduresForLook`). So
/// one of the two finds the other's change.
final class StuckNote: Sendable {
  private enum State {
    static let none: UInt8 = 0
    static let once: UInt8 = 1
    static let again: UInt8 = 2
  }

  private let state: AtomicByte

  /// - Parameter isUsed: false if there never will be a look.
  init(isUsed: Bool) { state = AtomicByte(isUsed ? State.none : State.again) }

  /// Whether a note would change anything. One atomic load.
  @inline(__always)
  var isWanted: Bool { state.load() != State.again }

  /// There will never be a look from now on.
  func disable() { state.store(State.again) }

  /// Notes that a list is stuck.
  ///
  /// - Returns: whether the caller schedules a look.
  func note() -> Bool {
    // A look may end, or begin, between two attempts: the note is not lost.
    while isWanted {
      if state.compareExchange(State.none, State.once) { return true }
      if state.compareExchange(State.once, State.again) { return false }
    }
    return false
  }

  /// Puts a look off, if something has happened since it was scheduled.
  func putOff() -> Bool { state.compareExchange(State.again, State.once) }

  /// Notes that a look is over.
  ///
  /// - Returns: whether the caller schedules another: something has happened meanwhile.
  func end() -> Bool {
    if state.compareExchange(State.once, State.none) { return false }
    state.store(State.once)
    return true
  }
}
