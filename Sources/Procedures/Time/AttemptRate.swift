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
  /// Missed starts are left out: the next attempt starts at the next multiple of the period. A
  /// start is missed if the attempt cannot begin at its time: the previous one still runs, the
  /// repeat is suspended or has no slot, or the machine sleeps.
  case skip
  /// Each missed start has its attempt, one directly after the other, until none is late. After an
  /// hour of sleep that may be many.
  case catchUp
}

/// The starts of a repeat at a fixed rate.
///
/// A start is planned twice: when the previous attempt is about to finish, and again when the pause
/// before it begins to wait, which may be later. When the pause is over and the attempt cannot
/// start, another pause follows, which begins when the attempt could: see `RatePause`.
final class AttemptRate: Sendable {
  private struct Plan: Sendable {
    /// The planned start; nil before the first attempt.
    var due: ContinuousClock.Instant?
    var isFirst = true
  }

  let period: Duration
  let policy: LatePolicy
  private let plan = Locked(Plan())

  init(period: Duration, policy: LatePolicy) {
    (self.period, self.policy) = (period, policy)
  }

  var skipsMissedStarts: Bool { if case .skip = policy { true } else { false } }

  /// Plans the next start.
  func next(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    plan.withLock { plan in
      guard let last = plan.due else {
        plan.due = now
        return now
      }
      plan.isFirst = false
      let next = last.saturatingAdvanced(by: period)
      let due = skipsMissedStarts ? start(from: next, notBefore: now) : next
      plan.due = due
      return due
    }
  }

  /// Plans the same start again, if it is missed by now.
  func plannedStart(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    plan.withLock { plan in
      let planned = plan.due ?? now
      // 1. The period counts from the first attempt, whenever that can start.
      // 2. A pause begins a little after it could, because its thread does.
      let isMissed = planned.saturatingAdvanced(by: min(period / 10, .milliseconds(10))) < now
      let due = plan.isFirst ? now : isMissed ? start(from: planned, notBefore: now) : planned
      plan.due = due
      return due
    }
  }

  /// Whether the time of a later start has come, too: the machine has slept.
  func missesNext(at now: ContinuousClock.Instant) -> Bool {
    plan.withLock { $0.due.map { $0.saturatingAdvanced(by: period) <= now } ?? false }
  }

  /// The first of `planned` and the starts after it that is not missed; one that is due right now
  /// is not.
  private func start(
    from planned: ContinuousClock.Instant, notBefore now: ContinuousClock.Instant
  ) -> ContinuousClock.Instant {
    guard planned < now else { return planned }
    let late = planned.duration(to: now).attoseconds
    let missed = (late + period.attoseconds - 1) / period.attoseconds
    return planned.advanced(by: Duration(attoseconds: missed * period.attoseconds))
  }
}

/// The pause before a start at a fixed rate that leaves out missed starts.
nonisolated final class RatePause: AttemptDelay, @unchecked Sendable {
  /// The end of the pause, which is known when the pause begins.
  private struct End: DelayEnd {
    let rate: AttemptRate

    func endOfDelay(on queueClock: TimerClock) -> (TimerClock, ContinuousClock.Instant) {
      (queueClock, rate.plannedStart(at: queueClock.now))
    }
  }

  private struct Start: Sendable {
    let rate: AttemptRate
    let attempt: Weak<Procedure>
    /// Whether a late timer is a reason for another pause. Only once for each start: timers may be
    /// later than the period each time.
    let looksAtTimer: Bool
  }

  /// Written only when the pause is made.
  private var start: Start?

  convenience init(before attempt: Procedure, of rate: AttemptRate, looksAtTimer: Bool = true) {
    self.init(name: "Next of every \(rate.period.short)", until: End(rate: rate))
    start = Start(rate: rate, attempt: Weak(attempt), looksAtTimer: looksAtTimer)
  }

  override func endHasCome() {
    // 1. Usually the attempt can start now.
    let letsStart = peek { $0.list }?.letsMembersStart ?? true
    guard let start,
      !letsStart || (start.looksAtTimer && start.rate.missesNext(at: clock.now))
    else { return super.endHasCome() }
    // 2. Not on the timer's thread, which may not release the last reference to an attempt.
    clock.service.deliver { [self] in
      addPause(for: start, looksAtTimer: !letsStart)
      finish()
    }
  }

  /// Adds another pause, which begins when the attempt could start.
  private func addPause(for start: Start, looksAtTimer: Bool) {
    // The user may have taken back that the attempt waits for the pause.
    guard let attempt = start.attempt.object, attempt.dependencies.contains(self),
      let group = peek({ $0.list })?.group
    else { return }
    let pause = RatePause(before: attempt, of: start.rate, looksAtTimer: looksAtTimer)
    if attempt.add(Dependency(on: pause)) { group.add(child: pause) }
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
    case .rate(let rate):
      return .until(rate.next(at: clock.now), rate)
    }
  }
}

enum AttemptPause: Sendable {
  /// It is counted from the finish of the previous attempt.
  case length(Duration)
  /// It ends at an instant, even if the previous attempt took long.
  case until(ContinuousClock.Instant, AttemptRate)

  /// Makes the procedure for which the attempt waits; nil for no pause.
  func delay(before attempt: Procedure, in group: GroupProcedure) -> AttemptDelay? {
    switch self {
    case .length(let length):
      return length > .zero ? AttemptDelay(by: length) : nil
    case .until(let instant, let rate):
      let isAhead = instant > group.clock.now
      if rate.skipsMissedStarts {
        return isAhead || group.isSuspended ? RatePause(before: attempt, of: rate) : nil
      }
      return isAhead
        ? AttemptDelay(name: "Next of every \(rate.period.short)", until: instant) : nil
    }
  }
}
