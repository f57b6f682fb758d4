/// One step of a plan, or with `each` the pattern of several.
struct EachStep {
  let step: Step
  let pattern: StepPattern?
}

/// Makes the steps of a plan when all of its files are read.
///
/// A pattern finds existing files, and files that steps of the plan make, so that the first run has
/// all steps. The steps of one pattern may make files that other patterns find, so it repeats until
/// there are no new ones.
struct EachSteps {
  private let all: [EachStep]
  /// The values of each list that is a pattern of files.
  private var found: [Key: Found] = [:]

  private struct Key: Hashable {
    let step: Int
    let name: String
  }

  private struct Found {
    var values: [String] = []
    /// The bytes of the values, since equal texts may be names of two files.
    var known: Set<[UInt8]> = []
    /// The shortest paths of all found files.
    var paths: Set<FilePath> = []

    mutating func add(_ match: FilePattern.Match) -> Bool {
      paths.insert(match.path.shortest)
      guard known.insert(Array(match.value.utf8)).inserted else { return false }
      values.append(match.value)
      return true
    }
  }

  /// - Parameter isMadeBefore: whether a step has made a file in an earlier run: then it counts
  ///   only if a step of the plan makes it.
  static func steps(
    _ all: [EachStep], isMadeBefore: (FilePath) -> Bool
  ) throws(PlanError) -> [Step] {
    guard all.contains(where: { $0.pattern?.hasFiles ?? false }) else {
      return all.flatMap { each in
        each.pattern.map { $0.combinations { _ in [] }.map(each.step.filled) } ?? [each.step]
      }
    }
    var steps = Self(all)
    try steps.findFiles(isMadeBefore)
    return try steps.made()
  }

  private init(_ all: [EachStep]) { self.all = all }

  /// Each list that is a pattern of files, with the number of its step.
  private var patterns: [(key: Key, pattern: FilePattern)] {
    all.enumerated().flatMap { index, each in
      (each.pattern?.lists ?? []).compactMap { list in
        guard case .files(let pattern) = list.value else { return nil }
        return (Key(step: index, name: list.name), pattern)
      }
    }
  }

  private mutating func findFiles(_ isMadeBefore: (FilePath) -> Bool) throws(PlanError) {
    let patterns = patterns
    for (key, pattern) in patterns {
      var found = Found()
      for match in pattern.matches() where !match.value.isEmpty {
        guard match.path.text != nil else {
          let name = pattern.relative(match.path).visible
          throw PlanError(.foundNoText(name, pattern.text), in: all[key.step].step)
        }
        if isMadeBefore(match.path) {
          found.paths.insert(match.path.shortest)
        } else {
          _ = found.add(match)
        }
      }
      self.found[key] = found
    }
    // Each round may find files that were added in the previous round.
    for _ in 0...patterns.count {
      guard try findMade(patterns) else { return try checkFound(patterns) }
    }
    let feeding = patterns.map { $0.pattern.text }
    throw PlanError(.patternsFeed(feeding), in: all[patterns[0].key.step].step)
  }

  /// Returns whether it found new files.
  private mutating func findMade(
    _ patterns: [(key: Key, pattern: FilePattern)]
  ) throws(PlanError) -> Bool {
    let makers = all.indices.map { (index: $0, outputs: outputs(of: $0)) }
    var isNew = false
    for (key, pattern) in patterns {
      let folder = pattern.folder
      for (index, outputs) in makers {
        for (file, path) in outputs {
          if folder == path || folder.isBelow(path) {
            throw PlanError(
              .patternInMadeFolder(
                pattern.text, owner: all[key.step].step.name, folder: file,
                maker: all[index].step.name), in: all[key.step].step)
          }
          // Most files are in other folders.
          guard folder.length == 0 || path.isBelow(folder), let value = pattern.value(in: path),
            !value.isEmpty
          else { continue }
          guard index != key.step else {
            throw PlanError(
              .patternFindsOwn(
                pattern.text, owner: all[index].step.name, file: all[index].step.shown(path)),
              in: all[index].step)
          }
          if found[key]?.add(FilePattern.Match(path: path, value: value)) ?? false { isNew = true }
        }
      }
    }
    return isNew
  }

  private func checkFound(_ patterns: [(key: Key, pattern: FilePattern)]) throws(PlanError) {
    for (key, pattern) in patterns where found[key]?.values.isEmpty ?? true {
      let step = all[key.step].step
      throw PlanError(.noFile(pattern.text, key: "each", step: step.name), in: step)
    }
  }

  /// The outputs with their shortest paths.
  private func outputs(of index: Int) -> [(file: String, path: FilePath)] {
    steps(of: index).flatMap { step in step.outputs.map { ($0, step.path(of: $0).shortest) } }
  }

  private func steps(of index: Int) -> [Step] {
    let each = all[index]
    guard let pattern = each.pattern else { return [each.step] }
    return pattern.combinations { name in
      // The order does not depend on where the values were found.
      (found[Key(step: index, name: name)]?.values ?? []).sorted {
        $0.utf8.lexicographicallyPrecedes($1.utf8)
      }
    }.map(each.step.filled)
  }

  private func made() throws(PlanError) -> [Step] {
    var result: [Step] = []
    var watches: [Int: [PatternWatch]] = [:]
    for (key, pattern) in patterns {
      watches[key.step, default: []].append(
        PatternWatch(
          .init(of: pattern, known: found[key]?.paths ?? []), key: "each",
          step: all[key.step].step.name))
    }
    for index in all.indices {
      for var step in steps(of: index) {
        if let watches = watches[index] { step.watches = watches }
        result.append(step)
      }
    }
    return result
  }
}
