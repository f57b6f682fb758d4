import Procedures
import ProceduresProcess

/// Makes the procedures that run the commands of one step.
struct StepCommand: Sendable {
  let step: Step
  let output: StepOutput
  let programs: RunningPrograms
  let gracePeriod: Duration
  /// Runs the step's command; nil without a launcher.
  let launcher: Launcher?
  let launches: Launches
  /// The desk that submits its command as a job, and the journal that notes the job; nil for a
  /// program of this machine.
  let cluster: (desk: JobDesk, journal: RunJournal)?
  /// nil for a step without a record.
  let freshness: StepFreshness?
  /// The service that it is; nil for other steps.
  let service: Service?
  /// nil if the step does not use it.
  let jobserver: Jobserver?
  let isVerbose: Bool
  /// Called with a sentence about the step for the end of the run.
  let complain: @Sendable (String) -> Void

  /// Makes one attempt at the step.
  ///
  /// - Parameters:
  ///   - number: 1 for the first.
  ///   - began: called when its command has begun, with the time of that.
  func attempt(
    _ number: Int, began: @escaping @Sendable (ContinuousClock.Instant) -> Void
  ) -> Procedure {
    let began = { @Sendable (start: ContinuousClock.Instant) in
      if isVerbose {
        for line in step.run.filledLines { output.append(line: "$ \(line)") }
      }
      began(start)
    }
    if let cluster {
      let job = JobProcedure(
        step, attempt: number, at: cluster.desk, cluster.journal, makes: freshness,
        output: output, began: began)
      job.name = step.name.text
      return job
    }
    let program = program(number)
    program.addWillExecuteBlockObserver { _, _ in began(.now) }
    return program
  }

  private func program(_ attempt: Int) -> ProcessProcedure {
    let jobName = launcher == nil ? "" : launches.makeName()
    let isSharing = step.usesJobserver && launcher == nil
    let jobserver = isSharing ? jobserver : nil
    let script = jobserver.map { step.shell(running: $0.command(step.run)) } ?? step.shell
    let arguments =
      launcher?.arguments(running: script, named: jobName) ?? Array(script.dropFirst())
    var configuration = shell(arguments)
    configuration.standardOutput = .streamed(output.append)
    configuration.streamsAfterCancel = true
    configuration.mergesStandardError = true
    configuration.environment.set(step.variables(inAttempt: attempt))
    if let jobserver {
      let flags = configuration.environment["MAKEFLAGS"]
      configuration.environment["MAKEFLAGS"] = jobserver.flags(besides: flags)
    }
    if let service { return program(of: service, configuration) }
    if step.hasTerminal {
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
      program = StepProgram(
        configuration, makes: freshness, isElsewhere: launcher != nil,
        complain: { [output, complain] in
          output.complain($0)
          complain($0)
        }, warn: output.complain)
    }
    return prepared(program, named: step.name.text)
  }

  private func program(
    of service: Service, _ configuration: ProcessConfiguration
  ) -> ProcessProcedure {
    var configuration = configuration
    configuration.standardOutput = .streamed { [output] data in
      service.take(data)
      output.append(data)
    }
    let program = ServiceProgram(configuration, of: service, complain: output.complain)
    program.addDidExecuteBlockObserver { [self] _ in service.started(probe) }
    // The time limit of a service applies only until it is ready.
    return prepared(program, named: step.name.text, hasTimeout: false)
  }

  /// Makes a command that tests whether the service is ready.
  private func probe() -> ProcessProcedure? {
    step.ready.map { text in
      let command = check(text, output: .discarded)
      return prepared(command, named: "ready of \(step.name.text)", hasTimeout: false)
    }
  }

  /// The conditions that decide whether it is needed, in the order of their evaluation.
  func checks() -> [StepCheck] {
    let scripts: [(key: StepCheck.Key, text: String?)] = [
      (.onlyIf, step.onlyIf), (.unless, step.unless),
    ]
    return scripts.compactMap { key, text in
      text.map { text in
        let command = check(text, output: .streamed(output.append))
        command.addDidFinishBlockObserver { [output] _, _ in output.endLine() }
        return StepCheck(
          key: key, command: prepared(command, named: "\(key.rawValue) of \(step.name.text)"))
      }
    }
  }

  private func check(_ text: String, output: ProcessOutput) -> ProcessProcedure {
    var configuration = shell(["-c", text])
    configuration.standardOutput = .discarded
    configuration.standardError = output
    configuration.successStatuses = Set(0...255)
    let command = ProcessProcedure(configuration)
    command.addDidFinishBlockObserver { [step = self.output] command, _ in
      if let sentence = command.result?.sentenceAboutLeftOver() { step.complain(sentence) }
    }
    return command
  }

  private func shell(_ arguments: [String]) -> ProcessConfiguration {
    var configuration = ProcessConfiguration(program: "/bin/sh", arguments: arguments)
    configuration.directory = step.directory
    configuration.environment.set(step.environment)
    configuration.endsDescendants = true
    configuration.endsWithThisProcess = true
    configuration.terminationGracePeriod = gracePeriod
    return configuration
  }

  private func prepared(
    _ command: ProcessProcedure, named name: String, hasTimeout: Bool = true
  ) -> ProcessProcedure {
    command.name = name
    if hasTimeout, let timeout = step.timeout {
      // From the start of its program, as its duration: before that it may wait for the jobserver.
      command.addDidExecuteBlockObserver { command in
        command.add(observer: TimeoutObserver(by: timeout))
      }
    }
    programs.watch(command)
    return command
  }
}

extension Step {
  /// Whether its command gets the terminal: it asks for it, and there is one.
  var hasTerminal: Bool { self.terminal && Terminal.isInteractive }
}
