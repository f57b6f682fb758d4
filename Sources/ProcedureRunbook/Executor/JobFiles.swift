#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The files of one job, in the folder `.runbook.jobs` beside the plan: what it wrote, and its status.
///
/// The status is what counts: the job itself writes it as the last thing that it does, under another name first, so it
/// is there whole or not at all. What a cluster says of an end may come late, or be forgotten.
struct JobFiles: Sendable {
  static let folderName = ".runbook.jobs"

  private let folder: String
  private let key: String

  /// - Parameter directory: that of the plan, from the root.
  init(of key: String, in directory: String) {
    folder = directory + "/" + Self.folderName
    self.key = key
  }

  var output: String { "\(folder)/\(key).out" }
  private var status: String { "\(folder)/\(key).status" }
  /// Made as the first thing that the job does.
  private var began: String { "\(folder)/\(key).began" }

  /// Makes the folder, which no other user can read, since output may say secrets. Why that cannot be done.
  func prepare() -> String? {
    if unsafe mkdir(folder, 0o700) == 0 { return nil }
    guard errno == EEXIST, unsafe chmod(folder, 0o700) == 0 else {
      return unsafe "'\(folder)': \(String(cString: strerror(errno)))"
    }
    return nil
  }

  /// A script that runs a shell with its arguments, and writes its status down.
  func script(running shell: [String]) -> String {
    let command = shell.map(\.shellWord).joined(separator: " ")
    let (status, began) = (status.shellWord, began.shellWord)
    return """
      #!/bin/sh
      true > \(began)
      # A signal to all processes of the job ends the command; its status is still to be noted.
      trap : TERM INT
      \(command) < /dev/null
      status=$?
      echo $status > \(status).new && mv \(status).new \(status) || exit 125
      exit $status

      """
  }

  /// What its command ended with; nil while it has not.
  func readStatus() -> Int32? {
    guard let bytes = try? InputFile(status).contents() else { return nil }
    return Int32(String(decoding: bytes, as: UTF8.self).prefix { $0.isNumber })
  }

  /// When it noted that it began, by the clock of the files; nil while it has not.
  var beginning: ContinuousClock.Instant? { Self.moment(began) }
  /// The same of its end.
  var end: ContinuousClock.Instant? { Self.moment(status) }

  private static func moment(_ path: String) -> ContinuousClock.Instant? {
    guard let time = try? FileStatus(path).time else { return nil }
    return .now - max(.zero, FileTime.now - time)
  }

  /// What there is of all jobs, by one look at the folder, which a file system of the network does not answer from
  /// memory.
  struct Present: Sendable {
    private let names: Set<String>

    init(in directory: String) {
      names = Set(Directory.names(in: directory + "/" + JobFiles.folderName) ?? [])
    }

    /// It has begun: the cluster makes the file then.
    func hasOutput(_ key: String) -> Bool { names.contains("\(key).out") }
    func hasStatus(_ key: String) -> Bool { names.contains("\(key).status") }
  }

  /// What it wrote behind `offset`, a piece of it.
  func readOutput(from offset: Int) -> [UInt8] {
    let descriptor = unsafe open(output, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    return unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
      count = max(0, unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)))
    }
  }

  func remove() {
    for path in [output, began, status, status + ".new"] { _ = unsafe unlink(path) }
  }

  /// Whether there is a folder: jobs of this or an earlier run may be there.
  static func areThere(in directory: String) -> Bool {
    (try? FileStatus(directory + "/" + folderName)) != nil
  }

  /// Removes the folder, if nothing is left in it. Not while a job waits that will write there.
  static func removeFolder(in directory: String) { _ = unsafe rmdir(directory + "/" + folderName) }
}
