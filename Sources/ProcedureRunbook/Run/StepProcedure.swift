import Foundation
import Procedures
import ProceduresFoundation

/// Runs one step of a plan, if everything it is after succeeded.
///
/// It only decides and waits, so any number may execute at once. The command itself is a procedure
/// of its own on the queue `jobs`, which all steps share, in a group or not: the limit of that
/// queue is the limit on running commands, and the step's timeout counts from when it got its turn.
/// Whether the step is needed, and what it must have for itself, are conditions of the command: they
/// are looked at when all that the step is after has succeeded.
final class StepProcedure: Procedure, @unchecked Sendable {
  let step: Step
  let command: ProcessProcedure
  private let jobs: ProcedureQueue
  private let commandsOfChecks: [ProcessProcedure]
  private var prerequisites: [StepProcedure] = []

  init(
    _ step: Step, jobs: ProcedureQueue, domain: ExclusionDomain, gracePeriod: Duration,
    output: @escaping @Sendable (Data) -> Void
  ) {
    func shell(
      _ script: String, _ configure: (inout ProcessConfiguration) -> Void
    ) -> ProcessProcedure {
      ProcessProcedure("/bin/sh", arguments: ["-c", script]) { configuration in
        configuration.directory = step.directory
        configuration.environment.set(step.environment)
        configuration.endsDescendants = true
        configuration.terminationGracePeriod = gracePeriod
        configure(&configuration)
      }
    }
    self.step = step
    self.jobs = jobs
    command = shell(step.run) { configuration in
      configuration.standardOutput = .streamed(output)
      configuration.mergesStandardError = true
    }
    let scripts: [(key: StepCheck.Key, text: String?)] = [
      (.onlyIf, step.onlyIf), (.unless, step.unless),
    ]
    let checks = scripts.compactMap { key, text in
      text.map { text in
        let check = shell(text) { configuration in
          configuration.standardOutput = .discarded
          configuration.standardError = .streamed(output)
          configuration.successStatuses = Set(0...255)
        }
        return StepCheck(key, of: step, command: check)
      }
    }
    commandsOfChecks = checks.map(\.command)
    super.init()
    for check in checks { command.add(condition: check) }
    for name in step.exclusive {
      command.add(condition: MutuallyExclusive(named: name, in: domain))
    }
    name = step.name
    command.name = "command of \(step.name)"
    if let timeout = step.timeout { command.add(observer: TimeoutObserver(by: timeout)) }
  }

  /// Called before the step is added to a queue or group.
  func require(_ steps: [StepProcedure]) { prerequisites += steps }

  /// A dependency is about order only: the step looks for itself whether they succeeded.
  override func execute() {
    if let other = prerequisites.first(where: { !$0.hasSucceeded }) {
      finish(withError: StepSkipped(name: step.name, prerequisite: other.step.name))
      return
    }
    // `finish` ends the step; until then it executes, although this function returned long ago.
    command.addDidFinishBlockObserver { _, errors in self.finish(withErrors: errors) }
    jobs.add(command)
  }

  /// Passes a cancel on; the command finishes when its program is gone, and the step with it.
  /// A check that runs is cancelled too: the queue `jobs` is done when that is gone.
  ///
  /// When the step did not execute yet there is nothing to do: it finishes without us.
  override func procedureDidCancel(withErrors errors: [any Error]) {
    command.cancel()
  }

  /// Nobody asks for them any more; in a long chain each would keep all those before it alive.
  override func procedureDidFinish(withErrors errors: [any Error]) {
    prerequisites = []
  }

  /// SIGKILL instead of waiting for the grace period of a cancel.
  func kill() {
    command.kill()
    for check in commandsOfChecks { check.kill() }
  }

  /// Whether it has finished without running, because a check said so.
  var wasNotNeeded: Bool { !isCancelled && command.isCancelled && errors.isEmpty }

  private var hasSucceeded: Bool {
    if case .succeeded? = outcome { true } else { false }
  }
}
