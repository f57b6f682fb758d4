internal import ProcedurePrimitives

/// The recent starts at the level of a rate.
///
/// A start takes a place for an interval, whether the request has left by then or not.
///
/// Unchecked: only the table reaches them, behind its lock; the timer calls `timeIsUp`, which
/// acquires that lock.
package final class StartTimes: TimerTarget, @unchecked Sendable {
  private struct State: Sendable {
    /// One instant for each taken place, the oldest first.
    var starts = Fifo<ContinuousClock.Instant>()
    /// The number of the first of these: places are numbered in the order in which they are taken.
    var firstNumber: Int
    /// How many places were given back, by the number of the first place of the start that took
    /// them.
    var takenBack: [Int: Int] = [:]
    var takenBackCount = 0
    /// No request is admitted before this instant.
    var pauseEnd: ContinuousClock.Instant?
    var timer: SlabKey?
  }

  let category: CategoryID
  private let interval: Duration
  let clock: any TimerService
  private let timeIsUp: @Sendable (StartTimes) -> Void
  @safe @exclusivity(unchecked) private var state: State

  /// - Parameter number: of the first place that will be taken.
  init(
    of category: CategoryID, in interval: Duration, on clock: any TimerService,
    from number: Int = 0, timeIsUp: @escaping @Sendable (StartTimes) -> Void
  ) {
    self.category = category
    self.interval = interval
    self.clock = clock
    self.timeIsUp = timeIsUp
    state = State(firstNumber: number)
  }

  /// Those of another clock, which have nothing in common with these but the numbers.
  func moved(to clock: any TimerService) -> StartTimes {
    StartTimes(of: category, in: interval, on: clock, from: nextNumber, timeIsUp: timeIsUp)
  }

  var isPaused: Bool { state.pauseEnd != nil }

  /// The number of taken places.
  var count: Int { state.starts.count - state.takenBackCount }

  private var nextNumber: Int { state.firstNumber + state.starts.count }

  /// A request is admitted.
  ///
  /// - Returns: the number of the first place that it takes.
  func note(_ places: Int) -> Int {
    let (now, number) = (clock.now, nextNumber)
    for _ in 0..<places { state.starts.append(now) }
    return number
  }

  /// The request that took places from `number` on was not used. After an interval they are free in
  /// any case.
  func takeBack(_ number: Int, _ places: Int) {
    guard number >= state.firstNumber else { return }
    state.takenBack[number] = places
    state.takenBackCount += places
  }

  func pause(for duration: Duration) {
    guard duration > .zero else { return }
    let end = clock.now.saturatingAdvanced(by: duration)
    state.pauseEnd = max(end, state.pauseEnd ?? end)
  }

  /// Removes starts, and a pause, that have expired.
  func expire() {
    let now = clock.now
    if let end = state.pauseEnd, end <= now { state.pauseEnd = nil }
    while let first = state.starts.first, first.saturatingAdvanced(by: interval) <= now {
      _ = state.starts.popFirst()
      // All places of one start expire together.
      if let count = state.takenBack.removeValue(forKey: state.firstNumber) {
        state.takenBackCount -= count
      }
      state.firstNumber += 1
    }
  }

  /// Why no place is free, and how long that lasts at least.
  package struct NextStart: Sendable {
    package let isPaused: Bool
    package let after: Duration
  }

  var nextStart: NextStart? {
    guard let next = nextChange else { return nil }
    return NextStart(isPaused: isPaused, after: max(.zero, clock.now.duration(to: next)))
  }

  private var nextChange: ContinuousClock.Instant? {
    state.pauseEnd ?? state.starts.first?.saturatingAdvanced(by: interval)
  }

  /// A request waits: the timer fires when there may be room.
  func setTimer() {
    guard state.timer == nil, let next = nextChange else { return }
    state.timer = clock.schedule(self, at: next)
  }

  /// No request waits any more.
  func cancelTimer() {
    if let timer = state.timer.take() { clock.cancel(timer) }
  }

  func noteTimerFired() { state.timer = nil }

  package func timerFired() { timeIsUp(self) }
}
