#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#endif

/// What the process has used since it started. The difference of two is what the work in between
/// used, on all threads.
struct ProcessUse: Sendable {
  /// Processor time, in nanoseconds. The system counts it in microseconds.
  let processorTime: Double
  /// How often a thread stopped running: to wait, or because another thread got its core.
  let switches: Double

  static var now: ProcessUse {
    ProcessUse(
      processorTime: Double(clock()) * (1e9 / Double(CLOCKS_PER_SEC)), switches: allSwitches)
  }

  static func - (later: ProcessUse, earlier: ProcessUse) -> ProcessUse {
    ProcessUse(
      processorTime: later.processorTime - earlier.processorTime,
      switches: later.switches - earlier.switches)
  }

  private static var allSwitches: Double {
    var usage = rusage()
    #if canImport(Glibc)
      _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #else
      _ = unsafe getrusage(RUSAGE_SELF, &usage)
    #endif
    return Double(usage.ru_nvcsw) + Double(usage.ru_nivcsw)
  }
}
