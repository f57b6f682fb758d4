#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What the system says of a file without reading it.
struct FileStatus: Equatable, Sendable {
  enum Kind: Sendable { case file, folder, link, other }

  let kind: Kind
  /// When its contents were changed last, as programs say.
  let time: FileTime
  /// When anything of it was changed last: no program can say something else.
  let changeTime: FileTime
  let size: Int
  private let inode: UInt64
  private let device: UInt64

  init(_ path: String) throws(FileProblem) { try self.init(FilePath(path)) }

  /// - Parameter followsLinks: whether a symbolic link stands for what it leads to.
  init(_ path: FilePath, followsLinks: Bool = true) throws(FileProblem) {
    var status = stat()
    let code = unsafe path.withPointer { path in
      followsLinks ? unsafe stat(path, &status) : unsafe lstat(path, &status)
    }
    guard code == 0 else { throw FileProblem(errno) }
    self.init(status)
  }

  /// Of a file that is open; nil when the system does not say.
  init?(descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .folder
    case S_IFLNK: kind = .link
    default: kind = .other
    }
    #if canImport(Darwin)
      (time, changeTime) = (FileTime(status.st_mtimespec), FileTime(status.st_ctimespec))
    #else
      (time, changeTime) = (FileTime(status.st_mtim), FileTime(status.st_ctim))
    #endif
    size = Int(status.st_size)
    inode = UInt64(status.st_ino)
    device = UInt64(truncatingIfNeeded: status.st_dev)
  }

  /// Equal for one file, changed meanwhile or not.
  var identity: FileIdentity { FileIdentity(inode: inode, device: device) }

  /// Stands for inode, size and both times: another one when the file is another one, or was changed.
  var stamp: FileStamp {
    var all = Fingerprint()
    all.add(inode)
    all.add(UInt64(bitPattern: Int64(size)))
    all.add(time)
    let body = all
    all.add(changeTime)
    return FileStamp(all: all, body: body)
  }

  /// Whether a later change will show in the stamp. The clock of files goes in ticks, of seconds on some file systems.
  func isSettled(at now: FileTime) -> Bool {
    let isFine = changeTime.nanoseconds % 1_000_000 != 0
    return now - changeTime > (isFine ? .milliseconds(50) : .milliseconds(2_100))
  }
}

struct FileIdentity: Hashable, Sendable {
  let inode: UInt64
  let device: UInt64
}

/// By what a file is known again that was not changed.
struct FileStamp: Equatable, Sendable {
  let all: Fingerprint
  /// Without the time that a new link to the file, or another permission, changes too.
  let body: Fingerprint
}

/// A moment, as precise as the file system notes it.
struct FileTime: Comparable, Sendable {
  let seconds: Int
  let nanoseconds: Int

  static func < (left: Self, right: Self) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }

  static func - (left: Self, right: Self) -> Duration {
    .seconds(left.seconds - right.seconds) + .nanoseconds(left.nanoseconds - right.nanoseconds)
  }

  init(_ time: timespec) {
    self.init(seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec))
  }

  init(seconds: Int, nanoseconds: Int) {
    (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
  }

  /// By the clock that files are marked by: on Linux that goes in ticks, but for some files.
  static var now: Self {
    var time = timespec()
    #if os(Linux)
      unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
    #else
      unsafe clock_gettime(CLOCK_REALTIME, &time)
    #endif
    return Self(time)
  }
}

/// Why nothing is known of a file.
enum FileProblem: Error, Equatable {
  case missing
  /// In the words of the system.
  case refused(String)

  init(_ code: Int32) {
    self =
      code == ENOENT || code == ENOTDIR
      ? .missing : .refused(unsafe String(cString: strerror(code)))
  }
}
