internal import ProcedurePrimitives

/// Keeps procedures from starting for a while after several failures in a row, as when a service is
/// down.
///
/// ```swift
/// let breaker = CircuitBreaker(named: "search", after: 5, pause: .seconds(30))
/// fetch.add(condition: breaker)   // each procedure that uses the service
/// ```
///
/// Work that would only wait for a time-out fails at once with `ProcedureError.Code.circuitOpen`,
/// and the service has time to recover. To have procedures wait instead, see
/// `RateLimit.pause(for:clock:)`.
///
/// | state | a procedure asks | one succeeds | one fails | one ends without a verdict |
/// |---|---|---|---|---|
/// | closed | starts | the count begins anew | counts; the last one opens it | |
/// | open, until the pause is over | fails | | | |
/// | open, after that | is the trial: half open | | | |
/// | half open | fails | the trial: closes it | the trial: opens it anew | the trial: as before |
///
/// A procedure fails if it has executed and ends with errors, its own time-out included.
/// `isFailure` may exclude an error, such as a missing page: the service has answered, which counts
/// as a success. A procedure gives no verdict if it did not execute, was cancelled without errors
/// or by its group, or was admitted before the circuit last opened or closed.
///
/// Add it to each attempt of a retry, and not to the retry: then each attempt counts, and a retry
/// with long enough waits outlasts the pause.
///
/// ## Clock
/// The pause is measured by the clock of the procedure's queue, which is virtual in a simulation.
///
/// ## Thread safety
/// Any number of procedures on any queues may share it; one at a time is the trial.
///
/// ## Cost
/// It needs no timer and no task: the first procedure that asks after the pause ends it.
public final class CircuitBreaker: SynchronousCondition {
  /// Whether procedures may start.
  public enum State: Sendable {
    /// Procedures may start.
    case closed
    /// No procedure may start, since too many have failed.
    case open
    /// One procedure runs as the trial.
    case halfOpen
  }

  /// The name in errors and snapshots.
  public let name: String

  private let limit: Int
  private let pause: Duration
  private let isFailure: @Sendable (any Error) -> Bool
  private let circuit = Locked(Circuit())

  /// Makes a closed circuit breaker.
  ///
  /// - Parameters:
  ///   - name: the service, for errors and snapshots.
  ///   - failures: how many in a row open it; below one is a programmer error, and traps.
  ///   - pause: how long no procedure starts once it is open.
  ///   - isFailure: whether an error counts as a failure of the service; by default every error
  ///     does. Called in the procedures' turns.
  public init(
    named name: String, after failures: Int, pause: Duration,
    isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    guard failures > 0 else {
      stopBecauseOfMisuse(
        "The circuit breaker '\(name)' would open after \(failures) failures, and so before the first procedure. "
          + "Give it one at least.")
    }
    (self.name, limit, self.pause, self.isFailure) = (name, failures, pause, isFailure)
  }

  /// The state at this moment. It stays open after the pause until a procedure asks.
  public var state: State { circuit.withLock { $0.publicState } }

  /// Lets the procedure start and observes it, or fails at once.
  public func evaluate(_ procedure: Procedure) -> ConditionResult {
    let clock = procedure.clock
    let now = clock.now
    let (decision, isNew) = circuit.withLock { $0.ask(ObjectIdentifier(procedure), at: now) }
    switch decision {
    case .mayStart:
      if isNew { procedure.add(observer: Admission(to: self, by: clock)) }
      return .satisfied
    case .isOpen(let left):
      return .failed(
        ProcedureError(
          .circuitOpen, procedure: procedure.name,
          message:
            "'\(procedure.name.onOneLine)' was not started: '\(name.onOneLine)' has failed "
            + (limit == 1 ? "once. " : "\(limit) times in a row. ")
            + (left.map { "Try again in \($0.short)." }
              ?? "Try again when the trial under way has succeeded.")))
    }
  }

