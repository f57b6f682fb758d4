/// One step of a plan: a shell command, and what must have succeeded before it.
///
/// There may be many: what most of them say is here, and the rest in one place that steps share until one says
/// something else.
@dynamicMemberLookup
struct Step: Sendable, Equatable {
  let name: String
  /// Given to `/bin/sh -c`.
  let run: String
  /// Names of steps and groups.
  var after: [String] = []
  var group: String?
  /// Files that it reads, and files that it makes. When these are newer, it is not needed.
  var inputs: [String] = []
  var outputs: [String] = []
  /// Where it stands in its file.
  var line: Int?
  /// The one element of an array, which is shared until it is changed.
  private var shared: [StepDetails]

  init(
    name: String, run: String, after: [String] = [], group: String? = nil, inputs: [String] = [],
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

  /// The shell that runs its command, with its arguments.
  var shell: [String] { ["/bin/sh"] + (self.stopsAtFailingLine ? ["-e"] : []) + ["-c", run] }
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
  /// How many processors it uses, and how many bytes of memory.
  var processors: Int?
  var memory: Int?
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
