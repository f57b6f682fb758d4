/// What a step and the defaults of a plan can both say.
struct StepTemplate {
  private var directory: String?
  private var environment: [String: String] = [:]
  private var timeout: Duration?
  private var retries = 0
  private var retryDelay = Duration.zero
  private var launcher: String?
  private var launcherCancel: String?

  /// - Parameter directory: that of the plan.
  init(directory: String?) { self.directory = directory }

  /// They are variables, unless a step or the defaults have such ones of their own.
  mutating func setParameters(_ parameters: [String: String]) { environment = parameters }

  /// Reads what is there over what was read before.
  mutating func read(_ object: PlanObject) throws(PlanError) {
    if let path = try object.argument("directory") {
      directory = path.hasPrefix("/") ? path : directory.map { "\($0)/\(path)" } ?? path
    }
    environment.merge(try object.environment("environment")) { _, new in new }
    timeout = try object.seconds("timeout") ?? timeout
    retries = try object.wholeNumber("retries") ?? retries
    retryDelay = try object.seconds("retryDelay") ?? retryDelay
    let cancel = try object.argument("launcherCancel")
    if let command = try object.argument("launcher") {
      // One belongs to the other.
      (launcher, launcherCancel) = (command, cancel)
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
    step.launcher = launcher
    step.launcherCancel = launcherCancel
  }
}
