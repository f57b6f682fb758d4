/// Reads a plan from JSON; every error names the line.
enum PlanFile {
  static let stepKeys = [
    "name", "description", "each", "run", "after", "group", "exclusive", "pool", "onlyIf", "unless",
    "inputs", "outputs",
    "depfile", "timeout", "retries", "retryDelay", "terminal", "launcher", "launcherCancel",
    "directory", "environment",
  ]
  /// What `defaults` may say for all steps.
  static let defaultKeys = [
    "timeout", "retries", "retryDelay", "launcher", "launcherCancel", "directory", "environment",
  ]
  static let planKeys = ["steps", "defaults", "pools", "parameters"]

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
    let root = try JSONReader.read(bytes)
    var list = root
    var template = StepTemplate(directory: directory)
    var pools: [String: Int] = [:]
    var known: [String: String] = [:]
    if case .object(let members) = root.content {
      let plan = try PlanObject(members, of: "the plan", line: root.line, allowed: planKeys)
      list = try plan.required("steps")
      known = try plan.environment("parameters")
      template.setParameters(known.merging(parameters) { _, new in new })
      if let defaults = try plan.object("defaults", of: "'defaults'", allowed: defaultKeys) {
        try template.read(defaults)
      }
      pools = try plan.numbersByName("pools")
    }
    if let name = parameters.keys.sorted().first(where: { known[$0] == nil }) {
      throw PlanError(.unknownParameter(name, known: known.keys.sorted()))
    }
    guard case .array(let values) = list.content else {
      throw PlanError(
        .wrongType(
          key: "steps", owner: "the plan", expected: "a list of steps", found: list.kind),
        line: list.line)
    }
    var steps: [Step] = []
    for (index, value) in values.enumerated() {
      steps += try self.steps(value, index + 1, template, in: directory)
    }
    return try Plan(steps: steps, pools: pools)
  }

  /// One, or several with `each`.
  private static func steps(
    _ value: JSONValue, _ number: Int, _ template: StepTemplate, in directory: String?
  ) throws(PlanError) -> [Step] {
    guard case .object(let members) = value.content else {
      throw PlanError(
        .wrongType(
          key: "steps", owner: "the plan", expected: "a list of objects", found: value.kind),
        line: value.line)
    }
    var owner = "step \(number)"
    // The name first, so that all other errors can use it.
    if case .string(let name)? = members.first(where: { $0.key == "name" })?.value.content,
      !name.isEmpty
    {
      owner = "step '\(name)'"
    }
    let object = try PlanObject(members, of: owner, line: value.line, allowed: stepKeys)
    let name = try object.text(object.required("name"), "name")
    let (script, isList) = try object.script("run")
    var step = Step(name: name, run: script, stopsAtFailingLine: isList)
    step.line = value.line
    step.description = try object.text("description")
    step.group = try object.text("group")
    step.after = try object.texts("after")
    step.exclusive = try object.texts("exclusive")
    step.pools = try object.texts("pool")
    step.onlyIf = try object.argument("onlyIf")
    step.unless = try object.argument("unless")
    step.inputs = try object.arguments("inputs")
    step.outputs = try object.arguments("outputs")
    step.depfile = try object.argument("depfile")
    step.terminal = try object.boolean("terminal") ?? false
    var template = template
    try template.read(object)
    template.apply(to: &step)
    guard let pattern = try object.pattern("each", in: directory) else { return [step] }
    return pattern.combinations.map { step.filled(with: $0) }
  }
}
