internal import ProcedurePrimitives

/// The recent starts at the level of a rate. Guarded by the lock of the table.
///
/// A start takes a place for an interval, whether the procedure has finished by then or not.
final class StartTimes: TimerTarget, @unchecked Sendable {
  private let category: ExclusionCategory
  private let interval: Duration
  let clock: TimerClock
  /// One instant for each taken place, the oldest first.
  @safe @exclusivity(unchecked) private var starts = Fifo<ContinuousClock.Instant>()
  /// How many places of each instant were given back.
  @safe @exclusivity(unchecked) private var takenBack: [ContinuousClock.Instant: Int] = [:]
  @safe @exclusivity(unchecked) private var takenBackCount = 0
  /// No procedure starts before this instant.
  @safe @exclusivity(unchecked) private(set) var pauseEnd: ContinuousClock.Instant?
  @safe @exclusivity(unchecked) private var timer: SlabKey?

  /// Nil if the category is not a rate's; then `clock` is not evaluated.
  init?(of category: ExclusionCategory, on clock: @autoclosure () -> TimerClock) {
    guard let interval = category.interval else { return nil }
    self.category = category
    self.interval = interval
    self.clock = clock()
  }

  /// The number of taken places.
  var count: Int { starts.count - takenBackCount }

  func note(_ places: Int) -> ContinuousClock.Instant {
    let now = clock.now
    for _ in 0..<places { starts.append(now) }
    return now
  }

  /// The procedure that was admitted at `start` does not start. After an interval its place is free
  /// in any case.
  func takeBack(_ start: ContinuousClock.Instant, _ places: Int) {
    guard let first = starts.first, start >= first else { return }
    takenBack[start, default: 0] += places
    takenBackCount += places
  }

  func pause(for duration: Duration) {
    guard duration > .zero else { return }
    let end = clock.now.saturatingAdvanced(by: duration)
    pauseEnd = max(end, pauseEnd ?? end)
  }

  /// Removes starts, and a pause, that have expired.
  func expire() {
    let now = clock.now
    if let end = pauseEnd, end <= now { pauseEnd = nil }
    while let first = starts.first, first.saturatingAdvanced(by: interval) <= now {
      _ = starts.popFirst()
      // All starts of one instant expire together.
      if let count = takenBack.removeValue(forKey: first) { takenBackCount -= count }
    }
  }

  /// Why no place is free, and how long that lasts at least.
  struct NextStart: Sendable {
    let isPaused: Bool
    let after: Duration
  }

  var nextStart: NextStart? {
    guard let next = nextChange else { return nil }
    return NextStart(isPaused: pauseEnd != nil, after: max(.zero, clock.now.duration(to: next)))
  }

  private var nextChange: ContinuousClock.Instant? {
    pauseEnd ?? starts.first?.saturatingAdvanced(by: interval)
  }

  /// A procedure waits: the timer fires when there may be room.
  func setTimer() {
    guard timer == nil, let next = nextChange else { return }
    timer = clock.service.schedule(self, at: next)
  }

  /// No procedure waits any more.
  func cancelTimer() {
    if let timer = timer.take() { clock.service.cancel(timer) }
  }

  func timerFired() {
    let offers = ExclusionTable.shared.withLock { table in
      timer = nil
      return table.timePasses(for: category)
    }
    ProcedureList.pass(on: offers)
  }
}
