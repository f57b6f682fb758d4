internal import ProcedurePrimitives

/// A condition that lets nothing start for a while once procedures have failed several times in a row: for a service
/// that is down.
///
/// ```swift
/// let breaker = CircuitBreaker(named: "search", after: 5, pause: .seconds(30))
/// fetch.add(condition: breaker)   // each procedure that uses the service
/// ```
///
/// Work that would only wait for a time-out fails at once with `ProcedureError.Code.circuitOpen`, and the service has
/// time to recover. To have procedures wait instead, see `RateLimit.pause(for:clock:)`.
///
/// | state | a procedure asks | one succeeds | one fails | one says nothing |
/// |---|---|---|---|---|
/// | closed | starts | the count begins anew | counts; the last one opens it | |
/// | open, until the pause is over | fails | | | |
/// | open, after that | is the trial: half open | | | |
/// | half open | fails | the trial: closes it | the trial: opens it anew | the trial: open, the next is the trial |
///
/// A failure is a procedure that has executed and ends with errors, its own time-out among them. `isFailure` may leave
/// out an error, such as a missing page: the service has answered, which counts as a success. A procedure says nothing
/// if it did not execute, was cancelled without errors or by its group, or was let in before the circuit last changed.
///
/// Give it to each attempt of a retry, and not to the retry: then each counts, and a retry with enough patience
/// outlasts the pause.
///
/// ## Clock
/// The pause is by the clock of the procedure's queue, and virtual in a simulation.
///
/// ## Thread safety
/// Any number of procedures on any queues may share it, and of the callers at one moment one is the trial.
///
/// ## Cost
/// No timer and no task: the pause is over when somebody asks after it.
public final class CircuitBreaker: SynchronousCondition {
  /// Whether procedures may start.
  public enum State: Sendable {
    /// They may.
    case closed
    /// They may not, since too many have failed.
    case open
    /// One tries.
    case halfOpen
  }

  /// The name in errors and snapshots.
  public let name: String

  private let limit: Int
  private let pause: Duration
  private let isFailure: @Sendable (any Error) -> Bool
  private let circuit = Locked(Circuit())

  /// Makes a closed one.
  ///
  /// - Parameters:
  ///   - name: the service, for errors and snapshots.
  ///   - failures: how many in a row open it: less than one is a programmer error, and traps.
  ///   - pause: how long nothing starts then.
  ///   - isFailure: whether an error speaks against the service. Called in turns of the procedures; all do by default.
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

  /// Its state at this moment. Open also after the pause, until a procedure asks.
  public var state: State { circuit.withLock { $0.publicState } }

  /// Lets it start, or fails at once. Observes it from then on.
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
            "'\(procedure.name)' was not started: '\(name)' has failed \(limit) times in a row. "
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

  /// Calls the user's closure.
  private func verdict(on procedure: Procedure, _ errors: [any Error]) -> Circuit.Verdict {
    let errors = errors.filter { ($0 as? ProcedureError)?.isOfGroup != true }
    if errors.isEmpty { return procedure.isCancelled ? .nothing : .success }
    return errors.contains(where: isFailure) ? .failure : .success
  }
}

/// The state of a circuit breaker. Each procedure that was let in is known until it ends.
private struct Circuit: Sendable {
  enum State: Sendable {
    case closed(failures: Int)
    case open(until: ContinuousClock.Instant)
    /// The pause is over since then.
    case halfOpen(trial: ObjectIdentifier, since: ContinuousClock.Instant)
  }

  enum Decision: Sendable {
    case mayStart
    /// With the time until a trial may start; nil while one is under way.
    case isOpen(Duration?)
  }

  enum Verdict: Sendable {
    case success
    case failure
    /// It says nothing about the service.
    case nothing
  }

  private var state = State.closed(failures: 0)
  /// Grows each time the circuit opens or closes.
  private var period: UInt64 = 0
  /// Those that were let in, with the period in which they were.
  private var admitted: [ObjectIdentifier: UInt64] = [:]

  var publicState: CircuitBreaker.State {
    switch state {
    case .closed: .closed
    case .open: .open
    case .halfOpen: .halfOpen
    }
  }

  /// - Returns: the decision, and whether the procedure was not known before: one may ask more than once.
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
    // The next one that asks is the trial.
    case (.halfOpen(_, let since), .nothing): open(since)
    }
  }

  private mutating func open(_ until: ContinuousClock.Instant) { change(to: .open(until: until)) }

  /// Those that were let in before say nothing about it any more.
  private mutating func change(to state: State) {
    self.state = state
    period += 1
  }
}

/// Observes one procedure that was let in.
private final class Admission: ProcedureObserver, @unchecked Sendable {
  private let breaker: CircuitBreaker
  private let clock: TimerClock
  /// Touched only in the procedure's turns.
  @safe @exclusivity(unchecked) private var hasExecuted = false

  init(to breaker: CircuitBreaker, by clock: TimerClock) {
    (self.breaker, self.clock) = (breaker, clock)
  }

  var events: ProcedureEvents { [.didExecute, .didFinish] }

  func did(execute procedure: Procedure) { hasExecuted = true }

  func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    breaker.ended(procedure, errors, hasExecuted: hasExecuted, on: clock)
  }
}
