internal import Procedures

extension ProcedureTimeline {
  /// All procedures of one name, which have started.
  public struct NamedRuns: Sendable, Hashable {
    /// Their name.
    public let name: String

    /// How many there were.
    public let count: Int

    /// How long they ran, together: from started to finished, or until the snapshot.
    public let sum: Duration

    /// How long half of them ran at most.
    public let median: Duration

    /// How long 99 of 100 ran at most.
    public let p99: Duration

    /// The number of the entry that ran longest.
    public let longest: Int

    /// How many failed.
    public let failedCount: Int
  }
}

extension ProcedureTimeline.Snapshot {
  /// How often, and how long, procedures of each name ran, the greatest sum first; groups are not counted.
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
      // The least that so many are not longer than.
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
