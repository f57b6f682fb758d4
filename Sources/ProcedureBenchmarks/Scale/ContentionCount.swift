#if CONTENTION
  internal import ProcedurePrimitives
  internal import Synchronization
#endif

/// What the locks and atomics of the package have counted, in a build with `-DCONTENTION`.
struct ContentionCount: Sendable {
  let waits: Int
  let failures: Int

  #if CONTENTION
    static let isKnown = true
    static var now: ContentionCount {
      ContentionCount(waits: Contention.lockWaits, failures: Contention.failedExchanges)
    }
  #else
    static let isKnown = false
    static var now: ContentionCount { ContentionCount(waits: 0, failures: 0) }
  #endif

  /// Nil in an ordinary build, which does not count.
  static func since(_ earlier: ContentionCount) -> ContentionCount? {
    guard isKnown else { return nil }
    let now = now
    return ContentionCount(
      waits: now.waits - earlier.waits, failures: now.failures - earlier.failures)
  }
}
