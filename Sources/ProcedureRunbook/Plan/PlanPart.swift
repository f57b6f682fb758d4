/// One of the files of a plan: the plan itself, or a file that it includes.
struct PlanPart {
  /// The name by which another file includes it; nil for the plan itself.
  private let file: String?
  /// The path of that file, with links resolved.
  let includedPlan: FilePath?
  /// The directory that its paths are relative to.
  private let directory: String?
  /// nil if the file is only a list of steps.
  private let object: PlanObject?
  private let list: JSONValue
  let parameters: [String: String]
  let pools: [String: Int]
  let secrets: [String]

  /// Returns the plan's files, each once, and each behind the files that it includes.
  ///
  /// - Parameter plan: the path of the plan, with links resolved; nil if it has none.
  static func all(
    from bytes: some Sequence<UInt8>, _ plan: FilePath?, directory: String?
  ) throws(PlanError) -> [PlanPart] {
    var (parts, seen): ([PlanPart], Set<FilePath>) = ([], [])
    try add(
      PlanPart(from: bytes, file: nil, nil, directory: directory), to: &parts, &seen,
      way: [plan ?? RunJournals.noPlan])
    return parts
  }

  /// - Parameter way: the files that include each other down to this one.
  private static func add(
    _ part: PlanPart, to parts: inout [PlanPart], _ seen: inout Set<FilePath>, way: [FilePath]
  ) throws(PlanError) {
    guard way.count <= 100 else { throw PlanError(.includedTooDeep, file: part.file) }
    for include in try part.includes {
      let path = Directory.path(include, in: part.directory)
      let input = InputFile(path)
      let place = input.resolved ?? FilePath(path)
      if let first = way.firstIndex(of: place) {
        let folder = way[0].folder ?? FilePath("/")
        let files = (way[first...] + [place]).map { file in
          (file.name(in: folder).map { FilePath($0) } ?? file).visible
        }
        throw PlanError(
          .cycleOfPlans(files), line: part.object?.line(of: "include"), file: part.file)
      }
      guard seen.insert(place).inserted else { continue }
      let (bytes, directory): ([UInt8], String)
      do throws(PlanError) {
        (bytes, directory) = (try input.contents(), try PlanFile.directory(of: input))
      } catch {
        throw PlanError(error.problem, line: part.object?.line(of: "include"), file: part.file)
      }
      let inner = try PlanPart(
        from: bytes, file: path, input.resolved, directory: directory)
      try add(inner, to: &parts, &seen, way: way + [place])
    }
    parts.append(part)
  }

  private init(
    from bytes: some Sequence<UInt8>, file: String?, _ includedPlan: FilePath?, directory: String?
  ) throws(PlanError) {
    (self.file, self.includedPlan, self.directory) = (file, includedPlan, directory)
    do throws(PlanError) {
      let root = try JSONReader.read(bytes, longKey: "steps")
      guard case .object(let members) = root.content else {
        (object, list, parameters, pools, secrets) = (nil, root, [:], [:], [])
        return
      }
      let plan = try PlanObject(
        members, of: .plan, line: root.line, allowed: PlanFile.planKeys)
      list =
        file == nil && !plan.has("include")
        ? try plan.required("steps")
        : plan.value("steps") ?? JSONValue(content: .list(.empty), line: root.line)
      parameters = try plan.environment("parameters")
      pools = try plan.numbersByName("pools")
      secrets = try plan.variables("secrets")
      object = plan
    } catch {
      throw error.in(file)
    }
  }

  private var includes: [String] {
    get throws(PlanError) {
      do throws(PlanError) {
        return try object?.arguments("include") ?? []
      } catch {
        throw error.in(file)
      }
    }
  }

  /// Returns its steps, with its own defaults.
  func steps(parameters: [String: String]) throws(PlanError) -> [EachStep] {
    do throws(PlanError) {
      var template = StepTemplate(directory: directory, file: file, parameters: parameters)
      let defaults = try object?.object("defaults", of: .defaults, allowed: StepTemplate.keys)
      if let defaults { try template.read(defaults) }
      guard case .list(let values) = list.content else {
        throw PlanError(
          .wrongType(
            key: "steps", owner: "the plan", expected: "a list of steps", found: list.kind),
          line: list.line)
      }
      var steps: [EachStep] = []
      steps.reserveCapacity(values.count)
      for index in 0..<values.count {
        try add(values.element(index), index + 1, template, to: &steps)
      }
      return steps
    } catch {
      throw error.in(file)
    }
  }

  private func add(
    _ value: JSONValue, _ number: Int, _ template: StepTemplate, to steps: inout [EachStep]
  ) throws(PlanError) {
    guard case .object(let members) = value.content else {
      throw PlanError(
        .wrongType(
          key: "steps", owner: "the plan", expected: "a list of objects", found: value.kind),
        line: value.line)
    }
    var owner: String?
    // The name is read first, so that all later errors can use it.
    if case .string(let name)? = members.first(where: { $0.key == "name" })?.value.content,
      !name.isEmpty
    {
      owner = name
    }
    let object = try PlanObject(
      members, of: .step(number: number, name: owner), line: value.line, allowed: PlanFile.stepKeys)
    let name = try object.text(object.required("name"), "name")
    let (script, isList) = try object.script("run")
    var template = template
    // Most steps have no other keys.
    let isShort = object.has(only: ["name", "run", "after", "group", "inputs", "outputs"])
    if !isShort { try template.read(object) }
    let isService = try object.boolean("service") ?? false
    if isService {
      if let key = object.first(of: PlanFile.keysNotOfServices) {
        throw PlanError(.notOfService(key: key, step: name), line: object.line(of: key))
      }
      template.becomeService()
    }
    var step = template.step(Name(name), run: script)
    step.line = value.line
    step.after = try object.texts("after").map { Name($0) }
    step.group = try object.text("group").map { Name($0) }
    step.inputs = try object.arguments("inputs")
    step.outputs = try object.arguments("outputs")
    if isList { step.stopsAtFailingLine = true }
    guard !isShort else { return steps.append(EachStep(step: step, pattern: nil)) }
    step.description = try object.text("description")
    step.occasion = try occasion(object)
    step.exclusive = try object.texts("exclusive")
    step.pools = try object.texts("pool")
    step.onlyIf = try object.argument("onlyIf")
    step.unless = try object.argument("unless")
    step.depfile = try object.argument("depfile")
    step.terminal = try object.boolean("terminal") ?? false
    step.outputsOf = try object.texts("outputsOf").map { Name($0) }
    (step.isService, step.ready) = (isService, try object.argument("ready"))
    step.readyLine = try object.argument("readyLine")
    if !isService, let key = object.first(of: ["ready", "readyLine"]) {
      throw PlanError(.onlyOfService(key: key, step: name), line: object.line(of: key))
    }
    if step.ready != nil, step.readyLine != nil {
      throw object.error(PlanError.Problem.twoWaysToBeReady)
    }
    steps.append(EachStep(step: step, pattern: try object.pattern("each", in: directory)))
  }

  private func occasion(_ object: PlanObject) throws(PlanError) -> Step.Occasion {
    switch (try object.boolean("always") ?? false, try object.boolean("onFailure") ?? false) {
    case (true, true): throw object.error(PlanError.Problem.alwaysAndOnFailure)
    case (true, false): return .always
    case (false, true): return .failure
    case (false, false): return .success
    }
  }
}
