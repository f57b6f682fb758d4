#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The descriptors 0, 1 and 2.
enum StandardStreams {
  /// Puts something in the place of those that are closed, so that no file that is opened later gets
  /// their numbers and what is meant for standard output.
  ///
  /// To read, to write to it is the error that it would be.
  static func fillClosed() {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest number that is free, which is this one.
      _ = unsafe open("/dev/null", O_RDONLY)
    }
  }

  /// Prints to standard output what is asked for, and answers the exit status.
  static func print(_ text: String) -> Int32 {
    do throws(PatientWriter.Failure) {
      try PatientWriter(STDOUT_FILENO).write((text + "\n").utf8)
    } catch {
      return complain(about: error) ? 1 : 0
    }
    return 0
  }

  /// Says on standard error that output is lost. A reader that went away wanted no more of it.
  ///
  /// Returns whether there was something to complain about.
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
    // Where this cannot be written, there is no other place to say so.
    try? PatientWriter(STDERR_FILENO).write("runbook: \(sentence)\n".utf8)
  }
}
