internal import ProcedurePrimitives
internal import Procedures

extension ProcedureTimeline.Snapshot {
  /// Returns the part within some time: procedures that were enqueued before its end, and had not
  /// finished before its begin.
  ///
  /// Waits, runs and shares outside that time are left out. Procedures that had not finished by its
  /// end are unfinished, and the critical path ends with one of them.
  ///
  /// ```swift
  /// print(timeline.snapshot().during(.seconds(60) ..< .seconds(120)).verdict)
  /// ```
  ///
  /// - Parameter time: the range, since the first procedure was enqueued. It may be longer than the
  ///   snapshot, at both ends.
  public func during(_ time: Range<Duration>) -> ProcedureTimeline.Snapshot {
    func instant(_ bound: Duration) -> Int64 {
      Duration.nanoseconds(start).saturatingAdding(bound).nanoseconds
    }
    return cut(from: instant(time.lowerBound), to: instant(time.upperBound), endingWith: nil)
  }

  /// Returns the part from the enqueue of one procedure until its finish. The critical path ends
  /// with that procedure and explains its time, even if the program went on.
  ///
  /// ```swift
  /// let snapshot = timeline.snapshot()
  /// if let slowest = snapshot.slowest(1).first, let its = snapshot.during(slowest.id) {
  ///   print(its.verdict)
  /// }
  /// ```
  ///
  /// - Parameter id: the number of the entry.
  /// - Returns: nil if there is none, or it was dropped.
  public func during(_ id: Int) -> ProcedureTimeline.Snapshot? {
    guard let entry = entry(id) else { return nil }
    return cut(from: entry.times.enqueued, to: entry.times.finished ?? end, endingWith: id)
  }

  private func cut(from: Int64, to: Int64, endingWith id: Int?) -> ProcedureTimeline.Snapshot {
    var cut = self
    // A part behind the end begins just behind it, since the times of a snapshot are added to those
    // of the day.
    let last = max(start, end)
    let (from, to) = (min(max(from, start), last < .max ? last + 1 : last), min(to, end))
    cut.entries = entries.compactMap { $0.cut(from: from, to: to) }
    cut.start = cut.entries.map(\.times.enqueued).min() ?? from
    cut.places = Dictionary(
      uniqueKeysWithValues: zip(cut.entries.map(\.id), cut.entries.indices))
    // It ends with the unfinished procedures, if there are any; if not, with the last finish.
    let isComplete = cut.entries.allSatisfy { $0.times.finished != nil }
    cut.end =
      isComplete ? cut.entries.compactMap(\.times.finished).max() ?? from : max(from, to)
    cut.last = id
    return cut
  }
}

extension ProcedureTimeline.Entry {
  /// Returns nil if the entry is outside.
  fileprivate func cut(from: Int64, to: Int64) -> ProcedureTimeline.Entry? {
    guard times.enqueued < to || times.enqueued == from, times.finished ?? .max > from || from == to
    else { return nil }
    // Earlier instants move to the begin; later ones are dropped.
    func within(_ time: Int64?) -> Int64? { time.flatMap { $0 <= to ? max($0, from) : nil } }
    var entry = self
    entry.times = Times(
      enqueued: max(times.enqueued, from), ready: within(times.ready),
      started: within(times.started), executing: within(times.executing),
      finished: within(times.finished), cancelled: within(times.cancelled))
    if entry.times.finished == nil { entry.outcome = nil }
    // A part of the body cannot be computed, since only sums are recorded.
    if let started = times.started, started < from || times.finished ?? .max > to {
      entry.body = nil
    }
    entry.stretches = stretches.compactMap { $0.cut(from: from, to: to) }
    return entry
  }
}
