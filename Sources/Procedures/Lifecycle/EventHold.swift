/// An event of a procedure that observers keep back. Pure, a part of its life, from the start on.
///
/// Events and states; – changes nothing:
///
/// | event   | none     | kept      | awaited   |
/// |---------|----------|-----------|-----------|
/// | keep    | → kept   | –¹        | –¹        |
/// | await   | –        | → awaited | –         |
/// | release | –        | → none²   | → none²³  |
/// | drop    | –        | → none    | → none³   |
///
/// ¹ it is kept once more. ² once it was released as often as it was kept; `release` of another event changes
/// nothing, nor does `drop`. ³ and the turn, which was kept, goes on.
struct EventHold: Sendable {
  private(set) var event: HoldableEvent?
  /// Whether the turn is kept until the event is released.
  private(set) var isAwaited = false
  private var count: UInt32 = 0

  /// An observer keeps the event.
  mutating func keep(_ event: HoldableEvent) {
    self.event = event
    count += 1
  }

  /// The turn has come to where the event is missing.
  ///
  /// - Returns: whether it has to wait.
  @inline(__always)
  mutating func await() -> Bool {
    guard event != nil else { return false }
    isAwaited = true
    return true
  }

  /// One of the observers lets it go.
  ///
  /// - Returns: whether the turn goes on, for the caller.
  mutating func release(_ event: HoldableEvent) -> Bool {
    guard self.event == event else { return false }
    count -= 1
    return count == 0 && end()
  }

  /// The event will not come: nothing waits for it.
  ///
  /// - Returns: whether the turn goes on, for the caller.
  mutating func drop(_ event: HoldableEvent) -> Bool { self.event == event && end() }

  private mutating func end() -> Bool {
    defer { self = EventHold() }
    return isAwaited
  }
}

/// An event that an observer may keep back.
enum HoldableEvent: UInt8, Sendable {
  case execute
  case finish
}
