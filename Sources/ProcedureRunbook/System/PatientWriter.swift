#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Writes to a descriptor that may be slow, full for now, closed, or not be read at all.
///
/// It is never stuck in the system: it asks whether there is room before it writes, and every tenth of
/// a second whether to go on.
struct PatientWriter: Sendable {
  /// Why not all was written.
  enum Failure: Error, Equatable, CustomStringConvertible {
    /// It was asked not to go on.
    case givenUp
    /// Its reader went away.
    case noReader
    /// In the words of the system, for example `No space left on device`.
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
    // Where there is room for anything there is room for this much, by the rules for pipes.
    pieceSize = isFile ? 1 << 20 : 4096
  }

  /// - Parameter mayGoOn: asked after each piece, and while there is no room; whether there was
  ///   progress since it was asked before.
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

/// Under another name, since a method is called `write`.
private func systemWrite(
  _ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int
) -> Int {
  unsafe write(descriptor, bytes, count)
}
