/// What a step and the defaults of a plan can both say.
struct StepTemplate {
  static let keys = [
    "timeout", "retries", "retryDelay", "cpu", "memory", "executor", "executorOptions", "launcher",
    "launcherCancel", "directory", "dotenv", "environment",
  ]

  /// That of the file that it stands in.
  private let fileDirectory: String?
  private var directory: String?
  private var environment: [String: String] = [:]
  private var timeout: Duration?
  private var retries = 0
  private var retryDelay = Duration.zero
  private var processors: Int?
  private var memory: Int?
  private var executor: String?
  private var executorOptions: String?
  private var launcher: String?
  private var launcherCancel: String?

  /// - Parameters:
  ///   - directory: that of the plan's file.
  ///   - parameters: variables, unless a step or the defaults have such ones of their own.
  init(directory: String?, parameters: [String: String] = [:]) {
    fileDirectory = directory
    self.directory = directory
    environment = parameters
  }

  /// Reads what is there over what was read before.
  mutating func read(_ object: PlanObject) throws(PlanError) {
    if let path = try object.argument("directory") {
      directory = Directory.path(path, in: directory)
    }
    for file in try object.arguments("dotenv") {
      environment.merge(try object.dotenv(file, in: fileDirectory)) { _, new in new }
    }
    environment.merge(try object.environment("environment")) { _, new in new }
    timeout = try object.seconds("timeout") ?? timeout
    retries = try object.wholeNumber("retries", least: 0) ?? retries
    retryDelay = try object.seconds("retryDelay") ?? retryDelay
    processors = try object.wholeNumber("cpu", least: 1) ?? processors
    memory = try object.size("memory") ?? memory
    executorOptions = try object.argument("executorOptions") ?? executorOptions
    try readPlace(object)
  }

  /// Where its command runs: what is said last counts.
  private mutating func readPlace(_ object: PlanObject) throws(PlanError) {
    if let name = try object.argument("executor") {
      guard Executors.names.contains(name) else {
        throw PlanError(
          .unknownExecutor(name, known: Executors.names), line: object.line(of: "executor"))
      }
      guard !object.has("launcher") else { throw object.error(PlanError.Problem.twoPlaces) }
      (executor, launcher, launcherCancel) = (name, nil, nil)
    }
    let cancel = try object.argument("launcherCancel")
    if let command = try object.argument("launcher") {
      // One belongs to the other.
      (launcher, launcherCancel, executor) = (command, cancel, nil)
    } else if let cancel {
      guard launcher != nil else { throw object.error(PlanError.Problem.cancelWithoutLauncher) }
      launcherCancel = cancel
    }
  }

  func apply(to step: inout Step) {
    step.directory = directory
    step.environment = environment
    step.timeout = timeout
    step.retries = retries
    step.retryDelay = retryDelay
    step.processors = processors
    step.memory = memory
    step.executor = executor
    step.executorOptions = executorOptions
    step.launcher = launcher
    step.launcherCancel = launcherCancel
  }
}
