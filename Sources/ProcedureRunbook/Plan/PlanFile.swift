import Foundation

/// Reads a plan from JSON; every error names the line.
enum PlanFile {
  static let stepKeys = [
    "name", "run", "after", "group", "exclusive", "onlyIf", "unless", "timeout", "directory",
    "environment",
  ]

  static func plan(atPath path: String) throws(PlanError) -> Plan {
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: path))
    } catch {
      throw PlanError(.unreadable(reason: reason(for: error, path: path)))
    }
    return try plan(from: data)
  }

  static func plan(from bytes: some Sequence<UInt8>) throws(PlanError) -> Plan {
    let root = try JSONReader.read(bytes)
    var list = root
    if case .object(let members) = root.content {
      let plan = try PlanObject(members, of: "the plan", line: root.line, allowed: ["steps"])
      list = try plan.required("steps")
    }
    guard case .array(let values) = list.content else {
      throw PlanError(
        .wrongType(
          key: "steps", owner: "the plan", expected: "a list of steps", found: list.kind),
        line: list.line)
    }
    var steps: [Step] = []
    for (index, value) in values.enumerated() { steps.append(try step(value, index + 1)) }
    return try Plan(steps: steps)
  }

  private static func step(_ value: JSONValue, _ number: Int) throws(PlanError) -> Step {
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
    var step = Step(name: name, run: try object.text(object.required("run"), "run"))
    step.line = value.line
    step.group = try object.text("group")
    step.directory = try object.text("directory")
    step.after = try object.texts("after")
    step.exclusive = try object.texts("exclusive")
    step.onlyIf = try object.text("onlyIf")
    step.unless = try object.text("unless")
    step.environment = try object.textsByName("environment")
    if let timeout = try object.number("timeout") {
      guard timeout.value > 0 else {
        throw PlanError(.negativeTimeout(step: name), line: timeout.line)
      }
      step.timeout = .seconds(min(timeout.value, 1e9))
    }
    return step
  }

  private static func reason(for error: any Error, path: String) -> String {
    var isDirectory: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      return "there is no file '\(path)'"
    }
    if isDirectory.boolValue { return "'\(path)' is a directory" }
    return "'\(path)' may not be read"
  }
}
