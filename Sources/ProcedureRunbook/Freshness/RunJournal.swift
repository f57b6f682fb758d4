internal import ProcedurePrimitives

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file `.runbook.log` of one directory: it records how the steps of its plans succeeded.
///
/// 1. A line is written before such a step runs and another after it has succeeded. So a step that
///    failed, or was stopped together with this process, does not count as up to date. A step whose
///    first line cannot be written does not run.
/// 2. The writing process holds the file's lock, which the kernel releases when the process ends in
///    any way. So the lines of two runs never mix, and no step runs in two of them at once.
/// 3. A line counts only if it is complete. Text that is appended to a partial line begins a new
///    one. Versions of files are written before the line that refers to them, or together with it.
/// 4. The file is read once, at the start; if it has grown, it is then rewritten.
final class RunJournal: Sendable {
  /// A cluster job of a step, and marks that stand for its command.
  struct Job: Equatable, Sendable {
    let reference: JobReference
    let marks: String
  }

  /// Another process has the lock; with its name if that is known: `process 4711 on node-3`.
  struct Taken: Error {
    let owner: String?
    let directory: FilePath

    /// The sentence up to its verb: the caller adds the object.
    var sentence: String { "\(owner ?? "another process") runs" }
  }

  static let fileName = ".runbook.log"
  private static let onlyRead = "it is only read"

  let directory: FilePath
  private let path: FilePath
  private let state: Locked<State>

  private struct State {
    var known: JournalState
    /// The number of lines when the file was read, and its status then.
    var lineCount: Int
    var status: FileStatus?
    var isForeign: Bool
    var descriptor: Int32?
    /// The last line is incomplete.
    var isTorn = false
    /// Lines that are written together with the next one. If they are lost, files are read again.
    var pending = ""
    /// The reason why it cannot be written.
    var obstacle: String? = RunJournal.onlyRead
    /// The reason why it cannot be read: it exists, and may say that a step has failed.
    var problem: String?
    var planNumbers: [FilePath: Int] = [:]
  }

  /// Reads the file without a lock: nothing can be noted until `lock` is called.
  init(reading directory: FilePath) {
    self.directory = directory
    path = directory.appending(Self.fileName.utf8)
    state = Locked(Self.read(path, directory, JournalState()))
  }

  private static func read(
    _ path: FilePath, _ directory: FilePath, _ known: JournalState
  ) -> State {
    let status = try? FileStatus(path)
    let (bytes, problem) = contents(path)
    let lines = JournalLines(bytes, in: directory, adding: known)
    return State(
      known: lines.state, lineCount: lines.count, status: status, isForeign: lines.isForeign,
      isTorn: bytes.last.map { $0 != JournalLine.end } ?? false, problem: problem)
  }

  /// Takes the lock, reads the file again if it was changed meanwhile, and notes the new owner.
  ///
  /// If the file cannot be opened or created, nothing can be noted, so no step with a record runs.
  ///
  /// - Parameter wait: called if another process has the lock, with that process; the call then
  ///   waits, and throws at the deadline. If it is nil, the call throws.
  func lock(
    wait: ((Taken) -> Void)? = nil, until deadline: ContinuousClock.Instant? = nil
  ) throws(Taken) -> Lock {
    let (descriptor, obstacle) = try openLocked(wait: wait, until: deadline)
    return state.withLock { state in
      let status = try? FileStatus(path)
      // The lock has made the file if there was none.
      let isAsRead =
        status?.stamp.all == state.status?.stamp.all || state.status == nil && status?.size == 0
      var keptNumbers = isAsRead
      if !isAsRead {
        state = Self.read(path, directory, state.known.withoutRecords())
      }
      (state.descriptor, state.obstacle) = (descriptor, obstacle)
      var sentence: String?
      if state.isForeign {
        sentence =
          "'\(path.visible)' is of another version of runbook and counts for nothing: steps run again"
      }
      if rewriteIfGrown(&state) { keptNumbers = false }
      if state.obstacle == nil, state.problem == nil {
        begin(&state)
        _ = write(JournalLine.run.text, &state)
      }
      return Lock(sentence: sentence, isAsRead: isAsRead, keptNumbers: keptNumbers)
    }
  }

  struct Lock {
    /// A sentence about a journal of another version, which is ignored.
    let sentence: String?
    /// Whether the file is as it was when it was read.
    let isAsRead: Bool
    /// Whether versions have kept their numbers.
    let keptNumbers: Bool
  }

  /// Gives the lock back: then nothing can be noted.
  func unlock() {
    state.withLock { state in
      if let descriptor = state.descriptor { close(descriptor) }
      (state.descriptor, state.obstacle) = (nil, Self.onlyRead)
    }
  }

