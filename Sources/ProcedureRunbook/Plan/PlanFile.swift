/// Reads a plan from JSON, with the files that it includes; every error names the line, and the file where that is
/// an included one.
///
/// ```
/// each file, once → parameters, pools and secrets of all → the steps of each, with its own defaults
/// → one for each value and file → the names of their inputs
/// ```
enum PlanFile {
  static let stepKeys =
    [
      "name", "description", "each", "run", "after", "always", "onFailure", "group", "exclusive",
      "pool", "onlyIf", "unless", "inputs", "outputsOf", "outputs", "depfile", "terminal",
      "service", "ready", "readyLine",
    ] + StepTemplate.keys
  /// A service runs beside the steps that need it: it waits for no place, and is never up to date.
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
      from: file.contents(), directory: directory(of: file), parameters: parameters,
      after: journals)
  }

  /// Where steps run that say nothing else: the folder of the plan, or where we are if that is in none.
  static func directory(of file: InputFile) throws(PlanError) -> String {
    let folder = file.folder ?? Directory.current
    guard let text = folder.text else { throw PlanError(.directoryNoText(folder.visible)) }
    return text
  }

  /// - Parameter directory: where steps run that say nothing else, and what their directories are
  ///   relative to.
  /// - Parameter parameters: values in place of those in the plan.
  /// - Parameter journals: say what steps have made before; nil for a plan that is not run.
  static func plan(
    from bytes: some Sequence<UInt8>, directory: String? = nil,
    parameters: [String: String] = [:], after journals: RunJournals? = nil
  ) throws(PlanError) -> Plan {
    let parts = try PlanPart.all(from: bytes, directory: directory)
    journals?.note(includedPlans: parts.compactMap(\.includedPlan))
    var (known, pools, secrets): ([String: String], [String: Int], [String]) = ([:], [:], [])
    // What includes comes later, and decides.
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
    // Most plans have no pattern that would ask for it.
    lazy var before = journals.map { MadeBefore($0) } ?? MadeBefore()
    let isMadeBefore = { before.contains($0) }
    let named = try InputFiles.named(
      in: EachSteps.steps(steps, isMadeBefore: isMadeBefore), isMadeBefore: isMadeBefore)
    return try Plan(steps: named, pools: pools, secrets: secrets)
  }
}
