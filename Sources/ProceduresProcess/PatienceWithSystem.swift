#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// How long to wait before a program that the system refused to start is tried again.
  struct PatienceWithSystem: Sendable {
    private var waited = Duration.zero
    private var delay = Duration.milliseconds(1)

    /// nil: no longer.
    ///
    /// - Parameter othersRun: whether programs run that we started. Their end makes room.
    mutating func next(after code: Int32, othersRun: Bool) -> Duration? {
      // A file just written counts as busy while a program that started meanwhile still has our
      // descriptor of it: between its fork and its exec, which is an instant, or much longer on a
      // machine that has too much to do.
      let limit: Duration = code == ETXTBSY ? .milliseconds(500) : .seconds(2)
      guard waited < limit || (othersRun && code != ETXTBSY) else { return nil }
      defer { delay = min(delay * 2, .milliseconds(100)) }
      waited += delay
      return delay
    }
  }
#endif
