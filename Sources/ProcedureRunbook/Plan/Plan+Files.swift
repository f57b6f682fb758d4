import Dispatch
internal import ProcedurePrimitives

/// The order that files give: who reads a file comes after who makes it.
extension Plan {
  /// The steps, each after those that make what it reads.
  ///
  /// - Parameter files: what the step of a number reads.
  static func ordered(
    _ steps: [Step], reading files: (Int) -> [String]
  ) throws(PlanError) -> [Step] {
    guard steps.contains(where: { !$0.outputs.isEmpty }) else { return steps }
    let makers = try FileMakers(steps)
    var ordered = steps
    for (index, step) in steps.enumerated() {
      let read = files(index)
      if read.isEmpty { continue }
      // Most steps read nothing that others make.
      let found = read.flatMap { makers.steps(making: step.path(of: $0)) }
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
  func orderedByDepfiles() throws(PlanError) -> Plan {
    guard steps.contains(where: { $0.depfile != nil }) else { return self }
    let files = Locked<[Int: [String]]>([:])
    // Beside each other: some file systems take their time.
    let readers = steps.indices.filter { steps[$0].depfile != nil }
    DispatchQueue.concurrentPerform(iterations: readers.count) { [steps] number in
      guard let read = steps[readers[number]].dependencies, !read.isEmpty else { return }
      files.withLock { $0[readers[number]] = read }
    }
    let read = files.withLock { $0 }
    let ordered = try Self.ordered(steps) { read[$0] ?? [] }
    do throws(PlanError) {
      return try Plan(steps: ordered, pools: pools, secrets: secrets)
    } catch {
      guard case .cycle(let names) = error.problem,
        let depfile = depfile(closing: names, ordered)
      else { throw error }
      throw PlanError(.cycleOfDepfile(depfile, names), line: error.line, file: error.file)
    }
  }

  /// The one because of which a step of the cycle waits for the one before.
  private func depfile(closing cycle: [String], _ ordered: [Step]) -> String? {
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
  func path(of file: String) -> String {
    guard file.utf8.first != UInt8(ascii: "/"), let directory = self.directory else {
      return FileTree.normal(file)
    }
    var path = ""
    path.reserveCapacity(directory.utf8.count + 1 + file.utf8.count)
    path += directory
    path += "/"
    path += file
    return FileTree.normal(path)
  }

  /// The files that its `depfile` names: none without one, nil when it is not there or not readable.
  var dependencies: [String]? {
    guard let depfile = self.depfile else { return [] }
    guard let bytes = try? InputFile(path(of: depfile)).contents() else { return nil }
    return DependencyFile.files(in: bytes)
  }
}
