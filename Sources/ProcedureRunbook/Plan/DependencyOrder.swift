import Dispatch
internal import ProcedurePrimitives

/// Files of other steps that steps have read in the last run, by their depfiles.
///
/// If a depfile is unchanged since its step ended, the journal knows its names; other depfiles are
/// read now. Most names are headers that no step makes: each is looked up once.
struct DependencyOrder {
  /// The files by the numbers of steps.
  let files: [Int: [FilePath]]

  init(of steps: [Step], _ journals: RunJournals) {
    guard let makers = try? FileMakers(steps) else {
      files = [:]
      return
    }
    var files: [Int: [FilePath]] = [:]
    var unknown: [Int] = []
    // The answers by version; nil if not yet known.
    var isMade: [ObjectIdentifier: [Bool?]] = [:]
    for (index, step) in steps.enumerated() where step.depfile != nil {
      guard let versions = Self.versions(of: step, journals) else {
        unknown.append(index)
        continue
      }
      let journal = journals.journal(of: step)
      var known = isMade.removeValue(forKey: ObjectIdentifier(journal)) ?? []
      var made: [Int32] = []
      var new: [Int32] = []
      for run in versions.runs {
        let missing = Int(run.upperBound) + 1 - known.count
        if missing > 0 { known += repeatElement(nil, count: missing) }
        for version in run {
          switch known[Int(version)] {
          case true?: made.append(version)
          case false?: break
          case nil: new.append(version)
          }
        }
      }
      for (version, file) in zip(new, journal.files(of: VersionList(new))) {
        let isOne = !makers.steps(making: journal.path(of: file.file)).isEmpty
        known[Int(version)] = isOne
        if isOne { made.append(version) }
      }
      isMade[ObjectIdentifier(journal)] = known
      if !made.isEmpty {
        files[index] = journal.files(of: VersionList(made)).map { journal.path(of: $0.file) }
      }
    }
    self.files = files.merging(Self.read(unknown, of: steps)) { _, new in new }
  }

  /// The files that its depfile names, if that is unchanged.
  private static func versions(of step: Step, _ journals: RunJournals) -> VersionList? {
    let journal = journals.journal(of: step)
    let paths = step.outputs.map { step.path(of: $0) }
    guard case .succeeded(let success)? = journal.record(at: RecordKeys(of: step, paths)),
      let dependencies = success.dependencies, let depfile = success.outputs.suffix(1).first
    else { return nil }
    let comparison = journals.looks(for: step)
      .compare(VersionList([depfile]), limit: FileReader.small) { $1 }
    guard case .same = comparison else { return nil }
    return dependencies
  }

  /// It reads depfiles in parallel, since some file systems are slow.
  private static func read(_ indices: [Int], of steps: [Step]) -> [Int: [FilePath]] {
    let files = Locked<[Int: [FilePath]]>([:])
    DispatchQueue.concurrentPerform(iterations: indices.count) { number in
      let index = indices[number]
      guard let read = steps[index].readDependencies(), !read.isEmpty else { return }
      files.withLock { $0[index] = read }
    }
    return files.withLock { $0 }
  }
}

extension Step {
  /// The files that its `depfile` names: empty without one, nil if it cannot be read.
  func readDependencies() -> [FilePath]? {
    guard let depfile = self.depfile else { return [] }
    guard let bytes = try? InputFile(path(of: depfile)).contents() else { return nil }
    return DependencyFile.files(in: bytes)?.map { path(of: $0) }
  }
}
