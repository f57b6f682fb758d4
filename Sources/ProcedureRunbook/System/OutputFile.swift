#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file that is written as a whole.
enum OutputFile {
  private enum Place: Hashable {
    case file(FileIdentity)
    /// Nothing is there yet.
    case path(FilePath)
  }

  /// Returns the indices of the first two paths that lead to one file; nil if there are none. Pipes
  /// and devices may have several writers.
  static func firstPair(sharingFile paths: [String]) -> (Int, Int)? {
    var known: [Place: Int] = [:]
    let realPaths = RealPaths()
    for (index, text) in paths.enumerated() {
      let path = FilePath.normal(text, in: nil)
      let place: Place
      if let status = try? FileStatus(path) {
        guard status.kind == .file else { continue }
        place = .file(status.identity)
      } else {
        // A link is written through.
        place = .path(realPaths.target(path) ?? realPaths.real(path))
      }
      if let other = known.updateValue(index, forKey: place) { return (other, index) }
    }
    return nil
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
