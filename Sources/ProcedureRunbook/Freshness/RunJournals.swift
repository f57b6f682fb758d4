internal import ProcedurePrimitives

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The journals of one run: one for each directory in which a plan is, its own and those that it includes.
///
/// So a step has one record, whichever plan includes it, and two plans of one directory have one journal. That of the
/// plan knows in which directories there are others: a step that was in an included file may be gone with that.
final class RunJournals: Sendable {
  /// Stands for a plan that is in no file.
  static let noPlan = FilePath("-")

  /// That of the plan that is run.
  let directory: String
  /// The same as bytes.
  let folder: FilePath
  /// That plan, by which the files of steps that are gone are known as its own.
  let plan: FilePath
  private let includedPlans = Locked<Set<FilePath>>([])
  let reader = FileReader()
  private let isWritable = Locked<[FilePath: Bool]>([:])
  private let state = Locked<[FilePath: (journal: RunJournal, looks: FileLooks)]>([:])

  /// - Parameters:
  ///   - directory: that of the plan.
  ///   - plan: its path.
  init(in directory: String, plan: FilePath) {
    (self.directory, folder, self.plan) = (directory, FilePath(directory), plan)
  }

  /// That of the plan that is run, which has the jobs of clusters too.
  var main: RunJournal { entry(folder).journal }

  func journal(of step: Step) -> RunJournal { entry(directory(of: step)).journal }

  func journal(in directory: FilePath) -> RunJournal { entry(directory).journal }

  /// That of the plan, and those in which it has or had records.
  func all(of steps: [Step]) -> [RunJournal] {
    directories(of: steps).union([folder]).union(main.otherDirectories).sorted()
      .map { journal(in: $0) }
  }

  /// What was found before anything ran.
  func looks(for step: Step) -> FileLooks { entry(directory(of: step)).looks }

  /// What is found now.
  func newLooks(for step: Step) -> FileLooks {
    FileLooks(journal(of: step), reader, isShared: false)
  }

  private func directories(of steps: [Step]) -> Set<FilePath> {
    Set(steps.lazy.filter(\.isRemembered).map { self.directory(of: $0) })
  }

  /// That of the plan where nothing can be written beside an included one, as in a folder that users share.
  private func directory(of step: Step) -> FilePath {
    guard let home = step.home, home != folder else { return folder }
    return isWritable.withLock { known in
      if let isWritable = known[home] { return isWritable ? home : folder }
      let file = home.appending(RunJournal.fileName.utf8)
      let isWritable =
        unsafe file.withPointer { unsafe access($0, W_OK) } == 0
        || errno == ENOENT && home.withPointer { unsafe access($0, W_OK) } == 0
      known[home] = isWritable
      return isWritable ? home : folder
    }
  }

  // MARK: What was made before

  /// Those of the plan that is run.
  func note(includedPlans: [FilePath]) {
    self.includedPlans.withLock { $0.formUnion(includedPlans) }
  }

  /// Whether this plan has made something, or a plan that it includes, run by itself, or one whose file is gone. Of a plan
  /// that came from a pipe nobody knows that.
  func isOfThisPlan(_ made: RunJournal.Made) -> Bool {
    guard let plan = made.plan, plan != Self.noPlan else { return false }
    return plan == self.plan || includedPlans.withLock { $0.contains(plan) }
      || !InputFile(plan).isThere
  }

  /// The same, or that a plan of another directory has made it, which includes what this one includes: both run its steps.
  func isOfThisPlan(_ made: RunJournal.Made, orShared journal: RunJournal) -> Bool {
    if isOfThisPlan(made) { return true }
    guard let plan = made.plan, plan != Self.noPlan, journal.directory != folder else {
      return false
    }
    return plan.folder != journal.directory
  }

  private func entry(_ directory: FilePath) -> (journal: RunJournal, looks: FileLooks) {
    state.withLock { entries in
      if let entry = entries[directory] { return entry }
      let journal = RunJournal(reading: directory)
      let entry = (journal, FileLooks(journal, reader, isShared: true))
      entries[directory] = entry
      return entry
    }
  }

  /// Takes the locks of those that these steps need, always in one order, so that no two runs wait for each other.
  ///
  /// - Parameters:
  ///   - needsMain: whether that of the plan is needed in any case.
  ///   - needsAll: whether those are needed too in which it had records.
  /// - Returns: sentences about them.
  func lock(
    for steps: [Step], needsMain: Bool, needsAll: Bool = false,
    wait: ((RunJournal.Taken) -> Void)?
  ) throws(RunJournal.Taken) -> [String] {
    var directories = self.directories(of: steps)
    if needsAll { directories.formUnion(main.otherDirectories) }
    // It is told of the others.
    if needsMain || !directories.isEmpty { directories.insert(folder) }
    var sentences: [String] = []
    for directory in directories.sorted() {
      let journal = entry(directory).journal
      let (sentence, isAsRead) = try journal.lock(wait: wait)
      if let sentence { sentences.append(sentence) }
      // Another run has ended since.
      if !isAsRead {
        state.withLock { $0[directory] = (journal, FileLooks(journal, reader, isShared: true)) }
      }
    }
    main.note(otherDirectories: directories.subtracting([folder]))
    return sentences
  }

  /// Writes what was not written with a line.
  func flush() {
    for entry in state.withLock({ Array($0.values) }) { entry.journal.flush() }
  }
}
