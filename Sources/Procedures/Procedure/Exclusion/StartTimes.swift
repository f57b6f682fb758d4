internal import ProcedurePrimitives

/// When procedures started, for as long as that counts: of a level that is a rate's. Guarded by the lock of the table.
///
/// A start takes a place for an interval, whether the procedure has finished by then or not.
final class StartTimes: TimerTarget, @unchecked Sendable {
  private let category: ExclusionCategory
  private let interval: Duration
  private let clock: TimerClock
  /// The oldest first.
  @safe @exclusivity(unchecked) private var starts = Fifo<ContinuousClock.Instant>()
  /// Those among them that came to nothing.
  @safe @exclusivity(unchecked) private var takenBack: [ContinuousClock.Instant] = []
  /// No procedure starts before.
  @safe @exclusivity(unchecked) private(set) var pauseEnd: ContinuousClock.Instant?
  @safe @exclusivity(unchecked) private var timer: SlabKey?

  init(of category: ExclusionCategory, in interval: Duration, on clock: TimerClock) {
    self.category = category
    self.interval = interval
    self.clock = clock
  }

  /// How many places are taken.
  var count: Int { starts.count - takenBack.count }

  func note() -> ContinuousClock.Instant {
    let now = clock.now
    starts.append(now)
    return now
  }

  /// The procedure that was let in then does not start. If that was an interval ago it does not count in any case.
  func takeBack(_ start: ContinuousClock.Instant) {
    if let first = starts.first, start >= first { takenBack.append(start) }
  }

  func pause(for duration: Duration) {
    let end = clock.now.saturatingAdvanced(by: duration)
    pauseEnd = max(end, pauseEnd ?? end)
  }

  /// Forgets what counts no longer.
  func expire() {
    let now = clock.now
    if let end = pauseEnd, end <= now { pauseEnd = nil }
    while let first = starts.first, first.saturatingAdvanced(by: interval) <= now {
      _ = starts.popFirst()
      if let index = takenBack.firstIndex(of: first) { takenBack.remove(at: index) }
    }
  }

  /// A procedure waits: the timer looks when there may be room.
  func setTimer() {
    guard timer == nil,
      let next = pauseEnd ?? starts.first?.saturatingAdvanced(by: interval)
    else { return }
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
