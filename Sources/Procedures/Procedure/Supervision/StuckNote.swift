internal import ProcedurePrimitives

/// Whether a queue has a list in which members wait that no worker can help, for looks that search
/// for waits that never end. Each list reads it after each critical section, so it costs one load.
///
/// | state             | a list is stuck     | the look begins            | the look is over |
/// |-------------------|---------------------|----------------------------|------------------|
/// | none              | → scheduled¹        | –                          | –                |
/// | scheduled         | → scheduledAndDirty | looks                      | → none           |
/// | scheduledAndDirty | –                   | → scheduled, to put it off | → scheduled¹     |
///
/// ¹ The caller schedules a look.
///
/// A thread that changes a wait reads this after the change: under the lock that guards the wait,
/// after that lock, or after a change of the arrivals. A look changes this, and then reads the wait
/// under the same lock, or after a change of the arrivals (`ProcedureList.proceduresForLook`). So
/// one of the two finds the other's change.
final class StuckNote: Sendable {
  private enum State {
    static let none: UInt8 = 0
    static let scheduled: UInt8 = 1
    static let scheduledAndDirty: UInt8 = 2
  }

  private let state: AtomicByte

  /// - Parameter isUsed: false if there never will be a look.
  init(isUsed: Bool) { state = AtomicByte(isUsed ? State.none : State.scheduledAndDirty) }

  /// Whether a note would change anything. One atomic load.
  @inline(__always)
  var isWanted: Bool { state.load() != State.scheduledAndDirty }

  /// There will never be a look from now on.
  func disable() { state.store(State.scheduledAndDirty) }

  /// Notes that a list is stuck.
  ///
  /// - Returns: whether the caller schedules a look.
  func note() -> Bool {
    // A look may end, or begin, between two attempts: the note is not lost.
    while isWanted {
      if state.compareExchange(State.none, State.scheduled) { return true }
      if state.compareExchange(State.scheduled, State.scheduledAndDirty) { return false }
    }
    return false
  }

  /// Puts a look off, if something has happened since it was scheduled.
  func putOff() -> Bool { state.compareExchange(State.scheduledAndDirty, State.scheduled) }

  /// Notes that a look is over.
  ///
  /// - Returns: whether the caller schedules another: something has happened meanwhile.
  func end() -> Bool {
    if state.compareExchange(State.scheduled, State.none) { return false }
    state.store(State.scheduled)
    return true
  }
}
