#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The system's data about a file, without its contents.
struct FileStatus: Equatable, Sendable {
  enum Kind: Sendable { case file, folder, link, other }

  let kind: Kind
  /// The last change of its contents, which programs can set.
  let time: FileTime
  /// The last change of the file or its data, which no program can set.
  let changeTime: FileTime
  let size: Int
  private let inode: UInt64
  private let device: UInt64

  init(_ path: String) throws(FileProblem) { try self.init(FilePath(path)) }

  /// - Parameter followsLinks: whether a symbolic link stands for its target.
  init(_ path: FilePath, followsLinks: Bool = true) throws(FileProblem) {
    var status = stat()
    let code = unsafe path.withPointer { path in
      followsLinks ? unsafe stat(path, &status) : unsafe lstat(path, &status)
    }
    guard code == 0 else { throw FileProblem(errno) }
    self.init(status)
  }

  /// The status of an open file; nil if the system does not say.
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

  /// The same for one file before and after a change.
  var identity: FileIdentity { FileIdentity(inode: inode, device: device) }

  /// Computed from inode, size and both times: it differs if the file was replaced or changed.
  var stamp: FileStamp {
    var all = Fingerprint()
    all.add(inode)
    all.add(UInt64(bitPattern: Int64(size)))
    all.add(time)
    let body = all
    all.add(changeTime)
    return FileStamp(all: all, body: body)
  }

  /// Whether a later change will change the stamp. The clock of files has ticks, of seconds in some
  /// file systems.
  func isSettled(at now: FileTime) -> Bool {
    let isFine = changeTime.nanoseconds % 1_000_000 != 0
    return now - changeTime > (isFine ? .milliseconds(50) : .milliseconds(2_100))
  }
}

struct FileIdentity: Hashable, Sendable {
  let inode: UInt64
  let device: UInt64
}

/// Identifies the state of a file that was not changed.
struct FileStamp: Equatable, Sendable {
  let all: Fingerprint
  /// Leaves out the change time, which a new link to the file, or another permission, changes too.
  let body: Fingerprint
}

/// A time, as precise as the file system notes it.
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

  /// The current time of the clock that marks files. On Linux it has ticks, in most file systems.
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

/// The reason why the status of a file is unknown.
enum FileProblem: Error, Equatable {
  case missing
  /// Described in the words of the system.
  case refused(String)

  init(_ code: Int32) {
    self =
      code == ENOENT || code == ENOTDIR
      ? .missing : .refused(unsafe String(cString: strerror(code)))
  }
}
