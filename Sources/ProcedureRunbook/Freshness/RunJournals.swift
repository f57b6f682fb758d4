internal import ProcedurePrimitives

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The journals of one run: one for each directory that has the plan or a file that it includes.
///
/// So a step has one record, whichever plan includes it, and the plans of one directory share a
/// journal. The journal of the plan lists the other directories, since the include of a removed
/// step may be removed too.
final class RunJournals: Sendable {
  /// Stands for a plan without a file, such as one from a pipe.
  static let noPlan = FilePath("-")

  /// The directory of the plan.
  let directory: String
  let folder: FilePath
  /// The path of the plan. It tells which files of removed steps are the plan's own.
  let plan: FilePath
  private let included = Locked<Set<FilePath>>([])
  let reader = FileReader()
  private let isWritable = Locked<[FilePath: Bool]>([:])
  private let state = Locked<[FilePath: (journal: RunJournal, looks: FileLooks)]>([:])
  /// The directories whose locks this run has.
  private let locked = Locked<Set<FilePath>>([])
  /// The directories in which no other run was at work when the plan was about to be read.
  private let free = Locked<Set<FilePath>>([])

  init(in directory: String, plan: FilePath) {
    (self.directory, folder, self.plan) = (directory, FilePath(directory), plan)
  }

  /// The journal of the plan's directory, which also has the cluster jobs.
  var main: RunJournal { entry(folder).journal }

  func journal(of step: Step) -> RunJournal { entry(directory(of: step)).journal }

  func journal(in directory: FilePath) -> RunJournal { entry(directory).journal }

  /// The journals of the plan, of these steps, and of directories that had records before.
  func all(of steps: [Step]) -> [RunJournal] {
    directories(of: steps).union([folder]).union(main.otherDirectories).sorted()
      .map { journal(in: $0) }
  }

  /// The looks that were taken before anything ran.
  func looks(for step: Step) -> FileLooks { entry(directory(of: step)).looks }

  /// New looks, since steps may have changed files.
  func newLooks(for step: Step) -> FileLooks {
    FileLooks(journal(of: step), reader, isShared: false)
  }

  private func directories(of steps: [Step]) -> Set<FilePath> {
    Set(steps.lazy.filter(\.isRemembered).map { self.directory(of: $0) })
  }

  /// Returns the directory of the plan if nothing can be written beside an included file, as in a
  /// folder that users share.
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

  // MARK: Reading the plan

  /// Call it before the plan is read, and before it is read again: forgets files that it looked at
  /// and plans that it included.
  func beginReading() {
    included.withLock { $0 = [] }
    isWritable.withLock { $0 = [:] }
    let directories = Set([folder] + main.otherDirectories)
    let free = directories.filter { journal(in: $0).isFree }
    self.free.withLock { $0 = free }
    state.withLock { entries in
      for (directory, entry) in entries {
        entries[directory] = (entry.journal, FileLooks(entry.journal, reader, isShared: true))
      }
    }
  }

  // MARK: What was made before

  /// Notes the files that the plan includes.
  func note(includedPlans: [FilePath]) {
    included.withLock { $0.formUnion(includedPlans) }
  }

  /// The files that the plan includes.
  var includedPlans: Set<FilePath> { included.withLock { $0 } }

  /// Whether this plan, an included file that was run alone, or a plan whose file was removed has
  /// made something. False if that plan is not known, or came from a pipe.
  func isOfThisPlan(_ made: RunJournal.Made) -> Bool {
    guard let plan = made.plan, plan != Self.noPlan else { return false }
    return plan == self.plan || includedPlans.contains(plan)
      || !InputFile(plan).isThere
  }

  /// Also true if a plan of another directory has made it that includes the same file: both run its
  /// steps.
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

  struct Lock {
    /// Sentences about journals.
    let sentences: [String]
    /// Whether the plan was read under these locks, or no other run has had one of them since.
    let isAsRead: Bool
  }

  /// Takes the locks of the journals that the steps need, always in the same order, so that no two
  /// runs deadlock.
  ///
  /// - Parameters:
  ///   - needsMain: whether the journal of the plan is always needed.
  ///   - needsAll: whether journals in which it had records are needed too.
  ///   - deadline: the end of the wait.
  func lock(
    for steps: [Step], needsMain: Bool, needsAll: Bool = false,
    wait: ((RunJournal.Taken) -> Void)?, until deadline: ContinuousClock.Instant? = nil
  ) throws(RunJournal.Taken) -> Lock {
    var directories = self.directories(of: steps)
    if needsAll { directories.formUnion(main.otherDirectories) }
    // The journal of the plan lists the other directories.
    if needsMain || !directories.isEmpty { directories.insert(folder) }
    let others = directories.subtracting([folder])
    let locked = locked.withLock { $0 }
    if directories.isSubset(of: locked) {
      main.note(otherDirectories: others)
      return Lock(sentences: [], isAsRead: true)
    }
    // More locks cannot be taken in order while this run has some.
    for directory in locked { journal(in: directory).unlock() }
    self.locked.withLock { $0 = [] }
    var sentences: [String] = []
    var isAsRead = locked.isEmpty
    for directory in directories.union(locked).sorted() {
      let journal = entry(directory).journal
      let lock = try journal.lock(wait: wait, until: deadline)
      if let sentence = lock.sentence { sentences.append(sentence) }
      if !lock.isAsRead || !free.withLock({ $0.contains(directory) }) { isAsRead = false }
      if !lock.keptNumbers {
        state.withLock { $0[directory] = (journal, FileLooks(journal, reader, isShared: true)) }
      }
      _ = self.locked.withLock { $0.insert(directory) }
    }
    main.note(otherDirectories: others)
    return Lock(sentences: sentences, isAsRead: isAsRead)
  }

  /// Writes the pending lines of all journals.
  func flush() {
    for entry in state.withLock({ Array($0.values) }) { entry.journal.flush() }
  }
}
