/// One step of a plan: a shell command, and the steps that must succeed before it.
///
/// A plan may have many. The common values are stored here; the rarer ones are shared by steps
/// until one of them changes.
@dynamicMemberLookup
struct Step: Sendable, Equatable {
  let name: Name
  /// The command for `/bin/sh -c`.
  let run: String
  var after: [Name] = []
  var group: Name?
  /// The files that it reads, and the files that it makes.
  var inputs: [String] = []
  var outputs: [String] = []
  /// Its line in its file.
  var line: Int?
  /// An array of one element: the steps share its storage until one changes it.
  private var shared: [StepDetails]

  init(
    name: Name, run: String, after: [Name] = [], group: Name? = nil, inputs: [String] = [],
    outputs: [String] = [], _ details: StepDetails.Shared = .none
  ) {
    (self.name, self.run, self.after, self.group) = (name, run, after, group)
    (self.inputs, self.outputs) = (inputs, outputs)
    shared = details.elements
  }

  func named(_ name: Name) -> Step {
    var step = Step(
      name: name, run: run, after: after, group: group, inputs: inputs, outputs: outputs, details)
    step.line = line
    return step
  }

  var details: StepDetails.Shared { StepDetails.Shared(elements: shared) }

  subscript<Value>(dynamicMember path: WritableKeyPath<StepDetails, Value>) -> Value {
    get { shared[0][keyPath: path] }
    set { shared[0][keyPath: path] = newValue }
  }

  /// The required outcome of the steps before it.
  enum Occasion: Sendable, Equatable {
    /// They succeeded, or were not needed.
    case success
    /// They ended in any way, even if the run is being stopped.
    case always
    /// At least one has failed.
    case failure
  }

  /// Whether it runs after steps that did not succeed, even while the run is being stopped.
  var isFollowUp: Bool { self.occasion != .success }

  /// The bytes that the system allows for one argument or variable of a program; a command is one
  /// argument.
  static let longestArgument = 128 << 10
  /// The limit for the names of all inputs, in bytes, which its command gets as `"$@"`: half of the
  /// least that systems allow.
  static let longestArguments = 1 << 20

  /// The shell that runs its command, with arguments: the inputs are `"$@"`.
  var shell: [String] { shell(running: run) }

  func shell(running command: String) -> [String] {
    ["/bin/sh"] + (self.stopsAtFailingLine ? ["-e"] : []) + ["-c", command]
      + (inputs.isEmpty ? [] : ["sh"] + inputs)
  }

  /// The variables that its command gets in an attempt.
  func variables(inAttempt attempt: Int) -> [String: String] { ["RUNBOOK_ATTEMPT": "\(attempt)"] }

  /// The memory of an attempt: further attempts use the last size of the list.
  func memory(inAttempt attempt: Int) -> Int? {
    let sizes = self.memorySizes
    return sizes.isEmpty ? nil : sizes[min(attempt, sizes.count) - 1]
  }
}

/// The rarer values of a step.
struct StepDetails: Sendable, Equatable {
  /// Whether it ends at its first failing line: then `/bin/sh -e -c` runs it.
  var stopsAtFailingLine = false
  /// Names of things that only one step may use at a time: steps that share a name never run at the
  /// same time.
  var exclusive: [String] = []
  var pools: [String] = []
  /// A command for `/bin/sh`: if it fails, the step is not needed.
  var onlyIf: String?
  /// A command for `/bin/sh`: if it succeeds, the step is not needed.
  var unless: String?
  /// A file in which its command lists further files that it has read, as compilers do.
  var depfile: String?
  /// The processors that it uses, and the bytes of memory in each attempt.
  var processors: Int?
  var memorySizes: [Int] = []
  /// Steps and groups whose outputs are added to `inputs`.
  var outputsOf: [Name] = []
  /// The patterns that its values or inputs were found with.
  var watches: [PatternWatch] = []
  /// The names of its `each`, which are variables of its command.
  var eachNames: [String] = []
  /// Whether it runs until the steps that come after it have ended. They begin when it is ready.
  var isService = false
  /// A command that succeeds when the service is ready.
  var ready: String?
  /// A text in its output; the line that has it says that the service is ready.
  var readyLine: String?
  /// Whether its command shares the jobs of the run, as `make` does.
  var usesJobserver = false
  /// The required outcome of the steps before it.
  var occasion = Step.Occasion.success
  /// The time limit of each attempt.
  var timeout: Duration?
  /// How many further attempts follow a failure.
  var retries = 0
  var retryDelay = Duration.zero
  /// Whether it has the terminal while it runs.
  var terminal = false
  /// A command that runs `run`; nil for the launcher of the command line.
  var launcher: String?
  /// A command that ends a program of `launcher`.
  var launcherCancel: String?
  /// The executor that runs its command as a job; nil for the executor of the command line.
  var executorName: String?
  /// Further arguments for the executor's command.
  var executorOptions: String?
  /// An absolute path; nil for the directory of this process.
  var directory: String?
  /// The directory of its file, which has its record; nil for the directory of the plan.
  var home: FilePath?
  /// Variables that are added to the environment of this process.
  var environment: [String: String] = [:]
  /// The files of variables that were read into `environment`: absolute paths, if the plan has a
  /// directory.
  var dotenvFiles: [String] = []
  /// A text for `--list`.
  var description: String?
  /// The included file that has the step; nil for the plan itself.
  var file: String?

  /// Details that steps share, so that they are in memory once.
  struct Shared: Sendable {
    static let none = Self(StepDetails())

    fileprivate let elements: [StepDetails]

    init(_ details: StepDetails) { elements = [details] }

    fileprivate init(elements: [StepDetails]) { self.elements = elements }
  }
}
