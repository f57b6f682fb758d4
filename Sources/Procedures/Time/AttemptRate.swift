internal import ProcedurePrimitives

/// Decides what happens to starts that a repeat at a fixed rate has missed.
///
/// With a period of 50 ms, after an attempt that began at 0 and took 120 ms:
///
/// | policy | next starts |
/// |---|---|
/// | `.skip` | 150, 200, 250 ms |
/// | `.catchUp` | 120 ms for the start at 50, at once for the start at 100, then 150, 200, 250 ms |
public enum LatePolicy: Sendable {
  /// Missed starts are left out: the next attempt starts at the next multiple of the period.
  case skip
  /// Each missed start has its attempt, one directly after the other, until none is late. After an
  /// hour of sleep that may be many.
  case catchUp
}

struct AttemptRate: Sendable {
  let period: Duration
  let policy: LatePolicy
  /// Nil before the first attempt.
  private var due: ContinuousClock.Instant?

  init(period: Duration, policy: LatePolicy) {
    (self.period, self.policy) = (period, policy)
  }

  mutating func next(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    guard let last = due else {
      due = now
      return now
    }
    var next = last.saturatingAdvanced(by: period)
    if case .skip = policy, next < now {
      // Find the first start that is not missed; one that is due right now is not.
      let late = next.duration(to: now).attoseconds
      let missed = (late + period.attoseconds - 1) / period.attoseconds
      next = next.advanced(by: Duration(attoseconds: missed * period.attoseconds))
    }
    due = next
    return next
  }
}

enum AttemptPauses: Sendable {
  case intervals(WaitStrategy.Iterator)
  case rate(AttemptRate)

  /// Returns the pause before the next attempt; nil if there will be none. Called when the previous
  /// attempt is about to finish.
  ///
  /// - Parameter isFirst: whether the next attempt is the first one, which has no interval before
  ///   it.
  mutating func next(isFirst: Bool, on clock: TimerClock) -> AttemptPause? {
    switch self {
    case .intervals(var intervals):
      if isFirst { return .length(.zero) }
      let next = intervals.next()
      self = .intervals(intervals)
      return next.map(AttemptPause.length)
    case .rate(var rate):
      let next = rate.next(at: clock.now)
      self = .rate(rate)
      return .until(next, period: rate.period)
    }
  }
}

enum AttemptPause: Sendable {
  /// It is counted from the finish of the previous attempt.
  case length(Duration)
  /// It ends at an instant, even if the previous attempt took long.
  case until(ContinuousClock.Instant, period: Duration)

  /// Makes the procedure for which the attempt waits; nil for no pause.
  func delay(on clock: TimerClock) -> AttemptDelay? {
    switch self {
    case .length(let length):
      length > .zero ? AttemptDelay(by: length) : nil
    case .until(let instant, let period):
      instant > clock.now
        ? AttemptDelay(name: "Next of every \(period.short)", until: instant) : nil
    }
  }
}
