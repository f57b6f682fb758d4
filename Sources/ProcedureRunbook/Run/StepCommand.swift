import Procedures
import ProceduresProcess

/// Makes the procedures that run the commands of one step.
struct StepCommand: Sendable {
  let step: Step
  let output: StepOutput
  let programs: RunningPrograms
  let gracePeriod: Duration
  /// What runs the step's command; nil for none.
  let launcher: Launcher?
  let launches: Launches
  /// Where its command is handed in as a job, with the journal that remembers it; nil for a program of this machine.
  let cluster: (desk: JobDesk, journal: RunJournal)?
  /// nil for a step without outputs.
  let freshness: StepFreshness?
  /// Called with a sentence about the step that is to be read at the end of the run.
  let complain: @Sendable (String) -> Void

  /// One attempt at the step.
  ///
  /// - Parameter began: called when its command has begun, with when that was.
  func attempt(began: @escaping @Sendable (ContinuousClock.Instant) -> Void) -> Procedure {
    if let cluster {
      let job = JobProcedure(
        step, at: cluster.desk, cluster.journal, makes: freshness, output: output, began: began)
      job.name = step.name
      return job
    }
    let program = program()
    program.addWillExecuteBlockObserver { _, _ in began(.now) }
    return program
  }

  private func program() -> ProcessProcedure {
    let jobName = launcher == nil ? "" : launches.makeName()
    let script = step.shell
    let arguments =
      launcher?.arguments(running: script, named: jobName) ?? Array(script.dropFirst())
    var configuration = shell(arguments)
    configuration.standardOutput = .streamed(output.append)
    configuration.mergesStandardError = true
    if step.terminal, Terminal.isInteractive {
      configuration.terminal = .foreground
      configuration.standardInput = .inherited
      configuration.standardOutput = .inherited
    }
    let program: StepProgram
    if let launcher, launcher.cancel != nil {
      program = LaunchedProgram(
        configuration, makes: freshness, by: launcher, named: jobName, launches
      ) {
        [output] in output.complain($0)
      }
    } else {
      program = StepProgram(configuration, makes: freshness, isElsewhere: launcher != nil) {
        [output, complain] in
        output.complain($0)
        complain($0)
      }
    }
    return prepared(program, named: step.name)
  }

  /// The conditions that decide whether it is needed, in the order in which they are asked.
  func checks() -> [StepCheck] {
    let scripts: [(key: StepCheck.Key, text: String?)] = [
      (.onlyIf, step.onlyIf), (.unless, step.unless),
    ]
    return scripts.compactMap { key, text in
      text.map { text in
        var configuration = shell(["-c", text])
        configuration.standardOutput = .discarded
        configuration.standardError = .streamed(output.append)
        configuration.successStatuses = Set(0...255)
        let command = ProcessProcedure(configuration)
        return StepCheck(
          key: key, command: prepared(command, named: "\(key.rawValue) of \(step.name)"))
      }
    }
  }

  private func shell(_ arguments: [String]) -> ProcessConfiguration {
    var configuration = ProcessConfiguration(program: "/bin/sh", arguments: arguments)
    configuration.directory = step.directory
    configuration.environment.set(step.environment)
    configuration.endsDescendants = true
    configuration.terminationGracePeriod = gracePeriod
    return configuration
  }

  private func prepared(_ command: ProcessProcedure, named name: String) -> ProcessProcedure {
    command.name = name
    if let timeout = step.timeout { command.add(observer: TimeoutObserver(by: timeout)) }
    programs.watch(command)
    return command
  }
}