  /// Whether no other process has the lock now.
  var isFree: Bool {
    if state.withLock({ $0.descriptor != nil }) { return true }
    let descriptor = unsafe path.withPointer { unsafe open($0, O_RDWR | O_CLOEXEC) }
    guard descriptor >= 0 else { return errno == ENOENT }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
  }

  // MARK: Steps

  /// The reason why nothing is known of any step, as a sentence; nil if there is none.
  var problem: String? { state.withLock { $0.problem } }

  /// Returns nil if nothing is known of it.
  func record(at keys: RecordKeys) -> StepRecord? { state.withLock { $0.known.record(at: keys) } }

  /// Notes that a step begins, or that its success does not count. Returns the reason if that
  /// cannot be noted.
  ///
  /// - Parameters:
  ///   - empty: the files that it makes where there is nothing yet, but for what other steps make.
  ///   - read: the files that it makes of themselves, so that they are the user's.
  ///   - doubt: the reason why a success does not count; nil at the start.
  func noteStart(
    of step: Name, _ identity: StepIdentity, makes outputs: [FilePath], empty: [FilePath] = [],
    read: [FilePath] = [], plan: FilePath, doubt: String? = nil
  ) -> String? {
    state.withLock { state in
      let number = number(ofPlan: plan, &state)
      for path in empty.map({ absolute($0.shortest) }) where state.known.noteEmpty(path) {
        state.pending += JournalLine.empty(name(path)).text
      }
      for path in read.map({ absolute($0.shortest) }) where state.known.forget(path) {
        state.pending += JournalLine.gone(name(path)).text
      }
      let files = outputs.map { state.known.number(of: absolute($0)) }
      let start = StepRecord.Start(step: step, plan: number, outputs: files, doubt: doubt)
      state.known.start(start)
      let line = JournalLine.started(
        plan: number, step: step, identity: identity.all, doubt: doubt, outputs: outputs.map(name))
      return problem(of: write(line.text, &state))
    }
  }

  /// A file, by its number, and its contents.
  typealias Content = (file: Int32, digest: Fingerprint)

  /// Notes a success. Returns the reason if that cannot be noted.
  ///
  /// - Parameter dependencies: nil for a step without a `depfile`.
  func noteSuccess(
    of step: Name, _ identity: StepIdentity, inputs: [Content], outputs: [Content],
    dependencies: [Content]?, plan: FilePath
  ) -> String? {
    state.withLock { state in
      func versions(_ contents: [Content]) -> VersionList {
        VersionList(contents.map { version($0, nil, &state) })
      }
      let success = StepRecord.Success(
        step: step, plan: number(ofPlan: plan, &state), identity: identity,
        inputs: versions(inputs), outputs: versions(outputs),
        // Their order has no meaning, and sorted numbers make short lists.
        dependencies: dependencies.map { contents in
          VersionList(contents.map { version($0, nil, &state) }.sorted())
        })
      state.known.succeed(success)
      return problem(of: write(Self.line(success).text, &state))
    }
  }

  private static func line(_ success: StepRecord.Success) -> JournalLine {
    .done(
      plan: success.plan, step: success.step, success.identity, inputs: success.inputs,
      outputs: success.outputs, dependencies: success.dependencies)
  }

  private func problem(of reason: String?) -> String? {
    reason.map { "'\(path.visible)' cannot be written: \($0)" }
  }

  private func number(ofPlan plan: FilePath, _ state: inout State) -> Int {
    if let number = state.planNumbers[plan] { return number }
    let count = state.known.plans.count
    let number = state.known.number(ofPlan: plan)
    if number == count { state.pending += JournalLine.plan(number, plan).text }
    state.planNumbers[plan] = number
    return number
  }

  // MARK: Files

  /// Returns the numbers of files, which stay the same for the life of this journal.
  func numbers(of paths: [FilePath]) -> [Int32] {
    state.withLock { state in paths.map { state.known.number(of: absolute($0)) } }
  }

  func path(of file: Int32) -> FilePath { state.withLock { $0.known[file: file].path } }

  struct KnownFile: Sendable {
    let path: FilePath
    /// Its stamp; nil if it may have changed without a trace since.
    let stamp: Fingerprint?
    let digest: Fingerprint?
  }

  func known(_ files: [Int32]) -> [KnownFile] {
    state.withLock { state in
      files.map { number in
        let file = state.known[file: number]
        return KnownFile(
          path: file.path, stamp: file.stamp,
          digest: file.version.flatMap { state.known.version($0)?.digest })
      }
    }
  }

