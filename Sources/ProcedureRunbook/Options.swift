/// What the command line asks for.
struct Options: Equatable {
  /// What to do with the plan.
  enum Task: Equatable { case run, dryRun, check, list, graph, prune, prunePreview, help, version }

  var task = Task.run
  /// The plan and the names of steps and groups, in the order given: which is which is decided when
  /// it is known what files there are.
  var words: [String] = []
  /// Values of parameters of the plan: words like `target=release`.
  var parameters: [String: String] = [:]
  /// Given by its option.
  var planPath: String?
  var isDemo = false
  /// Where to go first.
  var directory: String?
  /// nil: as many as there are processors.
  var jobs: Int?
  /// How many bytes of memory steps may say they use together; nil: as many as the machine has.
  var memory: Int?
  /// For the whole run.
  var timeout: Duration?
  /// Between SIGTERM and SIGKILL.
  var gracePeriod = Duration.seconds(3)
  /// After how many failures the rest is stopped; nil: never.
  var failureLimit: Int? = 1
  var isQuiet = false
  /// Whether commands are printed when they run.
  var isVerbose = false
  var colour = Terminal.Colour.automatic
  /// Whether the output of a step is shown when it has ended, in one piece.
  var groupsOutput = false
  /// Whether steps run that are up to date.
  var isForced = false
  /// Whether each step says why it runs.
  var explains = false
  /// Whether the end of another run in the same directory is waited for.
  var waits = false
  /// A command that runs the commands of steps.
  var launcher: String?
  /// A command that ends what `launcher` runs.
  var launcherCancel: String?
  /// What the commands of steps are jobs of.
  var executor: String?
  /// How many jobs may be with it at once.
  var queued = 100
  /// How often it is asked what has become of them.
  var pollInterval = Duration.seconds(10)
  var logDirectory: String?
  var reportPath: String?
  var junitPath: String?
  /// Where the timeline goes, for Perfetto and as a page.
  var tracePath: String?
  var pagePath: String?
  /// Whether what waited, and why, is shown at the end.
  var showsSummary = false

  var wantsTimeline: Bool { tracePath != nil || pagePath != nil || showsSummary }

  init(_ arguments: [String]) throws(UsageError) {
    var line = CommandLineReader(arguments)
    while let word = try line.next() {
      switch word {
      case .plain(let text):
        if let (name, value) = Self.parameter(text) {
          parameters[name] = value
        } else {
          words.append(text)
        }
      case .option(let option): try set(option, &line)
      }
    }
    if launcherCancel != nil, launcher == nil {
      throw UsageError("'--launcher-cancel' ends what '--launcher' runs; give that as well")
    }
    if executor != nil, launcher != nil {
      throw UsageError("'--executor' and '--launcher' both say where steps run; give one of them")
    }
    if isDemo, planPath != nil || !words.isEmpty {
      throw UsageError("'--demo' is a plan of its own; give no other, and no steps")
    }
  }

  /// A name as variables of a shell have, an equals sign, and any text.
  private static func parameter(_ word: String) -> (name: String, value: String)? {
    let letters = word.unicodeScalars
    guard let sign = letters.firstIndex(of: "="), sign > word.startIndex else { return nil }
    let name = String(letters[..<sign])
    return isVariable(name) ? (name, String(letters[sign...].dropFirst())) : nil
  }

  static func isVariable(_ name: String) -> Bool {
    name.first?.isNumber == false
      && name.allSatisfy { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
  }

  private mutating func set(
    _ option: String, _ line: inout CommandLineReader
  ) throws(UsageError) {
    switch option {
    case "--file", "-f": planPath = try line.value("the path of a plan")
    case "--directory", "-C": directory = try line.value("a directory")
    case "--jobs", "-j": jobs = try line.number("a whole number above 0")
    case "--memory": memory = try line.size()
    case "--timeout": timeout = try line.seconds()
    case "--grace": gracePeriod = try line.seconds()
    case "--keep-going", "-k":
      failureLimit = line.hasAttachedValue ? try line.number("a whole number above 0") : nil
    case "--logs": logDirectory = try line.value("a directory")
    case "--report": reportPath = try line.value("the path of a file")
    case "--junit": junitPath = try line.value("the path of a file")
    case "--trace": tracePath = try line.value("the path of a file")
    case "--html": pagePath = try line.value("the path of a file")
    case "--summary": showsSummary = try line.flag()
    case "--launcher": launcher = try line.value("a command")
    case "--launcher-cancel": launcherCancel = try line.value("a command")
    case "--executor": executor = try line.choice(of: Executors.names)
    case "--queued": queued = try line.number("a whole number above 0")
    case "--poll": pollInterval = try line.seconds()
    case "--verbose", "-v": isVerbose = try line.flag()
    case "--color", "--colour":
      let name = try line.choice(of: Terminal.Colour.allCases.map(\.rawValue))
      colour = Terminal.Colour(rawValue: name) ?? .automatic
    case "--group-output", "-g": groupsOutput = try line.flag()
    case "--force": isForced = try line.flag()
    case "--explain": explains = try line.flag()
    case "--wait": waits = try line.flag()
    case "--demo": isDemo = try line.flag()
    case "--quiet", "-q": isQuiet = try line.flag()
    case "--dry-run", "-n": task = try line.flag(task == .prune ? .prunePreview : .dryRun)
    case "--check": task = try line.flag(.check)
    case "--list", "-l": task = try line.flag(.list)
    case "--graph": task = try line.flag(.graph)
    case "--prune": task = try line.flag(task == .dryRun ? .prunePreview : .prune)
    case "--version": task = try line.flag(.version)
    case "--help", "-h": task = try line.flag(.help)
    default:
      let hint = Spelling.hint(Spelling.nearest(to: option, in: Help.options))
      throw UsageError("there is no option '\(option)'; \(hint ?? "see 'runbook --help'")")
    }
  }
}
