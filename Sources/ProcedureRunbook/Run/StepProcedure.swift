internal import ProcedurePrimitives
import Procedures
import ProceduresProcess

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The procedure of a step: one attempt at its command, or several.
///
/// ```
/// after: dependencies → a failure? → outputs older? → onlyIf, unless
/// → exclusions, pools, weights and a slot → run
/// ```
///
/// The framework does all of it. Steps in `after` are dependencies, which must have succeeded or
/// been ignored. Conditions decide, in the order above, whether the step runs. Exclusions are
/// granted together with the slot.
struct StepProcedure {
  let step: Step
  let procedure: Procedure
  let output: StepOutput
  /// Whether its command is a cluster job.
  let isHandedIn: Bool
  /// nil for a step without a record.
  let freshness: StepFreshness?
  /// nil for a step that is not a service.
  let service: Service?
  private let attempts: AttemptCount

  /// - Parameters:
  ///   - pools: the number of steps of each pool that may run at the same time.
  ///   - machine: the processors and the memory that it shares.
  ///   - patterns: the patterns to check again; nil for a step without patterns of files.
  ///   - domain: the domain of the exclusions of steps.
  ///   - hasFailed: whether a step before it has failed.
  ///   - began: called when its first attempt begins.
  ///   - again: called with the reason when an attempt has failed and another one follows.
  ///   - interrupted: called when Ctrl-C or Ctrl-\ has ended an attempt that had the terminal and
  ///     that another one may follow.
  init(
    _ command: StepCommand, patterns: CompletePatterns?, pools: [String: Int],
    machine: Machine, domain: ExclusionDomain,
    hasFailed: @escaping @Sendable () -> Bool,
    began: @escaping @Sendable (ContinuousClock.Instant) -> Void,
    again: @escaping @Sendable (_ reason: String) -> Void,
    interrupted: @escaping @Sendable (_ signal: Int32) -> Void
  ) {
    step = command.step
    output = command.output
    freshness = command.freshness
    service = command.service
    isHandedIn = command.cluster != nil
    let attempts = AttemptCount()
    self.attempts = attempts
    let isHandedIn = isHandedIn
    let attempt = { @Sendable in
      let number = attempts.makeNumber()
      let attempt = command.attempt(number) {
        if attempts.add(startedAt: $0) == 1 { began($0) }
      }
      // If all attempts need the same memory, the step takes it once, together with its slot. Else
      // each waits for its own while the step has the slot: if it held the memory of its first
      // attempt and waited for more, two steps could wait for each other.
      if command.step.memorySizes.count > 1, !isHandedIn {
        for share in machine.shares(of: command.step, inAttempt: number) {
          attempt.add(condition: share)
        }
      }
      return attempt
    }
    if command.step.retries == 0 {
      procedure = attempt()
    } else {
      procedure = RetryProcedure(
        max: command.step.retries + 1, wait: .constant(command.step.retryDelay)
      ) {
        let attempt = attempt()
        Self.observe(attempt, of: command, attempts, again, interrupted)
        return attempt
      }
    }
    procedure.name = step.name.text
    if step.occasion == .failure { procedure.add(condition: AfterFailure(hasFailed: hasFailed)) }
    if let patterns { procedure.add(condition: patterns) }
    if let freshness { procedure.add(condition: OutOfDate(freshness: freshness)) }
    for check in command.checks() { procedure.add(condition: check) }
    for name in step.exclusive {
      procedure.add(condition: MutuallyExclusive(named: "step \(name)", in: domain))
    }
    if step.terminal {
      procedure.add(condition: MutuallyExclusive(named: "terminal", in: domain))
    }
    for name in step.pools {
      let pool = ExclusionCategory(named: "pool \(name)", in: domain)
      procedure.add(condition: AtMost(pools[name] ?? 1, of: pool))
    }
    // A cluster has its own limits.
    for share in isHandedIn ? [] : machine.shares(of: step) { procedure.add(condition: share) }
  }

  /// Returns the record of the step; called when it has finished.
  func entry(_ outcome: StepOutcome, since runStart: ContinuousClock.Instant) -> RunRecord.Entry {
    let start = attempts.firstStart
    // If there was only one program or job, its own duration counts, which does not include the
    // wait for the reader of its output.
    let command =
      (procedure as? ProcessProcedure)?.result?.duration ?? (procedure as? JobProcedure)?.duration
    let duration = command ?? start.map { .now - $0 }
    return RunRecord.Entry(
      step, outcome, start: start.map { $0 - runStart }, duration: duration,
      untilReady: service?.untilReady, attempts: attempts.count, lastOutput: output.last)
  }

  /// The signal of Ctrl-C or Ctrl-\ if its program had the terminal and was ended by that, or
  /// exited with the status for that.
  var terminalSignal: Int32? { Self.terminalSignal(in: procedure, of: step) }

  private static func terminalSignal(in attempt: Procedure, of step: Step) -> Int32? {
    guard step.hasTerminal, let exit = (attempt as? ProcessProcedure)?.result?.exit else {
      return nil
    }
    return [SIGINT, SIGQUIT].first { exit == .signal($0) || exit == .status(128 + $0) }
  }

  var hasRun: Bool { attempts.count > 0 }

  private static func observe(
    _ attempt: Procedure, of command: StepCommand, _ attempts: AttemptCount,
    _ again: @escaping @Sendable (_ reason: String) -> Void,
    _ interrupted: @escaping @Sendable (_ signal: Int32) -> Void
  ) {
    let (step, output) = (command.step, command.output)
    // The run is stopped before another attempt is made.
    attempt.addWillFinishBlockObserver { attempt, errors, _ in
      if !errors.isEmpty, let signal = terminalSignal(in: attempt, of: step) { interrupted(signal) }
    }
    attempt.addDidFinishBlockObserver { attempt, _ in
      let outcome = StepOutcome(of: attempt, step, hasRun: true, runTimeout: nil, groups: [])
      guard outcome.isFailure, attempts.count <= step.retries,
        terminalSignal(in: attempt, of: step) == nil
      else { return }
      output.endLine()
      let reason = outcome.reason ?? outcome.word
      again("\(reason), in attempt \(attempts.count) of \(step.retries + 1)")
    }
  }
}

final class AttemptCount: Sendable {
  private let state = Locked(State())

  private struct State {
    var count = 0
    var numbers = 0
    var firstStart: ContinuousClock.Instant?
  }

  var count: Int { state.withLock { $0.count } }
  var firstStart: ContinuousClock.Instant? { state.withLock { $0.firstStart } }

  /// Returns the number of an attempt that is made, and may never start.
  func makeNumber() -> Int {
    state.withLock { state in
      state.numbers += 1
      return state.numbers
    }
  }

  /// Returns the number of started attempts, including this one.
  func add(startedAt start: ContinuousClock.Instant) -> Int {
    state.withLock { state in
      state.count += 1
      state.firstStart = state.firstStart ?? start
      return state.count
    }
  }
}
