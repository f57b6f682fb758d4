/// Identifies the work of a step: equal for the same command, variables, and names of files.
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

  var all: Fingerprint {
    var all = command
    all.add(variables.value)
    all.add(files.value)
    return all
  }
}

/// The record of a step, found by its outputs, or by its name if it has none.
enum StepRecord: Sendable {
  /// It began, and has not succeeded since.
  case started(Start)
  case succeeded(Success)

  struct Start: Sendable {
    let step: Name
    let plan: Int
    /// The numbers of its outputs.
    let outputs: [Int32]
    /// The reason why its success does not count; nil if it has not succeeded.
    let doubt: String?
  }

  /// A success of a step, in versions of files.
  struct Success: Sendable {
    let step: Name
    let plan: Int
    let identity: StepIdentity
    /// The inputs in the order of the step, each as it was before the step began.
    let inputs: VersionList
    /// The outputs in the order of the step, as it left them; the last one is its `depfile`, if it
    /// has one.
    let outputs: VersionList
    /// The files that its `depfile` named; nil without one.
    let dependencies: VersionList?
  }
}

/// The key of a step's record: its outputs, or its name if it has none.
enum RecordKeys: Sendable {
  case outputs([FilePath])
  /// What ran last under the name counts, with any command and in any plan: no file tells whether
  /// it has undone what the one before it did.
  case name(Name)
}
