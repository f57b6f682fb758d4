#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file that is written as a whole.
enum OutputFile {
  /// What a path leads to.
  enum Place: Hashable {
    case file(FileIdentity)
    /// Nothing is there yet.
    case path(FilePath)

    /// nil for anything that is not a file, such as a pipe.
    init?(_ path: FilePath, _ realPaths: RealPaths) {
      if let status = try? FileStatus(path) {
        guard status.kind == .file else { return nil }
        self = .file(status.identity)
      } else {
        // A link is written through.
        self = .path(realPaths.target(path) ?? realPaths.real(path))
      }
    }
  }

  /// Writes a text. Returns the reason if that fails.
  static func write(_ text: String, to path: String) -> String? {
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
    let descriptor = unsafe open(path, flags, 0o666)
    guard descriptor >= 0 else { return unsafe String(cString: strerror(errno)) }
    defer { close(descriptor) }
    do throws(PatientWriter.Failure) {
      try PatientWriter(descriptor).write(text.utf8)
      return nil
    } catch {
      return "\(error)"
    }
  }
}
