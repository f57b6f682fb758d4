/// Replaces patterns and `outputsOf` in the inputs of steps by the names of files.
///
/// ```
/// "outputsOf": "objects"        the outputs of the steps of a group
/// "inputs": "src/**/*.md"       existing files, and outputs of steps of the plan
/// ```
///
/// Each pattern is searched once, since a thousand steps may read the same thousand headers.
struct InputFiles {
  private let steps: [Step]
  /// The steps that have a name, or are in a group of that name.
  private var stepsByName: [Name: [Int]] = [:]
  /// The outputs of steps, by their folders: both as shortest paths.
  private var made: [FilePath: [Made]] = [:]

  private struct Made {
    let path: FilePath
    let shortest: FilePath
    let step: Int
  }

  /// A pattern with its directory, or a name with the directory that its outputs are relative to.
  private struct Key: Hashable {
    let text: Name
    let directory: FilePath?

    init(_ text: String, of step: Step) {
      (self.text, directory) = (Name(text), step.directory.map { FilePath($0) })
    }
  }

  private struct Found {
    /// The paths by their shortest paths, so that an existing file that a step makes is listed
    /// once.
    let paths: [FilePath: FilePath]
    let names: Names
    let watched: PatternWatch.Files
  }

  /// The names in the order of their bytes.
  private struct Names {
    private(set) var texts: [String] = []
    /// The first name that is not UTF-8.
    private(set) var noText: FilePath?

    init(_ paths: some Sequence<FilePath>, of step: Step) {
      for name in paths.sorted().map(step.relative) {
        if let text = name.text { texts.append(text) } else { noText = noText ?? name }
      }
    }
  }

  private var found: [Key: Found] = [:]
  private var outputs: [Key: [String]] = [:]
  private let isMadeBefore: (FilePath) -> Bool

  static func named(
    in steps: [Step], isMadeBefore: @escaping (FilePath) -> Bool
  ) throws(PlanError) -> [Step] {
    let several = steps.indices.filter { standsForSeveral(steps[$0]) }
    guard !several.isEmpty else { return steps }
    var files = Self(steps, isMadeBefore)
    var result = steps
    for index in several { result[index] = try files.named(index) }
    return result
  }

  private static func standsForSeveral(_ step: Step) -> Bool {
    !step.outputsOf.isEmpty
      || step.inputs.contains { $0.utf8.contains(UInt8(ascii: "*")) }
  }

  private init(_ steps: [Step], _ isMadeBefore: @escaping (FilePath) -> Bool) {
    (self.steps, self.isMadeBefore) = (steps, isMadeBefore)
    for (index, step) in steps.enumerated() {
      stepsByName[step.name, default: []].append(index)
      if let group = step.group { stepsByName[group, default: []].append(index) }
      for output in step.outputs {
        let path = step.path(of: output)
        let shortest = path.shortest
        guard let folder = shortest.folder else { continue }
        made[folder, default: []].append(Made(path: path, shortest: shortest, step: index))
      }
    }
  }

  private mutating func named(_ index: Int) throws(PlanError) -> Step {
    var step = steps[index]
    var lists: [[String]] = []
    for input in step.inputs {
      lists.append(
        FilePattern.isPattern(input)
          ? try files(of: input, for: &step) : [FilePattern.literal(input)])
    }
    for name in step.outputsOf {
      lists.append(try outputs(of: name, for: step))
      if !step.after.contains(name) { step.after.append(name) }
    }
    if lists.count == 1 {
      step.inputs = lists[0]
    } else {
      var known: Set<FilePath> = []
      step.inputs = lists.joined().filter { known.insert(step.path(of: $0)).inserted }
    }
    return step
  }

  // MARK: Outputs of steps

  private mutating func outputs(of name: Name, for step: Step) throws(PlanError) -> [String] {
    let key = Key(name.text, of: step)
    if let known = outputs[key] { return known }
    guard let makers = stepsByName[name] else {
      let known = Array(stepsByName.keys)
      throw PlanError(
        .unknownMaker(name, step: step.name, nearest: Spelling.nearest(to: name, in: known)),
        in: step)
    }
    var known: Set<FilePath> = []
    let names = makers.flatMap { maker in
      steps[maker].outputs.map { step.relative(steps[maker].path(of: $0)) }
    }.filter { known.insert($0).inserted }.compactMap(\.text)
    guard !names.isEmpty else {
      throw PlanError(.makerWithoutOutputs(name, step: step.name), in: step)
    }
    outputs[key] = names
    return names
  }

  // MARK: Patterns

  private mutating func files(
    of text: String, for step: inout Step
  ) throws(PlanError) -> [String] {
    let key = Key(text, of: step)
    let found: Found
    if let known = self.found[key] {
      found = known
    } else {
      found = try look(for: text, step)
      self.found[key] = found
    }
    // The step's own outputs do not become its inputs.
    let own = Set(
      step.madePaths.map(\.shortest).filter { found.watched.pattern.value(in: $0) != nil })
    let names =
      own.isEmpty
      ? found.names
      : Names(found.paths.lazy.filter { !own.contains($0.key) }.map(\.value), of: step)
    if let name = names.noText {
      throw PlanError(.foundNoText(name.visible, text), in: step)
    }
    guard !names.texts.isEmpty else {
      throw PlanError(.noFile(text, key: "inputs", step: step.name), in: step)
    }
    step.watches.append(
      PatternWatch(found.watched, key: "inputs", step: step.name, makesItself: own))
    return names.texts
  }

  private func look(for text: String, _ step: Step) throws(PlanError) -> Found {
    let pattern = FilePattern(text, in: step.directory)
    try checkFolders(above: pattern, of: step)
    var paths: [FilePath: FilePath] = [:]
    for match in pattern.matches() { paths[match.path.shortest] = match.path }
    var known = Set(paths.keys)
    for (shortest, path) in paths where isMadeBefore(path) { paths[shortest] = nil }
    // The file keeps the name that its step gives it, before and after it was made.
    for file in candidates(for: pattern) where pattern.value(in: file.shortest) != nil {
      paths[file.shortest] = file.path
      known.insert(file.shortest)
    }
    return Found(
      paths: paths, names: Names(paths.values, of: step),
      watched: PatternWatch.Files(of: pattern, known: known))
  }

  /// The outputs that may match: of one folder, if all matches are directly in it.
  private func candidates(for pattern: FilePattern) -> [Made] {
    pattern.isInOneFolder ? made[pattern.folder] ?? [] : made.values.flatMap { $0 }
  }

  private func checkFolders(above pattern: FilePattern, of step: Step) throws(PlanError) {
    var path = pattern.folder
    while let folder = path.folder {
      if let maker = made[folder]?.first(where: { $0.shortest == path }) {
        throw PlanError(
          .patternInMadeFolder(
            pattern.text, owner: step.name, folder: step.shown(path),
            maker: steps[maker.step].name), in: step)
      }
      path = folder
    }
  }
}
