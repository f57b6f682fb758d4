#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The waits between the attempts to start a program that the system refuses.
  struct PatienceWithSystem: Sendable {
    private var waited = Duration.zero
    private var delay = Duration.milliseconds(1)

    /// The next wait; nil to give up.
    ///
    /// - Parameter othersRun: whether other programs of this process run, whose end makes room.
    mutating func next(after code: Int32, othersRun: Bool) -> Duration? {
      // A file that was just written counts as busy while a program that is being started still has
      // this process's descriptor of it, between its fork and its exec: an instant, or much longer
      // on an overloaded machine.
      let limit: Duration = code == ETXTBSY ? .milliseconds(500) : .seconds(2)
      guard waited < limit || (othersRun && code != ETXTBSY) else { return nil }
      defer { delay = min(delay * 2, .milliseconds(100)) }
      waited += delay
      return delay
    }
  }
#endif
