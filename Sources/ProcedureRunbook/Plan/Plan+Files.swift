import Dispatch
internal import ProcedurePrimitives

/// The order that files give: who reads a file comes after who makes it.
extension Plan {
  /// The steps, each after those that make what it reads.
  ///
  /// - Parameter files: what the step of a number reads.
  static func ordered(
    _ steps: [Step], reading files: (Int) -> [FilePath]
  ) throws(PlanError) -> [Step] {
    guard steps.contains(where: { !$0.outputs.isEmpty }) else { return steps }
    let makers = try FileMakers(steps)
    var ordered = steps
    for (index, step) in steps.enumerated() {
      let read = files(index)
      if read.isEmpty { continue }
      // Most steps read nothing that others make.
      let found = read.flatMap { makers.steps(making: $0) }
      guard !found.isEmpty else { continue }
      var known = Set(step.after)
      for maker in found.map({ steps[$0] }) where maker.name != step.name {
        // It comes after all ordinary steps, because it has no names.
        if step.isFollowUp, step.after.isEmpty, !maker.isFollowUp { continue }
        guard !(maker.group.map(step.after.contains) ?? false), known.insert(maker.name).inserted
        else { continue }
        ordered[index].after.append(maker.name)
      }
    }
    return ordered
  }

  /// The same plan, but a step that has read a file the last time, as its `depfile` says, comes after the step that
  /// makes that.
  func orderedByDepfiles(_ journals: RunJournals) throws(PlanError) -> Plan {
    guard steps.contains(where: { $0.depfile != nil }) else { return self }
    let read = DependencyOrder(of: steps, journals).files
    let ordered = try Self.ordered(steps) { read[$0] ?? [] }
    do throws(PlanError) {
      return try Plan(steps: ordered, pools: pools, secrets: secrets, isPart: isPart)
    } catch {
      guard case .cycle(let names) = error.problem,
        let depfile = depfile(closing: names, ordered)
      else { throw error }
      throw PlanError(.cycleOfDepfile(depfile, names), line: error.line, file: error.file)
    }
  }

  /// The one because of which a step of the cycle waits for the one before.
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
  /// Where one of its files is, without what changes nothing.
  func path(of file: String) -> FilePath { FilePath.normal(file, in: self.directory) }

  /// The same of a name that may be no text.
  func path(of file: FilePath) -> FilePath {
    let path = file.isAbsolute ? file : self.directory.map { FilePath($0).appending(file.bytes) }
    return FilePath.normal(Array((path ?? file).bytes))
  }

  /// What it calls a file: seen from its directory, if it is in there.
  func relative(_ path: FilePath) -> FilePath {
    let directory = self.directory.map { FilePath.normal($0, in: nil) }
    return directory.flatMap { path.name(in: $0) }.map { FilePath($0) } ?? path
  }

  /// A file, as the reader of the plan knows it.
  func shown(_ path: FilePath) -> String { relative(path).visible }
}
