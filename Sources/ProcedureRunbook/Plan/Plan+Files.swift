import Dispatch
internal import ProcedurePrimitives

/// The order that files give: a step that reads a file comes after the step that makes it.
extension Plan {
  /// Returns the steps, each after the steps that make its inputs.
  ///
  /// - Parameter files: returns the files that the step of a number reads.
  static func ordered(
    _ steps: [Step], reading files: (Int) -> [FilePath]
  ) throws(PlanError) -> [Step] {
    guard steps.contains(where: { !$0.outputs.isEmpty }) else { return steps }
    let makers = try FileMakers(steps)
    try checkDotenvFiles(of: steps, makers)
    var ordered = steps
    for (index, step) in steps.enumerated() {
      let read = files(index)
      if read.isEmpty { continue }
      // Most steps read no files of other steps.
      let found = read.flatMap { makers.steps(making: $0) }
      guard !found.isEmpty else { continue }
      var known = Set(step.after)
      for maker in found.map({ steps[$0] }) where maker.name != step.name {
        // A follow-up without names comes after all ordinary steps anyway.
        if step.isFollowUp, step.after.isEmpty, !maker.isFollowUp { continue }
        guard !(maker.group.map(step.after.contains) ?? false), known.insert(maker.name).inserted
        else { continue }
        ordered[index].after.append(maker.name)
      }
    }
    return ordered
  }

  /// Throws if a step makes a file of variables: they were read before it runs.
  private static func checkDotenvFiles(
    of steps: [Step], _ makers: FileMakers
  ) throws(PlanError) {
    var known: Set<String> = []
    for step in steps {
      for file in step.dotenvFiles where known.insert(file).inserted {
        guard let maker = makers.steps(making: FilePath.normal(file, in: nil)).first else {
          continue
        }
        throw PlanError(.dotenvIsMade(file, step: step.name, maker: steps[maker].name), in: step)
      }
    }
  }

  /// The plan in which a step also comes after the makers of files that it read in the last run, by
  /// its `depfile`.
  func orderedByDepfiles(_ journals: RunJournals) throws(PlanError) -> Plan {
    guard steps.contains(where: { $0.depfile != nil }) else { return self }
    let read = DependencyOrder(of: steps, journals).files
    let ordered = try Self.ordered(steps) { read[$0] ?? [] }
    do throws(PlanError) {
      return try Plan(
        steps: ordered, pools: pools, secrets: secrets, isPart: isPart, isOrdered: true)
    } catch {
      guard case .cycle(let names) = error.problem,
        let depfile = depfile(closing: names, ordered)
      else { throw error }
      throw PlanError(.cycleOfDepfile(depfile, names), line: error.line, file: error.file)
    }
  }

  /// The depfile because of which a step of the cycle waits for its predecessor.
  private func depfile(closing cycle: [Name], _ ordered: [Step]) -> String? {
    for (before, name) in zip(cycle, cycle.dropFirst()) {
      guard let index = steps.firstIndex(where: { $0.name == name }) else { continue }
      if ordered[index].after.contains(before), !steps[index].after.contains(before) {
        return steps[index].depfile
      }
    }
    return nil
  }
}

extension Step {
  /// The normal path of one of its files.
  func path(of file: String) -> FilePath { FilePath.normal(file, in: self.directory) }

  /// The names of all that its command makes: its outputs, and then its `depfile`.
  var madeNames: [String] { outputs + (self.depfile.map { [$0] } ?? []) }

  /// The paths of all that its command makes.
  var madePaths: [FilePath] { madeNames.map { path(of: $0) } }

  /// The normal path of one of its files, whose name may not be UTF-8.
  func path(of file: FilePath) -> FilePath {
    let path = file.isAbsolute ? file : self.directory.map { FilePath($0).appending(file.bytes) }
    return FilePath.normal(Array((path ?? file).bytes))
  }

  /// The path relative to the step's directory, if it is in there.
  func relative(_ path: FilePath) -> FilePath {
    let directory = self.directory.map { FilePath.normal($0, in: nil) }
    return directory.flatMap { path.name(in: $0) }.map { FilePath($0) } ?? path
  }

  func shown(_ path: FilePath) -> String { relative(path).visible }
}
