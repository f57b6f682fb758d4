/// The number of runs of a scenario, and of the orders of events that they showed.
///
/// Two runs show the same order if their logs are the same, to the byte.
public struct SimulationCoverage: Sendable, Hashable, CustomStringConvertible {
  /// The number of runs.
  public internal(set) var runs = 0

  /// The number of different orders of events.
  public internal(set) var orders = 0

  /// The number of orders that only one run showed.
  public internal(set) var seenOnce = 0

  /// Whether there is no other order within the `mostPreemptions` of `exploreAll`. Always false for
  /// `explore`, which draws.
  public internal(set) var isComplete = false

  /// The chance that one more run shows a new order: the share of runs whose order was seen once
  /// (Good and Turing's estimate). 0 if all were tried, 1 before the first run.
  public var chanceOfNew: Double {
    if isComplete { return 0 }
    return runs == 0 ? 1 : Double(seenOnce) / Double(runs)
  }

  /// For example `10000 runs, 720 orders, none of them seen once`.
  public var description: String {
    let once = seenOnce == 0 ? "none" : "\(seenOnce)"
    return "\(runs) runs, \(orders) orders, "
      + (isComplete ? "and there are no others" : "\(once) of them seen once")
  }
}

/// Counts orders by the fingerprints of their logs.
struct OrderCount {
  private var isSeenAgain: [Int: Bool] = [:]
  private(set) var coverage = SimulationCoverage()

  mutating func note(_ fingerprint: Int) {
    coverage.runs += 1
    switch isSeenAgain[fingerprint] {
    case nil:
      coverage.orders += 1
      coverage.seenOnce += 1
      isSeenAgain[fingerprint] = false
    case false?:
      coverage.seenOnce -= 1
      isSeenAgain[fingerprint] = true
    case true?: break
    }
  }

  mutating func complete() { coverage.isComplete = true }
}
