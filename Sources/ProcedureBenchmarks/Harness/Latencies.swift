internal import Synchronization

/// Takes down how long something took, from any thread.
final class Latencies: Sendable {
  private let found = Mutex<[Double]>([])

  func note(since start: ContinuousClock.Instant, until end: ContinuousClock.Instant = .now) {
    let elapsed = (end - start).nanoseconds
    found.withLock { $0.append(elapsed) }
  }

  var count: Int { found.withLock(\.count) }

  /// What half of them, and 99 of 100, did not exceed: the figures of a contest of latencies.
  var percentiles: [Double] {
    let sorted = found.withLock { $0.sorted() }
    return [sorted.quantile(0.5), sorted.quantile(0.99)]
  }

  static let figures = ["p50", "p99"]
}
