internal import ProcedurePrimitives

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file `.runbook.log` of one directory: what the steps of the plans in it have succeeded with.
///
/// 1. A line is written before such a step runs and one after it succeeded, so that a step that
///    failed, or was stopped together with this process, is not taken for up to date. A step whose first line cannot be
///    written does not run.
/// 2. The process that writes has the file's lock, which the kernel takes back when the process ends,
///    however it ends. So the lines of two runs never mix, and no step runs in two of them at once.
/// 3. A line counts when all of it was written. What is appended to a part of one begins a line. Versions of files are
///    written before the line that speaks of them, or together with it.
/// 4. The file is read once, at the start; one that has grown is written anew then.
final class RunJournal: Sendable {
  /// A job of a cluster that a step was handed in as, and what stands for what it runs.
  struct Job: Equatable, Sendable {
    let reference: JobReference
    let marks: String
  }

  /// Another process has the lock, and which, if that is known: `process 4711 on node-3`.
  struct Taken: Error {
    let owner: String?
    let directory: FilePath

    /// Up to the verb: what it runs is to be added.
    var sentence: String { "\(owner ?? "another process") runs" }
  }

  static let fileName = ".runbook.log"

  let directory: FilePath
  private let path: FilePath
  private let state: Locked<State>

  private struct State {
    var known: JournalState
    /// How many lines the file has, when it was read, and how it looked.
    var lineCount: Int
    var status: FileStatus?
    var isForeign: Bool
    var descriptor: Int32?
    /// The last line has no end.
    var isTorn = false
    /// Lines that are written together with the next one: lost, files are read again.
    var pending = ""
    /// Why it cannot be written.
    var obstacle: String? = "it is only read"
    /// Why it cannot be read: it is there, and may say that a step has failed.
    var problem: String?
    var planNumbers: [FilePath: Int] = [:]
  }

  /// Reads what is there and takes no lock: nothing can be noted before that.
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

  /// Takes the lock, reads the file again if it was changed meanwhile, and notes who has the lock from now on.
  ///
  /// Where the file cannot be opened or made nothing can be noted, so no step with a record runs.
  ///
  /// - Parameter wait: called when another process has the lock, with its name; the call then waits. nil: it throws.
  /// - Returns: a sentence about a journal of another form, which counts for nothing; and whether versions have the
  ///   numbers that they had.
  func lock(
    wait: ((Taken) -> Void)? = nil
  ) throws(Taken) -> (sentence: String?, isAsRead: Bool) {
    let (descriptor, obstacle) = try openLocked(wait: wait)
    return state.withLock { state in
      var isAsRead = (try? FileStatus(path))?.stamp.all == state.status?.stamp.all
      if !isAsRead {
        state = Self.read(path, directory, state.known.withoutRecords())
      }
      (state.descriptor, state.obstacle) = (descriptor, obstacle)
      var sentence: String?
      if state.isForeign {
        sentence =
          "'\(path.visible)' is of another version of runbook and counts for nothing: steps run again"
      }
      if rewriteIfGrown(&state) { isAsRead = false }
      if state.obstacle == nil, state.problem == nil {
        begin(&state)
        _ = write(JournalLine.run.text, &state)
      }
      return (sentence, isAsRead)
    }
  }

  // MARK: Steps

  /// Why nothing is known of any step, in a sentence; nil if that is not so.
  var problem: String? { state.withLock { $0.problem } }

  /// nil when nothing is known of it.
  func record(at keys: RecordKeys) -> StepRecord? { state.withLock { $0.known.record(at: keys) } }

  /// Returns why it could not be noted.
  ///
  /// - Parameter doubt: why a success does not count; nil at the start.
  func noteStart(
    of step: Name, _ identity: StepIdentity, makes outputs: [FilePath], plan: FilePath,
    doubt: String? = nil
  ) -> String? {
    state.withLock { state in
      let number = number(ofPlan: plan, &state)
      let files = outputs.map { state.known.number(of: absolute($0)) }
      let start = StepRecord.Start(step: step, plan: number, outputs: files, doubt: doubt)
      state.known.start(start, identity.all)
      let line = JournalLine.started(
        plan: number, step: step, identity: identity.all, doubt: doubt, outputs: outputs.map(name))
      return problem(of: write(line.text, &state))
    }
  }

