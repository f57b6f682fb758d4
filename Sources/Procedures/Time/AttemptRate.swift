internal import ProcedurePrimitives

/// Decides about starts that a repeat at a fixed rate has missed.
///
/// With a period of 50 ms, after an attempt that began at 0 and took 120 ms:
///
/// | policy | next starts |
/// |---|---|
/// | `.skip` | 150, 200, 250 ms |
/// | `.catchUp` | 120 ms for the start at 50, then at once for that at 100, then 150, 200, 250 ms |
public enum LatePolicy: Sendable {
  /// They are left out: the next attempt starts with the period, in the future.
  case skip
  /// Each has its attempt, one directly after the other, until none is late. After an hour of sleep that may be many.
  case catchUp
}

/// The starts of attempts at a fixed rate.
struct AttemptRate: Sendable {
  let period: Duration
  let policy: LatePolicy
  /// When the latest attempt was due. Nil before the first.
  private var due: ContinuousClock.Instant?

  init(period: Duration, policy: LatePolicy) {
    (self.period, self.policy) = (period, policy)
  }

  /// When the next attempt is due, asked at `now`.
  mutating func next(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    guard let last = due else {
      due = now
      return now
    }
    var next = last.saturatingAdvanced(by: period)
    if case .skip = policy, next < now {
      // The first that is not missed. One that is due at this moment is not.
      let late = next.duration(to: now).attoseconds
      let missed = (late + period.attoseconds - 1) / period.attoseconds
      next = next.advanced(by: Duration(attoseconds: missed * period.attoseconds))
    }
    due = next
    return next
  }
}

/// The pauses before the attempts of a repeat.
enum AttemptPauses: Sendable {
  case intervals(WaitStrategy.Iterator)
  case rate(AttemptRate)

  /// The pause before the next attempt, asked when the one before is about to finish; nil if there is none.
  ///
  /// - Parameter isFirst: whether it stands before the first attempt, which waits for nothing.
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

/// The pause before one attempt.
enum AttemptPause: Sendable {
  /// Counted from when the attempt before has finished.
  case length(Duration)
  /// Whatever the attempt before takes.
  case until(ContinuousClock.Instant, period: Duration)

  /// The procedure for which the attempt waits; nil if it waits for none.
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
