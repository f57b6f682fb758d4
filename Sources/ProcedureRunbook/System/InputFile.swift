#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file that is read as a whole: on a disk, a pipe such as `<(…)`, a terminal, or standard input.
struct InputFile {
  private static let largest = 256 << 20

  private let path: FilePath

  /// - Parameter path: `-` for standard input.
  init(_ path: String) { self.init(FilePath(path)) }

  init(_ path: FilePath) { self.path = path }

  private var isStandardInput: Bool { path == FilePath("-") }

  /// Returns its contents; blocks until all of it was read.
  func contents() throws(PlanError) -> [UInt8] {
    let descriptor =
      isStandardInput
      ? dup(STDIN_FILENO) : unsafe path.withPointer { unsafe open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw failure(errno) }
    defer { close(descriptor) }
    var contents: [UInt8] = []
    // The size is known if it is a file on a disk.
    let size = FileStatus(descriptor: descriptor)?.size ?? 0
    contents.reserveCapacity(min(max(size, 0), Self.largest))
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe read(descriptor, &piece, piece.count)
      if count == 0 { return contents }
      if count > 0 {
        contents += piece[..<count]
        guard contents.count <= Self.largest else {
          throw PlanError(.unreadable(reason: "'\(name)' is larger than 256 MB"))
        }
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&entry, 1, -1)
      default: throw failure(errno)
      }
    }
  }

  /// Whether it exists and is not a directory.
  var isThere: Bool {
    var status = stat()
    return unsafe path.withPointer { unsafe stat($0, &status) } == 0
      && status.st_mode & S_IFMT != S_IFDIR
  }

  /// The folder above it, with links resolved; nil if it has none, like a pipe.
  var folder: FilePath? { resolved?.folder }

  /// The path with links resolved; nil if there is no such file.
  var resolved: FilePath? {
    guard !isStandardInput, (try? FileStatus(path))?.kind == .file else { return nil }
    return path.resolved
  }

  private var name: String { isStandardInput ? "standard input" : path.visible }

  private func failure(_ code: Int32) -> PlanError {
    let reason =
      switch code {
      case ENOENT: "there is no file '\(name)'"
      case EISDIR: "'\(name)' is a directory"
      case EACCES, EPERM: "'\(name)' may not be read"
      default: "'\(name)': \(unsafe String(cString: strerror(code)))"
      }
    return PlanError(.unreadable(reason: reason))
  }
}