  /// A file, by its number, and what was in it.
  typealias Content = (file: Int32, digest: Fingerprint)

  /// Returns why it could not be noted.
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
        // Their order says nothing, and numbers in order are short.
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

  /// Their numbers, the same for the life of this.
  func numbers(of paths: [FilePath]) -> [Int32] {
    state.withLock { state in paths.map { state.known.number(of: absolute($0)) } }
  }

  func path(of file: Int32) -> FilePath { state.withLock { $0.known[file: file].path } }

  struct KnownFile: Sendable {
    let path: FilePath
    /// How it looked; nil if it may have been changed without a trace since.
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

  /// Of versions.
  func files(of versions: VersionList) -> [Content] {
    state.withLock { state in
      versions.compactMap { state.known.version($0).map { ($0.file, $0.digest) } }
    }
  }

  /// The digest of a file that looks like this, if it is known.
  func digest(of file: Int32, _ stamp: FileStamp) -> Fingerprint? {
    state.withLock { $0.known.digest(of: file, stamp.all) }
  }

  /// Not remembered, the file is read again in the next run.
  func remember(_ digest: Fingerprint, of file: Int32, _ stamp: FileStamp) {
    state.withLock { state in
      _ = version((file, digest), stamp.all, &state)
      if state.pending.utf8.count > 1 << 16 { _ = write("", &state) }
    }
  }

  /// Writes what was not written with a line.
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

  /// As it is written.
  private func name(_ path: FilePath) -> FilePath {
    path.name(in: directory).map { FilePath($0) } ?? path
  }

  // MARK: What is there

  struct Made: Sendable {
    let record: StepRecord
    /// nil: nobody knows.
    let plan: FilePath?
    /// Files that no later record has.
    let outputs: [FilePath]
  }

  /// All that steps have made here, the oldest first, but for what was made with these files alone.
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

  /// A file of which this says that a step has made it last.
  struct MadeFile: Sendable {
    let path: FilePath
    let step: Name
    /// What it was left as; nil where the step has not ended well.
    let digest: Fingerprint?
  }

  /// With its `depfile`.
  func files(of made: Made) -> [MadeFile] {
    switch made.record {
    case .started(let start):
      return made.outputs.map { MadeFile(path: $0, step: start.step, digest: nil) }
    case .succeeded(let success):
      let contents = files(of: success.outputs).map { content in
        MadeFile(path: path(of: content.file).shortest, step: success.step, digest: content.digest)
      }
      let last = success.dependencies == nil ? nil : contents.last
      return contents.filter { made.outputs.contains($0.path) || $0.path == last?.path }
    }
  }

  /// The plans that were run here.
  var plans: [FilePath] { state.withLock { $0.known.plans.compactMap { $0 } } }

  /// In which there are journals with records of these plans.
  var otherDirectories: [FilePath] { state.withLock { $0.known.otherDirectories } }

  /// Lost, files of steps that are gone stay there without a word.
  func note(otherDirectories: Set<FilePath>) {
    state.withLock { state in
      for path in otherDirectories.sorted() where state.known.add(otherDirectory: path) {
        state.pending += JournalLine.beside(name(path)).text
      }
    }
  }

  /// No step makes it any more.
  func forget(_ path: FilePath) -> String? {
    state.withLock { state in
      state.known.forget(absolute(path))
      return problem(of: write(JournalLine.gone(name(path)).text, &state))
    }
  }

  // MARK: Jobs

  /// Its job that was not seen to end: this run's, or one that a killed run has left.
  func job(of step: Step) -> Job? { state.withLock { $0.known.jobs[key(step)] } }

  /// Whether there is such a job of any step.
  var hasJobs: Bool { state.withLock { !$0.known.jobs.isEmpty } }

  /// - Parameter job: nil when it has ended.
  /// - Returns: why it could not be noted.
  func note(_ job: Job?, of step: Step) -> String? {
    let key = key(step)
    return state.withLock { state in
      state.known.jobs[key] = job
      return problem(of: write(JournalLine.job(key.name, job).text, &state))
    }
  }

