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

/// Makes the procedure that stands for a step: one attempt at its command, or several.
///
/// ```
/// after: dependencies → a failure? → outputs older? → onlyIf, unless → exclusions, pools, weights and a slot → run
/// ```
///
/// All of it is the framework's: what the step is after are dependencies, which must have succeeded or
/// had nothing to do; what decides whether it runs are conditions, in the order above; what it must
/// have for itself, or a place in, are exclusions, granted together with its place among the jobs.
struct StepProcedure {
  let step: Step
  let procedure: Procedure
  let output: StepOutput
  /// Whether its command is a job of a cluster.
  let isHandedIn: Bool
  /// nil for a step without outputs.
  let freshness: StepFreshness?
  /// nil for a step that ends by itself.
  let service: Service?
  private let attempts: AttemptCount

  /// - Parameters:
  ///   - pools: how many steps of each pool may run at the same time.
  ///   - machine: what it uses of that.
  ///   - patterns: what must still hold; nil for a step without patterns of files.
  ///   - domain: what steps exclude each other over is theirs alone.
  ///   - hasFailed: whether something that it comes after has failed.
  ///   - began: called when its first attempt begins.
  ///   - again: called when an attempt has failed and there will be another one, with why.
  init(
    _ command: StepCommand, patterns: CompletePatterns?, pools: [String: Int],
    machine: Machine, domain: ExclusionDomain,
    hasFailed: @escaping @Sendable () -> Bool,
    began: @escaping @Sendable (ContinuousClock.Instant) -> Void,
    again: @escaping @Sendable (_ reason: String) -> Void
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
      // Where all have the same it is taken once, together with the place among the jobs.
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
        Self.observe(attempt, of: command.step, attempts, again)
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
    // A cluster counts by itself.
    for share in isHandedIn ? [] : machine.shares(of: step) { procedure.add(condition: share) }
  }

  /// How it went; called when it has finished.
  func entry(_ outcome: StepOutcome, since runStart: ContinuousClock.Instant) -> RunRecord.Entry {
    let start = attempts.firstStart
    // That of the program, where there was one only: it does not wait for the reader of its output.
    let command =
      (procedure as? ProcessProcedure)?.result?.duration ?? (procedure as? JobProcedure)?.duration
    let duration = command ?? start.map { .now - $0 }
    return RunRecord.Entry(
      step, outcome, start: start.map { $0 - runStart }, duration: duration,
      untilReady: service?.untilReady, attempts: attempts.count, lastOutput: output.last)
  }

  /// Whether its program ended by Ctrl-C, or as one does that was.
  var wasInterrupted: Bool {
    switch (procedure as? ProcessProcedure)?.result?.exit {
    case .signal(SIGINT), .status(128 + SIGINT): true
    default: false
    }
  }

  var hasRun: Bool { attempts.count > 0 }

  private static func observe(
    _ attempt: Procedure, of step: Step, _ attempts: AttemptCount,
    _ again: @escaping @Sendable (_ reason: String) -> Void
  ) {
    attempt.addDidFinishBlockObserver { attempt, _ in
      let outcome = StepOutcome(of: attempt, step, hasRun: true, runTimeout: nil, groups: [])
      guard outcome.isFailure, attempts.count <= step.retries else { return }
      let reason = outcome.reason ?? outcome.word
      again("\(reason), in attempt \(attempts.count) of \(step.retries + 1)")
    }
  }
}

/// How often a step was tried.
final class AttemptCount: Sendable {
  private let state = Locked(State())

  private struct State {
    var count = 0
    var numbers = 0
    var firstStart: ContinuousClock.Instant?
  }

  var count: Int { state.withLock { $0.count } }
  var firstStart: ContinuousClock.Instant? { state.withLock { $0.firstStart } }

  /// The number of one that is made, and may never start.
  func makeNumber() -> Int {
    state.withLock { state in
      state.numbers += 1
      return state.numbers
    }
  }

  /// Returns how many there are with this one.
  func add(startedAt start: ContinuousClock.Instant) -> Int {
    state.withLock { state in
      state.count += 1
      state.firstStart = state.firstStart ?? start
      return state.count
    }
  }
}
