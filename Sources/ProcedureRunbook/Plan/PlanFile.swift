/// Reads a plan from JSON, with the files that it includes; every error names the line, and the file where that is
/// an included one.
///
/// ```
/// each file, once → parameters, pools and secrets of all → the steps of each, with its own defaults
/// ```
enum PlanFile {
  static let stepKeys =
    [
      "name", "description", "each", "run", "after", "always", "onFailure", "group", "exclusive",
      "pool", "onlyIf", "unless", "inputs", "outputs", "depfile", "terminal",
    ] + StepTemplate.keys
  static let planKeys = ["steps", "defaults", "pools", "parameters", "secrets", "include"]

  /// Reads the file at a path; `-` is standard input.
  static func plan(
    atPath path: String, parameters: [String: String] = [:]
  ) throws(PlanError) -> Plan {
    try plan(
      from: InputFile(path).contents(), directory: InputFile(path).directory,
      parameters: parameters)
  }

  /// - Parameter directory: where steps run that say nothing else, and what their directories are
  ///   relative to.
  /// - Parameter parameters: values in place of those in the plan.
  static func plan(
    from bytes: some Sequence<UInt8>, directory: String? = nil, parameters: [String: String] = [:]
  ) throws(PlanError) -> Plan {
    let parts = try PlanPart.all(from: bytes, directory: directory)
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
    var steps: [Step] = []
    for part in parts { steps += try part.steps(parameters: known) }
    return try Plan(steps: steps, pools: pools, secrets: secrets)
  }
}
