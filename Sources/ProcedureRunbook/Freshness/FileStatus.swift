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
  /// When it was changed last.
  let time: FileTime
  let size: Int
  private let inode: UInt64
  private let device: UInt64

  /// - Parameter followsLinks: whether a symbolic link stands for what it leads to.
  init(_ path: String, followsLinks: Bool = true) throws(FileProblem) {
    var status = stat()
    let code = followsLinks ? unsafe stat(path, &status) : unsafe lstat(path, &status)
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
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    self.time = FileTime(seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec))
    size = Int(status.st_size)
    inode = UInt64(status.st_ino)
    device = UInt64(truncatingIfNeeded: status.st_dev)
  }

  /// Whether both are of one file, changed meanwhile or not.
  func isSameFile(as other: Self) -> Bool { inode == other.inode && device == other.device }

  /// Another one when the file is another one, or was changed.
  var stamp: FileStamp {
    FileStamp(
      inode: Int(bitPattern: UInt(inode)), size: size, seconds: time.seconds,
      nanoseconds: time.nanoseconds)
  }
}

/// By what a file is known again that was not changed.
struct FileStamp: Equatable, Sendable {
  let inode: Int
  let size: Int
  let seconds: Int
  let nanoseconds: Int

  var text: String {
    [inode, size, seconds, nanoseconds].map { String($0, radix: 16) }.joined(separator: ".")
  }
}

extension FileStamp {
  /// From its text; nil when that is none.
  init?(_ text: ArraySlice<UInt8>) {
    var rest = text
    func next(until end: UInt8?) -> Int? {
      let index = end.map { rest.firstIndex(of: $0) } ?? rest.endIndex
      guard let index else { return nil }
      defer { rest = rest[index...].dropFirst() }
      let isNegative = rest.first == UInt8(ascii: "-")
      guard let number = Fingerprint(rest[..<index].dropFirst(isNegative ? 1 : 0)) else {
        return nil
      }
      let value = Int(truncatingIfNeeded: number.value)
      return isNegative ? 0 &- value : value
    }
    let dot = UInt8(ascii: ".")
    guard let inode = next(until: dot), let size = next(until: dot), let seconds = next(until: dot),
      let nanoseconds = next(until: nil)
    else { return nil }
    self.init(inode: inode, size: size, seconds: seconds, nanoseconds: nanoseconds)
  }
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

  /// By the clock that files are marked by: on Linux that goes in ticks, but for some files.
  static var now: Self {
    var time = timespec()
    #if os(Linux)
      unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
    #else
      unsafe clock_gettime(CLOCK_REALTIME, &time)
    #endif
    return Self(seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec))
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
