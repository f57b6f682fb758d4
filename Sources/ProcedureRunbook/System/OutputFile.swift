#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file that is written whole.
enum OutputFile {
  /// Writes a text; the reason if that cannot be done.
  static func write(_ text: String, to path: String) -> String? {
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
    let descriptor = unsafe open(path, flags, 0o666)
    guard descriptor >= 0 else { return unsafe String(cString: strerror(errno)) }
    defer { close(descriptor) }
    do throws(PatientWriter.Failure) {
      try PatientWriter(descriptor).write(text.utf8)
      return nil
    } catch {
      guard case .refused(let reason) = error else { return "\(error)" }
      return reason
    }
  }

  /// The same, under another name first: what is there stays if this process is stopped.
  static func replace(_ text: String, at path: String) -> String? {
    let other = "\(path).\(getpid())"
    if let reason = write(text, to: other) {
      _ = unsafe unlink(other)
      return reason
    }
    guard unsafe rename(other, path) == 0 else {
      return unsafe String(cString: strerror(errno))
    }
    return nil
  }
}
