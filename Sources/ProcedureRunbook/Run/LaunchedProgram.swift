internal import ProcedurePrimitives
import Procedures
import ProceduresProcess

/// A program that runs a step's command elsewhere, and that another command ends.
///
/// A cancel runs that command, and leaves the launcher alone: it ends when the program that it
/// launched has ended. Both are killed if they have not ended after the grace period. If the cancel
/// command fails, the launcher gets SIGTERM, as without such a command.
final class LaunchedProgram: StepProgram, @unchecked Sendable {
  /// The time limit of a cancel command, for any grace period: it only has to pass on a signal.
  static let longestCancel = Duration.seconds(10)

  private let launcher: Launcher
  private let jobName: String
  private let launches: Launches
  private let complainAboutCancel: @Sendable (String) -> Void
  private let isLaunched = Locked(false)

  /// - Parameter complain: called with a line about a cancel command that failed.
  init(
    _ configuration: ProcessConfiguration, makes freshness: StepFreshness?, by launcher: Launcher,
    named jobName: String, _ launches: Launches, complain: @escaping @Sendable (String) -> Void
  ) {
    self.launcher = launcher
    self.jobName = jobName
    self.launches = launches
    complainAboutCancel = complain
    super.init(
      configuration, makes: freshness, isElsewhere: true, complain: complain, warn: complain)
  }

  override func execute() {
    isLaunched.withLock { $0 = true }
    super.execute()
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    // It does not test the process, which may run before its identifier is known here.
    guard isLaunched.withLock({ $0 }), let cancel = command(.terminate) else {
      return super.procedureDidCancel(withErrors: errors)
    }
    cancel.addDidFinishBlockObserver { [complainAboutCancel] _, errors in
      guard let error = errors.first as? ProcessError else {
        // The launcher has not started yet, so it can be cancelled directly.
        if self.processIdentifier == nil { super.procedureDidCancel(withErrors: []) }
        return
      }
      let reason = error.result?.exit.description ?? error.description
      let said = error.errorText.isEmpty ? "" : ": \(error.errorText)"
      complainAboutCancel("the launcher's cancel command \(reason)\(said)")
      super.procedureDidCancel(withErrors: [])
    }
    let patience = DelayProcedure(by: configuration.terminationGracePeriod)
    patience.addDidFinishBlockObserver { [self] patience, _ in
      if !patience.isCancelled { killAll() }
    }
    addDidFinishBlockObserver { _, _ in patience.cancel() }
    launches.cancels.add(cancel, patience)
  }

  /// Kills the launcher, and its program if a command can.
  ///
  /// A job that is still queued in a cluster would stay there. So the command runs even if it takes
  /// no signal, unless a cancel has run it already.
  func killAll() {
    if isLaunched.withLock({ $0 }), launcher.canKill || !isCancelled, let cancel = command(.kill) {
      launches.cancels.add(cancel)
    }
    kill()
  }

  private func command(_ signal: Launcher.Signal) -> ProcessProcedure? {
    guard let script = launcher.cancelScript(signal, named: jobName) else { return nil }
    let command = ProcessProcedure("/bin/sh", arguments: ["-c", script]) { cancel in
      cancel.directory = configuration.directory
      cancel.environment = configuration.environment
      cancel.standardOutput = .discarded
      cancel.endsDescendants = true
      cancel.terminationGracePeriod = .seconds(1)
    }
    command.name = "cancel of \(name)"
    command.add(observer: TimeoutObserver(by: Self.longestCancel))
    return command
  }
}