  /// Returns the files of versions, and their contents.
  func files(of versions: VersionList) -> [Content] {
    state.withLock { state in
      versions.compactMap { state.known.version($0).map { ($0.file, $0.digest) } }
    }
  }

  /// Returns the digest of a file with this stamp, if it is known.
  func digest(of file: Int32, _ stamp: FileStamp) -> Fingerprint? {
    state.withLock { $0.known.digest(of: file, stamp.all) }
  }

  /// Remembers a digest, so that the next run need not read the file.
  func remember(_ digest: Fingerprint, of file: Int32, _ stamp: FileStamp) {
    state.withLock { state in
      _ = version((file, digest), stamp.all, &state)
      if state.pending.utf8.count > 1 << 16 { _ = write("", &state) }
    }
  }

  /// Writes the pending lines.
  func flush() { state.withLock { state in if !state.pending.isEmpty { _ = write("", &state) } } }

  private func version(
    _ content: Content, _ stamp: Fingerprint?, _ state: inout State
  ) -> Int32 {
    let (version, isNew) = state.known.note(content.digest, of: content.file, stamp)
    if isNew {
      let path = state.known[file: content.file].path
      state.pending +=
        JournalLine.file(version: version, digest: content.digest, stamp: stamp, name(path)).text
    }
    return version
  }

  private func absolute(_ path: FilePath) -> FilePath {
    path.isAbsolute ? path : directory.appending(path.bytes)
  }

  /// The form of a path in the file: relative to the directory, if it is in there.
  private func name(_ path: FilePath) -> FilePath {
    path.name(in: directory).map { FilePath($0) } ?? path
  }

  // MARK: What is there

  struct Made: Sendable {
    let record: StepRecord
    /// nil if it is not known.
    let plan: FilePath?
    /// The files that no later record has.
    let outputs: [FilePath]
  }

  /// Returns the records of all steps, the oldest first; none if all recorded outputs are in
  /// `files`.
  func made(notIn files: Set<FilePath>) -> [Made] {
    state.withLock { state in
      guard state.known.hasRecord(notAt: files) else { return [] }
      return state.known.livingRecords.map { record, outputs in
        let plan =
          switch record {
          case .started(let start): start.plan
          case .succeeded(let success): success.plan
          }
        return Made(
          record: record, plan: plan < state.known.plans.count ? state.known.plans[plan] : nil,
          outputs: outputs.map { state.known[file: $0].path })
      }
    }
  }

  /// A file that was last made by a step, as far as this journal knows.
  struct MadeFile: Sendable {
    let path: FilePath
    let step: Name
    /// The digest that the step left; nil if the step did not succeed.
    let digest: Fingerprint?
    /// Whether nothing of others was there when a step first began to make it.
    let wasEmpty: Bool
  }

  /// Returns the files of a record, with its `depfile`.
  func files(of made: Made) -> [MadeFile] {
    switch made.record {
    case .started(let start):
      return made.outputs.map { file($0, of: start.step, digest: nil) }
    case .succeeded(let success):
      let contents = files(of: success.outputs).map { content in
        file(path(of: content.file).shortest, of: success.step, digest: content.digest)
      }
      let last = success.dependencies == nil ? nil : contents.last
      return contents.filter { made.outputs.contains($0.path) || $0.path == last?.path }
    }
  }

  private func file(_ path: FilePath, of step: Name, digest: Fingerprint?) -> MadeFile {
    let wasEmpty = state.withLock { state in
      state.known[file: state.known.number(of: absolute(path))].wasEmpty
    }
    return MadeFile(path: path, step: step, digest: digest, wasEmpty: wasEmpty)
  }

  /// The plans that were run here.
  var plans: [FilePath] { state.withLock { $0.known.plans.compactMap { $0 } } }

  /// Directories whose journals have records of these plans.
  var otherDirectories: [FilePath] { state.withLock { $0.known.otherDirectories } }

  /// Notes directories. If that line is lost, files of removed steps there stay unnoticed.
  func note(otherDirectories: Set<FilePath>) {
    state.withLock { state in
      for path in otherDirectories.sorted() where state.known.add(otherDirectory: path) {
        state.pending += JournalLine.beside(name(path)).text
      }
    }
  }

  /// Notes that no step makes a file any more. Returns the reason if that cannot be noted.
  func forget(_ path: FilePath) -> String? {
    state.withLock { state in
      state.known.forget(absolute(path))
      return problem(of: write(JournalLine.gone(name(path)).text, &state))
    }
  }

  // MARK: Jobs