  fileprivate func ended(
    _ procedure: Procedure, _ errors: [any Error], hasExecuted: Bool, on clock: TimerClock
  ) {
    let verdict = hasExecuted ? verdict(on: procedure, errors) : .nothing
    let until = clock.now.saturatingAdvanced(by: pause)
    circuit.withLock {
      $0.end(ObjectIdentifier(procedure), verdict, limit: limit, openUntil: until)
    }
  }

  /// Called without a lock, since `isFailure` is user code.
  private func verdict(on procedure: Procedure, _ errors: [any Error]) -> Circuit.Verdict {
    let errors = errors.filter { ($0 as? ProcedureError)?.isOfGroup != true }
    if errors.isEmpty { return procedure.isCancelled ? .nothing : .success }
    return errors.contains(where: isFailure) ? .failure : .success
  }
}

/// Guarded by the lock of its circuit breaker.
private struct Circuit: Sendable {
  enum State: Sendable {
    case closed(failures: Int)
    case open(until: ContinuousClock.Instant)
    /// The trial runs. `since` is the end of the pause.
    case halfOpen(trial: ObjectIdentifier, since: ContinuousClock.Instant)
  }

  enum Decision: Sendable {
    case mayStart
    /// The time until a trial may start; nil while a trial runs.
    case isOpen(Duration?)
  }

  enum Verdict: Sendable {
    case success
    case failure
    case nothing
  }

  private var state = State.closed(failures: 0)
  /// The number of times that the circuit has opened or closed.
  private var period: UInt64 = 0
  /// The admitted procedures, each with the period in which it was admitted.
  private var admitted: [ObjectIdentifier: UInt64] = [:]

  var publicState: CircuitBreaker.State {
    switch state {
    case .closed: .closed
    case .open: .open
    case .halfOpen: .halfOpen
    }
  }

  /// - Returns: the decision, and whether the procedure was not admitted before: its conditions may
  ///   be evaluated more than once.
  mutating func ask(
    _ procedure: ObjectIdentifier, at now: ContinuousClock.Instant
  ) -> (Decision, isNew: Bool) {
    switch state {
    case .closed:
      break
    case .open(let until) where now < until:
      return (.isOpen(now.duration(to: until)), false)
    case .open(let until):
      state = .halfOpen(trial: procedure, since: until)
    case .halfOpen(let trial, _):
      if trial != procedure { return (.isOpen(nil), false) }
    }
    return (.mayStart, admitted.updateValue(period, forKey: procedure) == nil)
  }

  mutating func end(
    _ procedure: ObjectIdentifier, _ verdict: Verdict, limit: Int,
    openUntil until: ContinuousClock.Instant
  ) {
    guard admitted.removeValue(forKey: procedure) == period else { return }
    switch (state, verdict) {
    case (.closed, .nothing), (.open, _): break
    case (.closed, .success): state = .closed(failures: 0)
    case (.closed(let failures), .failure):
      if failures + 1 < limit { state = .closed(failures: failures + 1) } else { open(until) }
    case (.halfOpen, .success): change(to: .closed(failures: 0))
    case (.halfOpen, .failure): open(until)
    // The next procedure that asks is the trial.
    case (.halfOpen(_, let since), .nothing): open(since)
    }
  }

  private mutating func open(_ until: ContinuousClock.Instant) { change(to: .open(until: until)) }

  /// Begins a new period: procedures admitted earlier no longer count.
  private mutating func change(to state: State) {
    self.state = state
    period += 1
  }
}

private final class Admission: ProcedureObserver, @unchecked Sendable {
  private let breaker: CircuitBreaker
  private let clock: TimerClock
  private let hasExecuted = TurnOwned(false)

  init(to breaker: CircuitBreaker, by clock: TimerClock) {
    (self.breaker, self.clock) = (breaker, clock)
  }

  var events: ProcedureEvents { [.didExecute, .didFinish] }

  func did(execute procedure: Procedure) { hasExecuted.value = true }

  func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    breaker.ended(procedure, errors, hasExecuted: hasExecuted.value, on: clock)
  }
}
