/// Stands for what a step runs: equal when it runs the same, with the same variables, on files of the same names.
struct StepIdentity: Equatable, Sendable {
  let command: Fingerprint
  let variables: Fingerprint
  let files: Fingerprint

  init(command: Fingerprint, variables: Fingerprint, files: Fingerprint) {
    (self.command, self.variables, self.files) = (command, variables, files)
  }

  init(of step: Step) {
    var command = Fingerprint()
    command.add(step.run)
    command.add(step.stopsAtFailingLine ? 1 : 0)
    command.add(step.directory ?? "")
    var variables = Fingerprint()
    if !step.environment.isEmpty {
      for (name, value) in step.environment.sorted(by: { $0.key < $1.key }) {
        variables.add(name)
        variables.add(value)
      }
    }
    var files = Fingerprint()
    files.add(step.directory ?? "")
    files.add(step.inputs)
    files.add(step.outputs)
    files.add(step.depfile.map { [$0] } ?? [])
    self.init(command: command, variables: variables, files: files)
  }

  /// Of all three.
  var all: Fingerprint {
    var all = command
    all.add(variables.value)
    all.add(files.value)
    return all
  }
}

/// What is remembered of a step, by what it makes.
enum StepRecord: Sendable {
  /// It was begun, and has not succeeded since.
  case started(Start)
  case succeeded(Success)

  struct Start: Sendable {
    let step: Name
    /// The number of the plan that was run.
    let plan: Int
    /// The files that it makes.
    let outputs: [Int32]
    /// It has succeeded, and why that does not count; nil if it has not.
    let doubt: String?
  }

  /// What a step succeeded with, in versions of files.
  struct Success: Sendable {
    let step: Name
    let plan: Int
    let identity: StepIdentity
    /// In the order of the step, each as it was before the step began.
    let inputs: VersionList
    /// In the order of the step, as it left them; the last one is its `depfile`, if it has one.
    let outputs: VersionList
    /// What its `depfile` named; nil without one.
    let dependencies: VersionList?
  }
}

/// Where the record of a step is kept: at each of its outputs, or at its name if it has none.
enum RecordKeys: Sendable {
  case outputs([FilePath])
  /// With what it runs: two plans may have a step of one name, and nothing that one of them makes is in the way of
  /// the other.
  case name(Name, StepIdentity)
}
