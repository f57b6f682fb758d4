import Procedures

/// The places in the pools of a plan: each step of a pool of n gets one of n, in turn.
///
/// So never more than n of them run at the same time. A step waits for its own place, also when another
/// one is free: a counted exclusion will do better.
struct PoolPlaces {
  private let sizes: [String: Int]
  private let domain: ExclusionDomain
  private var counts: [String: Int] = [:]

  init(_ sizes: [String: Int], in domain: ExclusionDomain) {
    self.sizes = sizes
    self.domain = domain
  }

  /// For the next step of a pool.
  mutating func next(in pool: String) -> MutuallyExclusive<NamedCategory> {
    let place = counts[pool, default: 0] % max(1, sizes[pool] ?? 1)
    counts[pool, default: 0] += 1
    return MutuallyExclusive(named: "place \(place) in \(pool)", in: domain)
  }
}