  /// Its job whose end was not seen: of this run, or left by a killed run.
  func job(of step: Step) -> Job? { state.withLock { $0.known.jobs[key(step)] } }

  /// Whether any step has such a job.
  var hasJobs: Bool { state.withLock { !$0.known.jobs.isEmpty } }

  /// - Parameter job: nil when it has ended.
  /// - Returns: the reason if it cannot be noted.
  func note(_ job: Job?, of step: Step) -> String? {
    let key = key(step)
    return state.withLock { state in
      state.known.jobs[key] = job
      return problem(of: write(JournalLine.job(key.name, job).text, &state))
    }
  }

  /// Its first output, so that a renamed step keeps its job. A name gets a form that no path has.
  private func key(_ step: Step) -> JournalState.JobKey {
    guard let output = step.outputs.first else {
      return JournalState.JobKey(name: FilePath("step//\(step.name.text)"))
    }
    return JournalState.JobKey(name: name(absolute(step.path(of: output).shortest)))
  }

  // MARK: The file

  /// The number of attempts, twenty milliseconds apart, before the lock counts as another run's.
  ///
  /// A killed run may leave a copy of itself that was about to become the program of a step: it
  /// holds the lock until then. That takes an instant, or much longer on a busy machine.
  private static let mostLooks = 50

  private func openLocked(
    wait: ((Taken) -> Void)?, until deadline: ContinuousClock.Instant?
  ) throws(Taken) -> (descriptor: Int32?, obstacle: String?) {
    var looks = 0
    while true {
      let descriptor = unsafe path.withPointer {
        unsafe open($0, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
      }
      guard descriptor >= 0 else { return (nil, unsafe String(cString: strerror(errno))) }
      if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        // If the file system has no locks, no other run has one either.
        guard errno == EWOULDBLOCK else { return (descriptor, nil) }
        looks += 1
        if looks < Self.mostLooks {
          close(descriptor)
          usleep(20_000)
          continue
        }
        let lines = JournalLines(Self.contents(path).bytes, in: directory)
        let taken = Taken(owner: lines.owner, directory: directory)
        guard let wait else {
          close(descriptor)
          throw taken
        }
        wait(taken)
        guard Self.waitForLock(descriptor, until: deadline) else {
          close(descriptor)
          throw taken
        }
      }
      // The former owner may have rewritten the file: then this is the lock of the old one, so try
      // again.
      if let own = FileStatus(descriptor: descriptor), let named = try? FileStatus(path),
        own.identity == named.identity
      {
        return (descriptor, nil)
      }
      close(descriptor)
    }
  }

  /// Returns false if another process has the lock at the deadline.
  private static func waitForLock(
    _ descriptor: Int32, until deadline: ContinuousClock.Instant?
  ) -> Bool {
    // The system has no wait for a lock that ends at a time.
    let flags = deadline == nil ? LOCK_EX : LOCK_EX | LOCK_NB
    while flock(descriptor, flags) != 0, errno == EINTR || errno == EWOULDBLOCK {
      guard let deadline else { continue }
      if .now >= deadline { return false }
      usleep(20_000)
    }
    return true
  }

  /// Returns no bytes if there is no file, and a problem if there is one that cannot be read.
  private static func contents(_ path: FilePath) -> (bytes: [UInt8], problem: String?) {
    do throws(FileProblem) {
      _ = try FileStatus(path)
    } catch {
      switch error {
      case .missing: return ([], nil)
      case .refused(let reason): return ([], "'\(path.visible)' cannot be read: \(reason)")
      }
    }
    do throws(PlanError) {
      return (try InputFile(path).contents(), nil)
    } catch {
      return ([], "\(error)")
    }
  }

  /// Rewrites a file that has grown. Returns whether it did.
  private func rewriteIfGrown(_ state: inout State) -> Bool {
    guard let old = state.descriptor, state.problem == nil else { return false }
    let records = state.known.livingRecords
    // A rewritten file has a line for each file, record, and version that records refer to.
    let mostLines = 100 + 3 * (state.known.files.count + records.count)
    guard state.isForeign || state.lineCount > mostLines else { return false }
    let (known, text) = rewritten(state.known, records)
    guard let new = Self.replace(path, with: text) else { return false }
    close(old)
    (state.known, state.descriptor, state.isTorn) = (known, new, false)
    state.planNumbers = [:]
    return true
  }

