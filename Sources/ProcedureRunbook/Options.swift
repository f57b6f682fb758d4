struct Options: Equatable {
  enum Task: Equatable { case run, dryRun, check, list, graph, prune, prunePreview, help, version }

  var task = Task.run
  /// The plan and the names of steps and groups, in their order. Existing files decide later which
  /// word is which.
  var words: [String] = []
  /// Values of the plan's parameters, from words like `target=release`.
  var parameters: [String: String] = [:]
  /// The plan that its option names.
  var planPath: String?
  var isDemo = false
  /// The directory to change into first.
  var directory: String?
  /// nil: the number of processors.
  var jobs: Int?
  /// The bytes of memory that running steps may use together; nil: the memory of the machine.
  var memory: Int?
  /// The time limit of the whole run.
  var timeout: Duration?
  /// The time between SIGTERM and SIGKILL.
  var gracePeriod = Duration.seconds(3)
  /// The number of failures after which the run is stopped; nil: never.
  var failureLimit: Int? = 1
  var isQuiet = false
  var isVerbose = false
  var colour = Terminal.Colour.automatic
  /// Whether the output of a step is shown in one block when it has ended.
  var groupsOutput = false
  /// Whether steps run even if they are up to date.
  var isForced = false
  var explains = false
  /// Whether to wait for the end of another run in the same directory.
  var waits = false
  var launcher: String?
  /// A command that ends a program of `launcher`.
  var launcherCancel: String?
  /// The executor that runs the commands of steps as jobs.
  var executor: String?
  /// How many jobs may be submitted at once.
  var queued = 100
  /// The interval between questions about all jobs.
  var pollInterval = Duration.seconds(10)
  var logDirectory: String?
  var reportPath: String?
  var junitPath: String?
  /// The files for the timeline: a trace for Perfetto, and a page.
  var tracePath: String?
  var pagePath: String?
  /// Whether the summary of waits is shown at the end.
  var showsSummary = false

  /// The files that a run writes, each with its option.
  var outputFiles: [(option: String, path: String)] {
    [
      ("--report", reportPath), ("--junit", junitPath), ("--trace", tracePath),
      ("--html", pagePath),
    ].compactMap { option, path in path.map { (option, $0) } }
  }

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

  /// Splits a word into the name of a shell variable, an equals sign, and any text; nil for another
  /// word.
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
