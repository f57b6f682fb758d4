#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Writes to a descriptor that may be slow, full, closed, or never read.
///
/// It never blocks in the system: it checks for room before it writes, and asks the caller every
/// tenth of a second whether to go on.
struct PatientWriter: Sendable {
  /// The reason why not all was written.
  enum Failure: Error, Equatable, CustomStringConvertible {
    /// The caller did not want to go on.
    case givenUp
    /// The reader has closed its end.
    case noReader
    /// The system's words, for example `No space left on device`.
    case refused(String)

    var description: String {
      switch self {
      case .givenUp: "its reader takes nothing"
      case .noReader: "its reader has gone"
      case .refused(let reason): reason
      }
    }
  }

  let descriptor: Int32
  private let pieceSize: Int

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    var status = stat()
    let isFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    // By the rules for pipes, a pipe with any room has room for this much.
    pieceSize = isFile ? 1 << 20 : 4096
  }

  /// - Parameter mayGoOn: called after each piece, and while there is no room; it gets whether
  ///   there was progress since the last call.
  func write(
    _ bytes: some Collection<UInt8>, mayGoOn: (_ hasProgressed: Bool) -> Bool = { _ in true }
  ) throws(Failure) {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      guard hasRoom else {
        guard mayGoOn(false) else { throw .givenUp }
        continue
      }
      let count = unsafe rest.withUnsafeBytes { buffer in
        unsafe systemWrite(descriptor, buffer.baseAddress, min(buffer.count, pieceSize))
      }
      if count >= 0 {
        rest = rest.dropFirst(count)
        guard mayGoOn(true) else { throw .givenUp }
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: usleep(1000)
      case EPIPE: throw .noReader
      default: throw .refused(unsafe String(cString: strerror(errno)))
      }
    }
  }

  private var hasRoom: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return unsafe poll(&entry, 1, 100) != 0
  }
}

/// It has a name of its own, since a method is called `write`.
private func systemWrite(
  _ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int
) -> Int {
  unsafe write(descriptor, bytes, count)
}
