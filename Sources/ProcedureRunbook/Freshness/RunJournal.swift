internal import ProcedurePrimitives

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file `.runbook.log` beside a plan: which steps with outputs have succeeded, and with what.
///
/// 1. A line is written before such a step runs and one after it succeeded, so that a step that
///    failed, or was stopped together with this process, is not taken for up to date because its
///    outputs are new. A step whose first line cannot be written does not run.
/// 2. The process that writes has the file's lock, which the kernel takes back when the process ends,
///    however it ends. So the lines of two runs never mix, and no step runs in two of them at once.
/// 3. A line counts when all of it was written. What is appended to a part of one begins a line.
/// 4. The file is read once, at the start; one that has grown is written anew then.
final class RunJournal: Sendable {
  /// What a step succeeded with the last time.
  struct Entry: Equatable, Sendable {
    /// Stands for its command.
    let command: Fingerprint
    /// Of what it reads, when it began.
    let marks: FileMarks
    /// Stands for the contents of its inputs and outputs; nil where they are not known.
    let content: Fingerprint?
  }

  enum Record: Equatable, Sendable {
    case started
    case succeeded(Entry)
  }

  /// A job of a cluster that a step was handed in as, and what stands for what it runs.
  struct Job: Equatable, Sendable {
    let reference: JobReference
    let marks: String
  }

  /// Another process has the lock, and which, if that is known: `process 4711 on node-3`.
  struct Taken: Error {
    let owner: String?

    /// Up to the verb: what it runs is to be added.
    var sentence: String { "\(owner ?? "another process") runs" }
  }

  static let fileName = ".runbook.log"

  private let path: String
  private let state: Locked<State>

  private struct State {
    var records: [String: Record]
    var digests: [String: JournalLine.Digest]
    var jobs: [String: Job]
    var descriptor: Int32?
    /// The last line has no end.
    var isTorn = false
    /// Why it cannot be written, or not be read.
    var obstacle: String?
    /// It is there, and may say that a step has failed.
    var isUnreadable = false
  }

  /// Reads what is there and takes no lock: nothing can be noted.
  init(reading directory: String) {
    path = directory + "/" + Self.fileName
    let contents = Self.contents(path)
    let lines = JournalLines(contents ?? [])
    state = Locked(
      State(
        records: lines.records, digests: lines.digests, jobs: lines.jobs,
        obstacle: "it is only read",
        isUnreadable: contents == nil))
  }

  /// Takes the lock, reads what is there, and notes who has the lock from now on.
  ///
  /// Where the file cannot be opened or made there is a journal in which nothing can be noted: what is up to
  /// date is so all the same.
  ///
  /// - Parameter wait: called when another process has the lock, with its name; the call then waits. nil: it
  ///   throws.
  init(
    locking directory: String, wait: ((Taken) -> Void)? = nil
  ) throws(Taken) {
    path = directory + "/" + Self.fileName
    var (descriptor, obstacle) = try Self.openLocked(path, wait: wait)
    let contents = Self.contents(path)
    let lines = JournalLines(contents ?? [])
    var isTorn = contents?.last.map { $0 != JournalLine.end } ?? false
    if let old = descriptor, lines.count > 100 + 3 * (lines.records.count + lines.digests.count),
      let new = Self.rewritten(lines, at: path)
    {
      close(old)
      (descriptor, isTorn) = (new, false)
    }
    state = Locked(
      State(
        records: lines.records, digests: lines.digests, jobs: lines.jobs, descriptor: descriptor,
        isTorn: isTorn,
        obstacle: obstacle, isUnreadable: contents == nil))
    _ = state.withLock { Self.write(JournalLine.run.text, &$0) }
  }

  // MARK: Steps

  /// What is known of it; nil when nothing is, and none of its runs has failed.
  func record(of step: String) -> Record? {
    state.withLock { $0.records[step] ?? ($0.isUnreadable ? .started : nil) }
  }

