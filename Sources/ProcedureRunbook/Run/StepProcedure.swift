import Foundation
import Procedures
import ProceduresFoundation

/// Makes the procedure that stands for a step: one attempt at its command, or several.
///
/// ```
/// after: dependencies → all succeeded? → outputs older? → onlyIf, unless → exclusions and a slot → run
/// ```
///
/// All of it is the framework's: what the step is after are dependencies; what decides whether it
/// runs are conditions, in the order above; what it must have for itself are exclusions, granted
/// together with its place among the jobs.
struct StepProcedure {
  let step: Step
  let procedure: Procedure
  let output: StepOutput
  private let command: StepCommand
  private let attempts: AttemptCount

  init(_ command: StepCommand, domain: ExclusionDomain, freshness: OutOfDate?) {
    step = command.step
    output = command.output
    self.command = command
    let attempts = AttemptCount()
    self.attempts = attempts
    if command.step.retries == 0 {
      procedure = Self.counted(command.attempt(), attempts)
    } else {
      procedure = RetryProcedure(
        max: command.step.retries + 1, wait: .constant(command.step.retryDelay)
      ) {
        Self.counted(command.attempt(), attempts)
      }
    }
    procedure.name = step.name
    procedure.add(condition: PrerequisitesSucceeded())
    if let freshness { procedure.add(condition: freshness) }
    for check in command.checks() { procedure.add(condition: check) }
    for name in step.exclusive {
      procedure.add(condition: MutuallyExclusive(named: "step \(name)", in: domain))
    }
    if step.terminal {
      procedure.add(condition: MutuallyExclusive(named: "terminal", in: domain))
    }
  }

  /// How it went; called when it has finished.
  func entry(_ outcome: StepOutcome, since runStart: ContinuousClock.Instant) -> RunRecord.Entry {
    let start = attempts.firstStart
    // That of the program, where there was one only: it does not wait for the reader of its output.
    let command = procedure as? ProcessProcedure
    let duration = command?.result?.duration ?? start.map { .now - $0 }
    return RunRecord.Entry(
      step: step, outcome: outcome, start: start.map { $0 - runStart }, duration: duration,
      attempts: attempts.count, lastOutput: output.last)
  }

  /// Whether its program ended by Ctrl-C, or as one does that was.
  var wasInterrupted: Bool {
    switch (procedure as? ProcessProcedure)?.result?.exit {
    case .signal(SIGINT), .status(128 + SIGINT): true
    default: false
    }
  }

  var hasRun: Bool { attempts.count > 0 }

  private static func counted(
    _ attempt: ProcessProcedure, _ attempts: AttemptCount
  ) -> ProcessProcedure {
    attempt.addWillExecuteBlockObserver { _, _ in attempts.add() }
    return attempt
  }
}

/// How often a step was tried.
final class AttemptCount: @unchecked Sendable {
  private let lock = NSLock()
  private var storedCount = 0
  private var storedStart: ContinuousClock.Instant?

  var count: Int { lock.withLock { storedCount } }
  var firstStart: ContinuousClock.Instant? { lock.withLock { storedStart } }

  func add() {
    lock.withLock {
      storedCount += 1
      storedStart = storedStart ?? .now
    }
  }
}