  /// Its first output, so that a renamed step has its job; a name cannot be taken for that.
  private func key(_ step: Step) -> JournalState.JobKey {
    guard let output = step.outputs.first else {
      return JournalState.JobKey(name: FilePath("step//\(step.name.text)"))
    }
    return JournalState.JobKey(name: name(absolute(step.path(of: output).shortest)))
  }

  // MARK: The file

  /// How often it looks, twenty milliseconds apart, before the lock counts as another run's.
  ///
  /// A killed run may leave a program that it was about to start: a copy of it, which has the lock until it is that
  /// program. That is an instant, or much longer on a busy machine.
  private static let mostLooks = 50

  private func openLocked(
    wait: ((Taken) -> Void)?
  ) throws(Taken) -> (descriptor: Int32?, obstacle: String?) {
    var looks = 0
    while true {
      let descriptor = unsafe path.withPointer {
        unsafe open($0, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
      }
      guard descriptor >= 0 else { return (nil, unsafe String(cString: strerror(errno))) }
      if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        // A file system without locks has none for others either.
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
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
      }
      // Written anew by the one who had the lock: then it is the lock of a file that is gone.
      if let own = FileStatus(descriptor: descriptor), let named = try? FileStatus(path),
        own.identity == named.identity
      {
        return (descriptor, nil)
      }
      close(descriptor)
    }
  }

  /// Empty when there is no file; a problem when there is one that cannot be read.
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

  /// Whether it was written anew.
  private func rewriteIfGrown(_ state: inout State) -> Bool {
    guard let old = state.descriptor, state.problem == nil else { return false }
    let records = state.known.livingRecords
    // Each file that counts, and the versions that records speak of.
    let mostLines = 100 + 3 * (state.known.files.count + records.count)
    guard state.isForeign || state.lineCount > mostLines else { return false }
    let (known, text) = rewritten(state.known, records)
    guard let new = Self.replace(path, with: text) else { return false }
    close(old)
    (state.known, state.descriptor, state.isTorn) = (known, new, false)
    state.planNumbers = [:]
    return true
  }

  /// What counts, with versions in a new order, and its text.
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
        // Of a step without outputs no record says the same.
        guard !outputs.isEmpty else { continue }
        new.start(
          .init(step: start.step, plan: start.plan, outputs: outputs, doubt: start.doubt),
          Fingerprint())
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
    // How files look that are still there, last, so that their newest versions are these.
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

  /// Under another name first: what is there stays if this is stopped. nil: the file goes on growing.
  private static func replace(_ path: FilePath, with text: String) -> Int32? {
    let other = FilePath(path.bytes + Array(".new".utf8))
    let descriptor = unsafe other.withPointer {
      unsafe open($0, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o666)
    }
    guard descriptor >= 0 else { return nil }
    do throws(PatientWriter.Failure) {
      try PatientWriter(descriptor).write(text.utf8)
      // Locked before it has its name, so that no other process comes between.
      _ = flock(descriptor, LOCK_EX | LOCK_NB)
      // On the disk before it takes the place of what is there.
      let code = unsafe other.withPointer { other in
        unsafe path.withPointer { path in
          fsync(descriptor) == 0 ? unsafe rename(other, path) : -1
        }
      }
      if code == 0 { return descriptor }
    } catch {
      // What is there stays.
    }
    close(descriptor)
    _ = unsafe other.withPointer { unsafe unlink($0) }
    return nil
  }

  /// The first line, if it is not there.
  private func begin(_ state: inout State) {
    guard let descriptor = state.descriptor,
      let size = FileStatus(descriptor: descriptor)?.size, size < JournalLine.head.utf8.count
    else { return }
    if size > 0 { _ = ftruncate(descriptor, 0) }
    (state.isTorn, state.pending) = (false, JournalLine.head + state.pending)
  }

  /// Returns why it is not written to its end.
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
      // As it was before, or else a part of a line is there.
      let isBack = size.map { ftruncate(descriptor, off_t($0)) == 0 } ?? false
      if !isBack { state.isTorn = true }
      return "\(error)"
    }
  }
}
