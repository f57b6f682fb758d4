#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The files of one job, in the folder `.runbook.jobs` beside the plan: its output, and its status.
///
/// The status decides. The job itself writes it last, under another name first, so it is complete
/// or missing. The cluster's report of an end may come late, or be forgotten.
struct JobFiles: Sendable {
  static let folderName = ".runbook.jobs"

  private let folder: String
  private let key: String

  /// - Parameter directory: the absolute path of the plan's directory.
  init(of key: String, in directory: String) {
    folder = directory + "/" + Self.folderName
    self.key = key
  }

  var output: String { "\(folder)/\(key).out" }
  private var status: String { "\(folder)/\(key).status" }
  /// Created by the job when it begins.
  private var began: String { "\(folder)/\(key).began" }

  /// Creates the folder, readable by this user only, since output may contain secrets. Returns the
  /// reason if that fails.
  func prepare() -> String? {
    if unsafe mkdir(folder, 0o700) == 0 { return nil }
    guard errno == EEXIST, unsafe chmod(folder, 0o700) == 0 else {
      return unsafe "'\(folder)': \(String(cString: strerror(errno)))"
    }
    return nil
  }

  /// A script that runs a shell with its arguments, and writes its status into a file.
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

  /// The exit status of its command; nil until it was written.
  func readStatus() -> Int32? {
    guard let bytes = try? InputFile(status).contents() else { return nil }
    return Int32(String(decoding: bytes, as: UTF8.self).prefix { $0.isNumber })
  }

  /// The time at which it noted that it began, by the clock of the files; nil until then.
  var beginning: ContinuousClock.Instant? { Self.moment(began) }
  /// The time at which it noted its end; nil until then.
  var end: ContinuousClock.Instant? { Self.moment(status) }

  private static func moment(_ path: String) -> ContinuousClock.Instant? {
    guard let time = try? FileStatus(path).time else { return nil }
    return .now - max(.zero, FileTime.now - time)
  }

  /// The files of all jobs, from one listing of the folder, which a network file system does not
  /// answer from its cache.
  struct Present: Sendable {
    private let names: Set<String>

    init(in directory: String) {
      names = Set(Directory.names(in: directory + "/" + JobFiles.folderName) ?? [])
    }

    /// Whether it has begun: the cluster creates the file then.
    func hasOutput(_ key: String) -> Bool { names.contains("\(key).out") }
    func hasStatus(_ key: String) -> Bool { names.contains("\(key).status") }
  }

  /// Reads a piece of its output behind `offset`.
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

  /// Whether the folder is there: then there may be jobs of this or an earlier run.
  static func areThere(in directory: String) -> Bool {
    (try? FileStatus(directory + "/" + folderName)) != nil
  }

  /// Removes the folder if it is empty. Do not call it while a waiting job will write there.
  static func removeFolder(in directory: String) { _ = unsafe rmdir(directory + "/" + folderName) }
}
