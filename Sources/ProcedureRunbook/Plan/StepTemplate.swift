import ProceduresProcess

/// The values that both a step and the defaults of a plan can have.
struct StepTemplate {
  static let keys = [
    "timeout", "retries", "retryDelay", "cpu", "memory", "executor", "executorOptions", "launcher",
    "launcherCancel", "directory", "dotenv", "environment", "jobserver",
  ]

  /// The directory of the file that has the steps.
  private let fileDirectory: String?
  private var details = StepDetails()
  /// The details of steps without such values of their own.
  private var shared: StepDetails.Shared

  /// - Parameters:
  ///   - directory: the directory of the plan's file.
  ///   - file: the file, if it is an included one.
  ///   - parameters: variables that a step or the defaults may replace.
  init(directory: String?, file: String? = nil, parameters: [String: String] = [:]) {
    fileDirectory = directory
    (details.directory, details.environment) = (directory, parameters)
    (details.file, details.home) = (file, directory.map { FilePath($0) })
    shared = StepDetails.Shared(details)
  }

  /// Reads an object; its values replace earlier ones.
  mutating func read(_ object: PlanObject) throws(PlanError) {
    if let path = try object.argument("directory") {
      details.directory = Directory.path(path, in: details.directory)
    }
    for file in try object.arguments("dotenv") {
      details.dotenvFiles.append(Directory.path(file, in: fileDirectory))
      for (name, value) in try object.dotenv(file, in: fileDirectory) {
        // Variables of the process that started `runbook` replace those of the file, but not those
        // of the plan.
        if let inherited = ProcessEnvironment.inherited[name] {
          details.environment[name] = details.environment[name] ?? inherited
        } else {
          details.environment[name] = value
        }
      }
    }
    details.environment.merge(try object.environment("environment")) { _, new in new }
    details.timeout = try object.seconds("timeout") ?? details.timeout
    details.retries = try object.wholeNumber("retries", least: 0) ?? details.retries
    details.retryDelay = try object.seconds("retryDelay") ?? details.retryDelay
    details.processors = try object.wholeNumber("cpu", least: 1) ?? details.processors
    let memory = try object.sizes("memory")
    if !memory.isEmpty { details.memorySizes = memory }
    details.usesJobserver = try object.boolean("jobserver") ?? details.usesJobserver
    details.executorOptions = try object.argument("executorOptions") ?? details.executorOptions
    try readPlace(object)
    shared = StepDetails.Shared(details)
  }

  /// Reads where the command runs: the last value counts.
  private mutating func readPlace(_ object: PlanObject) throws(PlanError) {
    if let name = try object.argument("executor") {
      guard Executors.names.contains(name) else {
        throw PlanError(
          .unknownExecutor(name, known: Executors.names), line: object.line(of: "executor"))
      }
      guard !object.has("launcher") else { throw object.error(PlanError.Problem.twoPlaces) }
      (details.executorName, details.launcher, details.launcherCancel) = (name, nil, nil)
    }
    let cancel = try object.argument("launcherCancel")
    if let command = try object.argument("launcher") {
      // Launcher and cancel command belong together.
      (details.launcher, details.launcherCancel, details.executorName) = (command, cancel, nil)
    } else if let cancel {
      guard details.launcher != nil else {
        throw object.error(PlanError.Problem.cancelWithoutLauncher)
      }
      details.launcherCancel = cancel
    }
  }

  /// Drops defaults that a service does not have.
  mutating func becomeService() {
    (details.retries, details.processors, details.memorySizes) = (0, nil, [])
    (details.launcher, details.launcherCancel, details.executorName) = (nil, nil, nil)
    (details.executorOptions, details.usesJobserver) = (nil, false)
    shared = StepDetails.Shared(details)
  }

  func step(_ name: Name, run: String) -> Step { Step(name: name, run: run, shared) }
}
