internal import Procedures

extension ProcedureTimeline {
  /// The sum of all waits for one cause.
  public struct WaitTotal: Sendable, Hashable {
    /// The cause of the waits.
    public let cause: WaitCause

    /// The sum over all procedures, of which several may wait at the same time.
    public let total: Duration

    /// The number of procedures that waited for it.
    public let count: Int

    /// The number of the entry that waited longest.
    public let longest: Int

    /// The time that this entry waited.
    public let longestDuration: Duration
  }

  /// The use of slots from `time` on, until the time of the next value.
  public struct SlotUse: Sendable, Hashable {
    /// The time since the timeline's first procedure was enqueued.
    public let time: Duration

    /// The number of procedures between started and finished. Groups are not counted, since they
    /// consist of others.
    public let running: Int

    /// The number of procedures that waited only to be started.
    public let ready: Int
  }
}

extension ProcedureTimeline.Snapshot {
  /// The waits of all procedures, groups included, summed by cause, the greatest sum first.
  public var waits: [ProcedureTimeline.WaitTotal] {
    ProcedureTimeline.WaitCause.allCases.compactMap(total(of:))
      .sorted { $0.total > $1.total }
  }

  private func total(of cause: ProcedureTimeline.WaitCause) -> ProcedureTimeline.WaitTotal? {
    var (sum, count, longest): (Int64, Int, (id: Int, time: Int64)?) = (0, 0, nil)
    for entry in entries {
      let time = entry.nanosecondsWaited(for: cause)
      guard time != 0 else { continue }
      sum += time
      count += 1
      if time > longest?.time ?? .min { longest = (entry.id, time) }
    }
    guard let longest else { return nil }
    return ProcedureTimeline.WaitTotal(
      cause: cause, total: .nanoseconds(sum), count: count, longest: longest.id,
      longestDuration: .nanoseconds(longest.time))
  }

  /// The longest waits, of all causes or of one, the longest first.
  ///
  /// - Parameters:
  ///   - count: the greatest number of results.
  ///   - cause: nil for all.
  public func longestWaits(
    _ count: Int = 10, for cause: ProcedureTimeline.WaitCause? = nil
  ) -> [(entry: ProcedureTimeline.Entry, wait: ProcedureTimeline.Wait)] {
    var all: [(place: Int, wait: ProcedureTimeline.Wait)] = []
    for place in entries.indices {
      for wait in entries[place].waits where cause == nil || wait.cause == cause {
        all.append((place, wait))
      }
    }
    all.sort { ($1.wait.nanoseconds, $0.place) < ($0.wait.nanoseconds, $1.place) }
    return all.prefix(count).map { (entries[$0.place], $0.wait) }
  }

  /// Returns the procedures that took longest from start to finish, without groups.
  public func slowest(_ count: Int = 10) -> [ProcedureTimeline.Entry] {
    let started = entries.filter { !$0.isGroup && $0.times.started != nil }
    return Array(
      started.sorted { ($1.run(until: end), $0.id) < ($0.run(until: end), $1.id) }
        .prefix(count))
  }

  /// The number of running and of ready procedures over time: one value for each change.
  public var slotUse: [ProcedureTimeline.SlotUse] {
    var changes: [(time: Int64, running: Int, ready: Int)] = []
    for entry in entries where !entry.isGroup {
      let over = entry.times.started ?? entry.times.cancelled ?? entry.times.finished
      if let ready = entry.times.ready, ready <= over ?? end {
        changes.append((ready, 0, 1))
        if let over { changes.append((over, 0, -1)) }
      }
      if let started = entry.times.started {
        changes.append((started, 1, 0))
        if let finished = entry.times.finished { changes.append((finished, -1, 0)) }
      }
    }
    changes.sort { $0.time < $1.time }
    var use: [ProcedureTimeline.SlotUse] = []
    var (running, ready) = (0, 0)
    for (index, change) in changes.enumerated() {
      running += change.running
      ready += change.ready
      if index + 1 < changes.count, changes[index + 1].time == change.time { continue }
      let next = ProcedureTimeline.SlotUse(
        time: .nanoseconds(change.time - start), running: running, ready: ready)
      if let last = use.last, last.running == running, last.ready == ready { continue }
      use.append(next)
    }
    return use
  }

  /// The greatest number of procedures that ran at the same time.
  public var mostRunning: Int { slotUse.map(\.running).max() ?? 0 }

  /// The number of running procedures, averaged over the whole time.
  public var averageRunning: Double {
    guard end > start else { return 0 }
    var sum = 0.0
    for entry in entries where !entry.isGroup && entry.times.started != nil {
      sum += Double(entry.run(until: end))
    }
    return sum / Double(end - start)
  }
}

extension ProcedureTimeline.Entry {
  /// Its time from start to finish, in nanoseconds; 0 if it has not started.
  func run(until end: Int64) -> Int64 {
    guard let started = times.started else { return 0 }
    return max((times.finished ?? end) - started, 0)
  }

  /// Its time from start to finish; nil if it has not finished, or never started.
  public var duration: Duration? {
    guard let started = times.started, let finished = times.finished else { return nil }
    return .nanoseconds(finished - started)
  }

  /// Its time from enqueued to finished, in nanoseconds.
  func whole(until end: Int64) -> Int64 { max((times.finished ?? end) - times.enqueued, 0) }

  func nanosecondsWaited(for cause: ProcedureTimeline.WaitCause) -> Int64 {
    waits.reduce(0) { $0 + ($1.cause == cause ? $1.nanoseconds : 0) }
  }

  /// The time that it waited before it started, or was cancelled.
  public var waited: Duration {
    .nanoseconds(waits.reduce(0) { $0 + ($1.cause.isAfterStart ? 0 : $1.nanoseconds) })
  }
}
