internal import ProcedurePrimitives

/// When procedures started, for as long as that counts: of a level that is a rate's. Guarded by the lock of the table.
///
/// A start takes a place for an interval, whether the procedure has finished by then or not.
final class StartTimes: TimerTarget, @unchecked Sendable {
  private let category: ExclusionCategory
  private let interval: Duration
  let clock: TimerClock
  /// The oldest first, one for each place.
  @safe @exclusivity(unchecked) private var starts = Fifo<ContinuousClock.Instant>()
  /// How many of an instant came to nothing.
  @safe @exclusivity(unchecked) private var takenBack: [ContinuousClock.Instant: Int] = [:]
  @safe @exclusivity(unchecked) private var takenBackCount = 0
  /// No procedure starts before.
  @safe @exclusivity(unchecked) private(set) var pauseEnd: ContinuousClock.Instant?
  @safe @exclusivity(unchecked) private var timer: SlabKey?

  /// Nil if the category is no rate's; then nobody asks for the clock.
  init?(of category: ExclusionCategory, on clock: @autoclosure () -> TimerClock) {
    guard let interval = category.interval else { return nil }
    self.category = category
    self.interval = interval
    self.clock = clock()
  }

  /// How many places are taken.
  var count: Int { starts.count - takenBackCount }

  func note(_ places: Int) -> ContinuousClock.Instant {
    let now = clock.now
    for _ in 0..<places { starts.append(now) }
    return now
  }

  /// The procedure that was let in then does not start. If that was an interval ago it does not count in any case.
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

  /// Forgets what counts no longer.
  func expire() {
    let now = clock.now
    if let end = pauseEnd, end <= now { pauseEnd = nil }
    while let first = starts.first, first.saturatingAdvanced(by: interval) <= now {
      _ = starts.popFirst()
      // All of one instant expire together.
      if let count = takenBack.removeValue(forKey: first) { takenBackCount -= count }
    }
  }

  /// Why there is none, and how long at least.
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

  /// A procedure waits: the timer looks when there may be room.
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
