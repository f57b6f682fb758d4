#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum StandardStreams {
  /// Opens the closed ones, so that no later file gets their numbers, and with them the text for
  /// standard output.
  ///
  /// They are opened for reading, so that a write still fails.
  static func fillClosed() {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
      // `open` returns the lowest free number, which is this one.
      _ = unsafe open("/dev/null", O_RDONLY)
    }
  }

  /// Prints a text to standard output, and returns the exit status.
  static func print(_ text: String) -> Int32 {
    do throws(PatientWriter.Failure) {
      try PatientWriter(STDOUT_FILENO).write((text + "\n").utf8)
    } catch {
      return complain(about: error) ? 1 : 0
    }
    return 0
  }

  /// Reports on standard error that output is lost, unless the reader has closed its end.
  ///
  /// Returns whether there was something to report.
  @discardableResult
  static func complain(about failure: PatientWriter.Failure) -> Bool {
    switch failure {
    case .noReader: return false
    case .givenUp: complain("standard output was not read any more; the rest of it is lost")
    case .refused(let reason): complain("standard output cannot be written: \(reason)")
    }
    return true
  }

  static let noThreads =
    "there is no room for threads: the system allows no more processes (ulimit -u), or no more memory "
    + "(ulimit -v)"

  static func complainAboutThreads() { complain(noThreads) }

  static func complain(_ sentence: String) {
    // If this cannot be written, there is no other place to report it.
    try? PatientWriter(STDERR_FILENO).write("runbook: \(sentence)\n".utf8)
  }
}