  /// Returns the valid contents, with versions renumbered, and their text.
  private func rewritten(
    _ old: JournalState, _ records: [(record: StepRecord, outputs: [Int32])]
  ) -> (JournalState, String) {
    var new = old.withoutRecords()
    var text = JournalLine.head
    for (number, plan) in old.plans.enumerated() {
      new.setPlan(number, plan)
      if let plan { text += JournalLine.plan(number, plan).text }
    }
    for path in old.otherDirectories where (try? FileStatus(path)) != nil {
      new.add(otherDirectory: path)
      text += JournalLine.beside(name(path)).text
    }
    func add(_ version: JournalState.Version, _ stamp: Fingerprint?) -> Int32 {
      let (number, isNew) = new.note(version.digest, of: version.file, stamp)
      if isNew {
        let path = old[file: version.file].path
        text +=
          JournalLine.file(version: number, digest: version.digest, stamp: stamp, name(path)).text
      }
      return number
    }
    func added(_ versions: VersionList) -> VersionList {
      VersionList(versions.compactMap { old.version($0) }.map { add($0, nil) })
    }
    for (record, outputs) in records {
      switch record {
      case .started(let start):
        // Without outputs, no record at all has the same effect.
        guard !outputs.isEmpty else { continue }
        new.start(
          .init(step: start.step, plan: start.plan, outputs: outputs, doubt: start.doubt))
        text +=
          JournalLine.started(
            plan: start.plan, step: start.step, identity: Fingerprint(), doubt: start.doubt,
            outputs: outputs.map { name(old[file: $0].path) }
          ).text
      case .succeeded(let success):
        let success = StepRecord.Success(
          step: success.step, plan: success.plan, identity: success.identity,
          inputs: added(success.inputs), outputs: added(success.outputs),
          dependencies: success.dependencies.map(added))
        new.succeed(success)
        text += Self.line(success).text
      }
    }
    // Where nothing is, the next start notes it again.
    for file in old.files where file.wasEmpty {
      guard (try? FileStatus(file.path, followsLinks: false)) != nil else { continue }
      new.noteEmpty(file.path)
      text += JournalLine.empty(name(file.path)).text
    }
    // The stamps of existing files come last, so that their newest versions are these.
    for file in old.files {
      guard let number = file.version, let version = old.version(number), let stamp = file.stamp,
        (try? FileStatus(file.path)) != nil
      else { continue }
      _ = add(version, stamp)
    }
    for (key, job) in old.jobs {
      new.jobs[key] = job
      text += JournalLine.job(key.name, job).text
    }
    return (new, text)
  }

  /// Writes the new file under another name first, so that the old one survives an interruption.
  /// nil: the file keeps growing.
  private static func replace(_ path: FilePath, with text: String) -> Int32? {
    let other = FilePath(path.bytes + Array(".new".utf8))
    let descriptor = unsafe other.withPointer {
      unsafe open($0, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o666)
    }
    guard descriptor >= 0 else { return nil }
    do throws(PatientWriter.Failure) {
      try PatientWriter(descriptor).write(text.utf8)
      // It is locked before it gets its name, so that no other process takes the lock first.
      _ = flock(descriptor, LOCK_EX | LOCK_NB)
      // It is on the disk before it replaces the old file.
      let code = unsafe other.withPointer { other in
        unsafe path.withPointer { path in
          fsync(descriptor) == 0 ? unsafe rename(other, path) : -1
        }
      }
      if code == 0 { return descriptor }
    } catch {
      // The old file stays.
    }
    close(descriptor)
    _ = unsafe other.withPointer { unsafe unlink($0) }
    return nil
  }

  /// Writes the first line, if it is missing.
  private func begin(_ state: inout State) {
    guard let descriptor = state.descriptor,
      let size = FileStatus(descriptor: descriptor)?.size, size < JournalLine.head.utf8.count
    else { return }
    if size > 0 { _ = ftruncate(descriptor, 0) }
    (state.isTorn, state.pending) = (false, JournalLine.head + state.pending)
  }

  /// Returns the reason if it is not completely written.
  private func write(_ line: String, _ state: inout State) -> String? {
    if let obstacle = state.obstacle ?? state.problem { return obstacle }
    guard let descriptor = state.descriptor else { return nil }
    let text = (state.isTorn ? JournalLine.endOfTorn : "") + state.pending + line
    let size = FileStatus(descriptor: descriptor)?.size
    do throws(PatientWriter.Failure) {
      try PatientWriter(descriptor).write(text.utf8)
      (state.isTorn, state.pending) = (false, "")
      return nil
    } catch {
      // The file gets its old size back, so that no partial line stays.
      let isBack = size.map { ftruncate(descriptor, off_t($0)) == 0 } ?? false
      if !isBack { state.isTorn = true }
      return "\(error)"
    }
  }
}
