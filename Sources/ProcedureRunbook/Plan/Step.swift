/// One step of a plan: a shell command, and what must have succeeded before it.
///
/// There may be many: what most of them say is here, and the rest in one place that steps share until one says
/// something else.
@dynamicMemberLookup
struct Step: Sendable, Equatable {
  let name: Name
  /// Given to `/bin/sh -c`.
  let run: String
  /// Names of steps and groups.
  var after: [Name] = []
  var group: Name?
  /// Files that it reads, and files that it makes.
  var inputs: [String] = []
  var outputs: [String] = []
  /// Where it stands in its file.
  var line: Int?
  /// The one element of an array, which is shared until it is changed.
  private var shared: [StepDetails]

  init(
    name: Name, run: String, after: [Name] = [], group: Name? = nil, inputs: [String] = [],
    outputs: [String] = [], _ details: StepDetails.Shared = .none
  ) {
    (self.name, self.run, self.after, self.group) = (name, run, after, group)
    (self.inputs, self.outputs) = (inputs, outputs)
    shared = details.elements
  }

  var details: StepDetails.Shared { StepDetails.Shared(elements: shared) }

  subscript<Value>(dynamicMember path: WritableKeyPath<StepDetails, Value>) -> Value {
    get { shared[0][keyPath: path] }
    set { shared[0][keyPath: path] = newValue }
  }

  /// How what it comes after must have ended.
  enum Occasion: Sendable, Equatable {
    /// Succeeded, or not needed.
    case success
    /// However, and also if the run is being stopped.
    case always
    /// At least one has failed.
    case failure
  }

  /// Whether it runs after what did not succeed: it then ends a run that is being stopped.
  var isFollowUp: Bool { self.occasion != .success }

  /// The bytes that the system takes for one word or variable of a program; a command is one word.
  static let longestArgument = 128 << 10
  /// The bytes of the names of all its inputs, which its command has as `"$@"`: half of what systems allow at least.
  static let longestArguments = 1 << 20

  /// The shell that runs its command, with its arguments: the inputs are `"$@"`.
  var shell: [String] { shell(running: run) }

  func shell(running command: String) -> [String] {
    ["/bin/sh"] + (self.stopsAtFailingLine ? ["-e"] : []) + ["-c", command]
      + (inputs.isEmpty ? [] : ["sh"] + inputs)
  }

  /// The variables that its command has of an attempt.
  func variables(inAttempt attempt: Int) -> [String: String] { ["RUNBOOK_ATTEMPT": "\(attempt)"] }

  /// The memory that an attempt uses: each has its own, and the last one of the list is that of all further ones.
  func memory(inAttempt attempt: Int) -> Int? {
    let sizes = self.memorySizes
    return sizes.isEmpty ? nil : sizes[min(attempt, sizes.count) - 1]
  }
}

/// What a step may say besides, and most steps of a plan do not.
struct StepDetails: Sendable, Equatable {
  /// Whether it ends at the first of its lines that fails: then they are given to `/bin/sh -e -c`.
  var stopsAtFailingLine = false
  /// Names of things that only one step may use at a time: steps that share a name never run
  /// together.
  var exclusive: [String] = []
  /// Names of pools that it takes a place in.
  var pools: [String] = []
  /// A command for `/bin/sh` that must succeed, or the step is not needed.
  var onlyIf: String?
  /// A command for `/bin/sh` that must not succeed, or the step is not needed.
  var unless: String?
  /// Written by its command, as compilers do: what else it has read.
  var depfile: String?
  /// How many processors it uses, and how many bytes of memory in each attempt.
  var processors: Int?
  var memorySizes: [Int] = []
  /// Steps and groups whose outputs are inputs of it. `inputs` has them.
  var outputsOf: [Name] = []
  /// The patterns of files that it was made by, or that its inputs were.
  var watches: [PatternWatch] = []
  /// The names of its `each`, which are variables.
  var eachNames: [String] = []
  /// Whether it runs until the steps that come after it have ended. These begin when it is ready.
  var isService = false
  /// A command that succeeds when the service is ready.
  var ready: String?
  /// A text in a line of its output that says that it is ready.
  var readyLine: String?
  /// Whether its command gets a share of the jobs from us, as `make` does.
  var usesJobserver = false
  /// Whether it runs after something that did not succeed.
  var occasion = Step.Occasion.success
  /// For each attempt.
  var timeout: Duration?
  /// How often it is tried again after a failure.
  var retries = 0
  var retryDelay = Duration.zero
  /// Whether it has the terminal while it runs.
  var terminal = false
  /// A command that runs `run`; nil for that of the command line.
  var launcher: String?
  /// A command that ends what `launcher` runs.
  var launcherCancel: String?
  /// What its command is a job of; nil for what the command line says.
  var executorName: String?
  /// Words for that one's command.
  var executorOptions: String?
  /// An absolute path, unless it is that of this process.
  var directory: String?
  /// The directory of the file that it stands in, where its record is; nil for that of the plan.
  var home: FilePath?
  /// Added to the environment of this process.
  var environment: [String: String] = [:]
  /// For the reader of `--list`.
  var description: String?
  /// The file that it stands in, if it is one that the plan includes.
  var file: String?

  /// In memory once, however many steps begin with it.
  struct Shared: Sendable {
    static let none = Self(StepDetails())

    fileprivate let elements: [StepDetails]

    init(_ details: StepDetails) { elements = [details] }

    fileprivate init(elements: [StepDetails]) { self.elements = elements }
  }
}
