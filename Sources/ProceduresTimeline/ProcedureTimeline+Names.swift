internal import Procedures

extension ProcedureTimeline {
  /// All started procedures of one name.
  public struct NamedRuns: Sendable, Hashable {
    /// The name that they share.
    public let name: String

    /// The number of procedures.
    public let count: Int

    /// The sum of their run times, each from started to finished, or to the snapshot.
    public let sum: Duration

    /// The median of their run times.
    public let median: Duration

    /// The 99th percentile of their run times.
    public let p99: Duration

    /// The number of the entry that ran longest.
    public let longest: Int

    /// The number of failed procedures.
    public let failedCount: Int
  }
}

extension ProcedureTimeline.Snapshot {
  /// The number and the run times of procedures by name, the greatest sum first; groups are not
  /// counted.
  ///
  /// ```swift
  /// for runs in timeline.snapshot().byName {
  ///   print("\(runs.count) × \(runs.name): \(runs.median), 99 of 100 within \(runs.p99)")
  /// }
  /// ```
  public var byName: [ProcedureTimeline.NamedRuns] {
    var places: [String: [Int]] = [:]
    for place in entries.indices
    where !entries[place].isGroup && entries[place].times.started != nil {
      places[entries[place].name, default: []].append(place)
    }
    return places.map { name, places in runs(of: name, places) }
      .sorted { ($1.sum, $0.longest) < ($0.sum, $1.longest) }
  }

  private func runs(of name: String, _ places: [Int]) -> ProcedureTimeline.NamedRuns {
    let ordered = places.map { (time: entries[$0].run(until: end), place: $0) }
      .sorted { ($0.time, $0.place) < ($1.time, $1.place) }
    func percentile(_ hundredths: Int) -> Duration {
      // The least time that this percentage of procedures did not exceed.
      let rank = (ordered.count * hundredths + 99) / 100
      return .nanoseconds(ordered[max(rank, 1) - 1].time)
    }
    return ProcedureTimeline.NamedRuns(
      name: name, count: ordered.count,
      sum: .nanoseconds(ordered.reduce(0) { $0 + $1.time }), median: percentile(50),
      p99: percentile(99), longest: entries[ordered[ordered.count - 1].place].id,
      failedCount: places.count { entries[$0].outcomeText == "failed" })
  }
}