  /// Returns why it could not be noted.
  func note(_ record: Record, of step: String) -> String? {
    let line = JournalLine.step(step, record).text
    return state.withLock { state in
      state.records[step] = record
      return Self.write(line, &state)
    }
    .map { "'\(path)' cannot be written: \($0)" }
  }

  /// Its job that was not seen to end: this run's, or one that a killed run has left.
  func job(of step: String) -> Job? { state.withLock { $0.jobs[step] } }

  /// Whether there is such a job of any step.
  var hasJobs: Bool { state.withLock { !$0.jobs.isEmpty } }

  /// - Parameter job: nil when it has ended.
  /// - Returns: why it could not be noted.
  func note(_ job: Job?, of step: String) -> String? {
    let line = JournalLine.job(step, job).text
    return state.withLock { state in
      state.jobs[step] = job
      return Self.write(line, &state)
    }
    .map { "'\(path)' cannot be written: \($0)" }
  }

  // MARK: Contents of files

  /// The digest of a file in this state, if it was remembered.
  func digest(of file: String, _ stamp: FileStamp) -> Fingerprint? {
    state.withLock { state in
      state.digests[file].flatMap { $0.stamp == stamp ? $0.digest : nil }
    }
  }

  /// Not remembered, it is made again in the next run.
  func note(digest: Fingerprint, of file: String, _ stamp: FileStamp) {
    let digest = JournalLine.Digest(stamp: stamp, digest: digest)
    let line = JournalLine.file(file, digest).text
    state.withLock { state in
      state.digests[file] = digest
      _ = Self.write(line, &state)
    }
  }

  // MARK: The file

  /// How often it looks, twenty milliseconds apart, before the lock counts as another run's.
  ///
  /// A killed run may leave a program that it was about to start: a copy of it, which has the lock until it is that
  /// program. That is an instant, or much longer on a busy machine.
  private static let mostLooks = 50

  private static func openLocked(
    _ path: String, wait: ((Taken) -> Void)?
  ) throws(Taken) -> (descriptor: Int32?, obstacle: String?) {
    var looks = 0
    while true {
      let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
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
        let taken = Taken(owner: JournalLines(contents(path) ?? []).owner)
        guard let wait else {
          close(descriptor)
          throw taken
        }
        wait(taken)
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
      }
      // Written anew by the one who had the lock: then it is the lock of a file that is gone.
      if let own = FileStatus(descriptor: descriptor), let named = try? FileStatus(path),
        own.isSameFile(as: named)
      {
        return (descriptor, nil)
      }
      close(descriptor)
    }
  }

  /// Empty when there is no file; nil when there is one that cannot be read.
  private static func contents(_ path: String) -> [UInt8]? {
    do throws(FileProblem) {
      _ = try FileStatus(path)
    } catch {
      return error == .missing ? [] : nil
    }
    return try? InputFile(path).contents()
  }

  /// Under another name first: what is there stays if this is stopped. nil: the file goes on growing.
  private static func rewritten(_ lines: JournalLines, at path: String) -> Int32? {
    let other = path + ".new"
    let descriptor = unsafe open(other, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { return nil }
    do throws(PatientWriter.Failure) {
      try PatientWriter(descriptor).write(lines.text.utf8)
      // Locked before it has its name, so that no other process comes between.
      _ = flock(descriptor, LOCK_EX | LOCK_NB)
      // On the disk before it takes the place of what is there.
      if fsync(descriptor) == 0, unsafe rename(other, path) == 0 { return descriptor }
    } catch {
      // What is there stays.
    }
    close(descriptor)
    _ = unsafe unlink(other)
    return nil
  }

  /// Returns why it is not written to its end.
  private static func write(_ line: String, _ state: inout State) -> String? {
    if let obstacle = state.obstacle { return obstacle }
    guard let descriptor = state.descriptor else { return nil }
    do throws(PatientWriter.Failure) {
      try PatientWriter(descriptor).write(((state.isTorn ? JournalLine.endOfTorn : "") + line).utf8)
      state.isTorn = false
      return nil
    } catch {
      state.isTorn = true
      return "\(error)"
    }
  }
}
