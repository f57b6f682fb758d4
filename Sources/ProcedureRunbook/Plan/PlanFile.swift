/// Reads a plan from JSON, with the files that it includes. Every error names the line, and the
/// included file if it is in one.
///
/// ```
/// each file, once → parameters, pools and secrets of all → steps of each, with its own defaults
/// → one step for each value and file → names of their inputs
/// ```
enum PlanFile {
  static let stepKeys =
    [
      "name", "description", "each", "run", "after", "always", "onFailure", "group", "exclusive",
      "pool", "onlyIf", "unless", "inputs", "outputsOf", "outputs", "depfile", "terminal",
      "service", "ready", "readyLine",
    ] + StepTemplate.keys
  /// A service runs beside the steps that need it: it takes no place, and is never up to date.
  static let keysNotOfServices = [
    "always", "onFailure", "exclusive", "pool", "inputs", "outputsOf", "outputs", "depfile",
    "terminal", "cpu", "memory", "retries", "retryDelay", "executor", "executorOptions",
    "launcher", "launcherCancel", "jobserver",
  ]
  static let planKeys = ["steps", "defaults", "pools", "parameters", "secrets", "include"]

  /// Reads the file at a path; `-` is standard input.
  static func plan(
    atPath path: String, parameters: [String: String] = [:], after journals: RunJournals? = nil
  ) throws(PlanError) -> Plan {
    try plan(in: InputFile(path), parameters: parameters, after: journals)
  }

  static func plan(
    in file: InputFile, parameters: [String: String] = [:], after journals: RunJournals? = nil
  ) throws(PlanError) -> Plan {
    try plan(
      from: file.contents(), file.resolved, directory: directory(of: file), parameters: parameters,
      after: journals)
  }

  /// The default directory of steps: the folder of the plan, or the current directory if it has
  /// none.
  static func directory(of file: InputFile) throws(PlanError) -> String {
    let folder = file.folder ?? Directory.current
    guard let text = folder.text else { throw PlanError(.directoryNoText(folder.visible)) }
    return text
  }

  /// - Parameter path: the path of the plan, with links resolved; nil if it has none.
  /// - Parameter directory: the default directory of steps, and the base of their directories.
  /// - Parameter parameters: values that replace those in the plan.
  /// - Parameter journals: the files that steps have made before; nil for a plan that is not run.
  static func plan(
    from bytes: some Sequence<UInt8>, _ path: FilePath? = nil, directory: String? = nil,
    parameters: [String: String] = [:], after journals: RunJournals? = nil
  ) throws(PlanError) -> Plan {
    let parts = try PlanPart.all(from: bytes, path, directory: directory)
    journals?.note(includedPlans: parts.compactMap(\.includedPlan))
    var (known, pools, secrets): ([String: String], [String: Int], [String]) = ([:], [:], [])
    // An including file comes later, and overrides the included one.
    for part in parts {
      known.merge(part.parameters) { _, new in new }
      pools.merge(part.pools) { _, new in new }
      secrets += part.secrets.filter { !secrets.contains($0) }
    }
    if let name = parameters.keys.sorted().first(where: { known[$0] == nil }) {
      throw PlanError(.unknownParameter(name, known: known.keys.sorted()))
    }
    known.merge(parameters) { _, new in new }
    var steps: [EachStep] = []
    for part in parts { steps += try part.steps(parameters: known) }
    // It is lazy, since most plans have no patterns.
    lazy var before = journals.map { MadeBefore($0) } ?? MadeBefore()
    let isMadeBefore = { before.contains($0) }
    let named = try InputFiles.named(
      in: EachSteps.steps(steps, isMadeBefore: isMadeBefore), isMadeBefore: isMadeBefore)
    return try Plan(steps: named, pools: pools, secrets: secrets)
  }
}
