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
  /// The number of the first of these: places are numbered in the order in which they are taken.
  @safe @exclusivity(unchecked) private var firstNumber: UInt64
  /// How many places were given back, by the number of the first place of the start that took them.
  @safe @exclusivity(unchecked) private var takenBack: [UInt64: Int] = [:]
  @safe @exclusivity(unchecked) private var takenBackCount = 0
  /// No procedure starts before this instant.
  @safe @exclusivity(unchecked) private(set) var pauseEnd: ContinuousClock.Instant?
  @safe @exclusivity(unchecked) private var timer: SlabKey?

  /// Nil if the category is not a rate's; then `clock` is not evaluated.
  ///
  /// - Parameter number: of the first place that will be taken.
  init?(
    of category: ExclusionCategory, on clock: @autoclosure () -> TimerClock, from number: UInt64 = 0
  ) {
    guard let interval = category.interval else { return nil }
    firstNumber = number
    self.category = category
    self.interval = interval
    self.clock = clock()
  }

  var isPaused: Bool { pauseEnd != nil }

  /// The number of taken places.
  var count: Int { starts.count - takenBackCount }

  /// The number of the next place that is taken.
  var nextNumber: UInt64 { firstNumber + UInt64(starts.count) }

  /// A procedure is admitted.
  ///
  /// - Returns: the number of the first place that it takes.
  func note(_ places: Int) -> UInt64 {
    let (now, number) = (clock.now, nextNumber)
    for _ in 0..<places { starts.append(now) }
    return number
  }

  /// The procedure that took places from `number` on does not start. After an interval they are
  /// free in any case.
  func takeBack(_ number: UInt64, _ places: Int) {
    guard number >= firstNumber else { return }
    takenBack[number] = places
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
      // All places of one start expire together.
      if let count = takenBack.removeValue(forKey: firstNumber) { takenBackCount -= count }
      firstNumber += 1
    }
  }

  /// Why no place is free, and how long that lasts at least.
  struct NextStart: Sendable {
    let isPaused: Bool
    let after: Duration
  }

  var nextStart: NextStart? {
    guard let next = nextChange else { return nil }
    return NextStart(isPaused: isPaused, after: max(.zero, clock.now.duration(to: next)))
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
