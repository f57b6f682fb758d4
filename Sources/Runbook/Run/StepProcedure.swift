import Foundation
import Procedures
import ProceduresFoundation

/// Runs one step of a plan, if everything it is after succeeded.
///
/// It only decides and waits, so any number may execute at once. The command itself is a procedure
/// of its own on the queue `jobs`, which all steps share, in a group or not: the limit of that
/// queue is the limit on running commands, and the step's timeout counts from when it got its turn.
final class StepProcedure: Procedure, @unchecked Sendable {
  let step: Step
  let command: ProcessProcedure
  private let jobs: ProcedureQueue
  private var prerequisites: [StepProcedure] = []

  init(
    _ step: Step, jobs: ProcedureQueue, gracePeriod: Duration,
    output: @escaping @Sendable (Data) -> Void
  ) {
    self.step = step
    self.jobs = jobs
    command = ProcessProcedure("/bin/sh", arguments: ["-c", step.run]) { configuration in
      configuration.directory = step.directory
      configuration.environment.merge(step.environment) { _, new in new }
      configuration.standardOutput = .streamed(output)
      configuration.mergesStandardError = true
      configuration.endsDescendants = true
      configuration.terminationGracePeriod = gracePeriod
    }
    super.init()
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
  func kill() { command.kill() }

  private var hasSucceeded: Bool {
    if case .succeeded? = outcome { true } else { false }
  }
}
