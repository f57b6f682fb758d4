internal import Procedures

extension ProcedureTimeline {
  /// The state of a timeline at one moment, for queries.
  public struct Snapshot: Sendable {
    /// The procedures, in the order in which they were enqueued.
    public internal(set) var entries: [Entry]

    /// The number of finished procedures that were dropped for newer ones.
    public let droppedCount: Int

    /// The number of procedures that were not recorded, since only one in `sampleSize` is.
    public internal(set) var leftOutCount = 0

    /// The timeline records one in `sampleSize` procedures, with all procedures below it.
    public internal(set) var sampleSize = 1

    /// The names of the recorded queues and groups, in the order in which recording began.
    public let rootNames: [String]

    /// The present limit of each of them; nil for no limit, or if it was deallocated. The limit at
    /// the time of a wait is that wait's `limit`.
    public let limits: [Int?]

    let rootsAreGroups: [Bool]

    /// The label of the underlying queue of each of them; nil if it has none.
    let underlyingQueues: [String?]

    /// The wall-clock time of instant 0, in nanoseconds since 1970; nil if a queue has a test
    /// clock.
    let epoch: Int64?

    /// The ids of spans are computed from this.
    var identity = TraceIdentity.ofTests

    /// The last known instant, in nanoseconds: the end of unfinished procedures.
    var end: Int64

    /// The first instant, in nanoseconds.
    var start: Int64

    /// The index of each entry, by its number.
    var places: [Int: Int]

    /// The number of the entry that ends the critical path; nil for the one that ends last.
    var last: Int?

    init(of store: RecordStore) {
      droppedCount = store.droppedCount
      let records = store.records
      (leftOutCount, sampleSize) = (store.leftOutCount, store.sampleSize)
      let roots = store.roots
      rootNames = roots.map { $0.name.isBlank ? "unnamed" : $0.name }
      rootsAreGroups = roots.map(\.isGroup)
      limits = roots.map(\.limit)
      underlyingQueues = roots.map(\.underlyingQueue)
      // It uses the present wall clock, which may have been set since the recording began.
      let clocks = roots.map(\.clock)
      let clock = clocks.first
      epoch = clocks.allSatisfy(\.isOfMachine) ? clock.map { WallClock.now - $0.now } : nil
      let names = Names(of: records)
      var entries = records.map { Entry($0, names) }
      start = entries.map(\.times.enqueued).min() ?? 0
      let isComplete = entries.allSatisfy { $0.times.finished != nil }
      let last = entries.map { $0.times.finished ?? $0.times.started ?? $0.times.enqueued }.max()
      let now = clocks.map(\.now).max() ?? 0
      end = isComplete ? last ?? 0 : max(last ?? 0, now)
      for place in entries.indices { entries[place].extendWait(until: end) }
      Lanes.assign(to: &entries, end: end)
      let places = Dictionary(uniqueKeysWithValues: zip(entries.map(\.id), entries.indices))
      WaitNames.complete(&entries, places: places)
      for place in entries.indices {
        entries[place].noteRun(until: end)
        entries[place].body = records[place].body(until: end)
      }
      self.entries = entries
      self.places = places
    }

    /// Returns the entry with a number; nil if there is none, or it was dropped.
    public func entry(_ id: Int) -> Entry? { places[id].map { entries[$0] } }

    /// Returns the first entry with a name.
    public func entry(named name: String) -> Entry? { entries.first { $0.name == name } }

    /// The time from the first enqueue until the last finish or, while procedures are unfinished,
    /// until now.
    public var duration: Duration { .nanoseconds(end - start) }

    /// The wall-clock time, since 1970, at which the first procedure was enqueued. Nil if nothing
    /// was recorded, or in virtual time.
    ///
    /// It helps you to find an entry in a log, and the other way round.
    ///
    /// ```swift
    /// if let start = snapshot.startSince1970, let entry = snapshot.slowest(1).first {
    ///   let time = start + snapshot.time(of: entry.enqueued)
    ///   print(Date(timeIntervalSince1970: time / .seconds(1)))
    /// }
    /// ```
    ///
    /// It is computed from the wall clock at the time of the snapshot. If the machine has slept
    /// since the start, or its clock was set, it is off by that time.
    public var startSince1970: Duration? {
      entries.isEmpty ? nil : epoch.map { .nanoseconds($0 + start) }
    }

    /// Returns the time from the first enqueue until `instant`.
    public func time(of instant: ContinuousClock.Instant) -> Duration {
      entries.isEmpty ? .zero : Entry.Times.instant(start).duration(to: instant)
    }
  }

  /// The names of records; the name of each type is made once.
  struct Names {
    private var types: [ObjectIdentifier: String] = [:]
    private var names: [UInt64: String] = [:]

    init(of records: [RecordedProcedure]) {
      for record in records {
        let key = ObjectIdentifier(record.type)
        let type = types[key] ?? String(describing: record.type)
        types[key] = type
        names[record.id] = record.name.flatMap { $0.isBlank ? nil : $0 } ?? type
      }
    }

    func type(_ type: AnyClass) -> String { types[ObjectIdentifier(type)] ?? "" }
    func name(_ id: UInt64) -> String? { names[id] }
  }
}

extension ProcedureTimeline.Entry {
  init(_ record: RecordedProcedure, _ names: ProcedureTimeline.Names) {
    func known(_ nanoseconds: Int64) -> Int64? {
      nanoseconds == RecordedProcedure.never ? nil : nanoseconds
    }
    times = Times(
      enqueued: record.enqueued, ready: known(record.ready), started: known(record.started),
      executing: known(record.executing), finished: known(record.finished),
      cancelled: known(record.cancelled))
    id = Int(record.id)
    parent = record.parent == 0 ? nil : Int(record.parent)
    root = record.root
    type = names.type(record.type)
    name = names.name(record.id) ?? type
    isGroup = record.isGroup
    hasAttempts = record.type is any AttemptGroup.Type
    priority = record.priority
    ranOnSpareThread = record.ranOnSpareThread
    cancelReason = record.reason
    errors = record.errors
    switch record.end {
    case .succeeded: outcome = .succeeded
    case .failed: outcome = .failed(record.errors)
    case .cancelled: outcome = .cancelled(record.errors)
    case nil: outcome = nil
    }
    var seen = Set<UInt64>()
    dependencies = record.dependencies.filter { seen.insert($0).inserted }.map { Int($0) }
    stretches = record.waits.map { ProcedureTimeline.Wait($0, names) }
    if record.end == nil, let last = stretches.indices.last, stretches[last].blocker == nil,
      stretches[last].cause != .rate
    {
      // It waits for a procedure that is not recorded.
      stretches[last].blocker = record.awaited
    }
    if record.type is DelayProcedure.Type, let executing = times.executing {
      // The end of the delay is not known yet.
      let isOfAttempts = record.type is AttemptDelay.Type
      stretches.append(
        ProcedureTimeline.Wait(
          .delay, from: executing, to: executing,
          blocker: isOfAttempts ? names.name(record.parent) : nil))
    }
  }
}

extension ProcedureTimeline.Entry {
  /// A present wait lasts until the end of the snapshot: the records were read one after another.
  fileprivate mutating func extendWait(until end: Int64) {
    guard endOfWaits == nil, let last = stretches.indices.last else { return }
    stretches[last].nanoseconds = max(end - stretches[last].from, 0)
  }

  /// Adds waits after the start that the record lacks: a delay, and the time after a cancel, except
  /// for waits with a cause of their own. A cancelled group's time belongs to its children.
  fileprivate mutating func noteRun(until end: Int64) {
    if let delay = stretches.last, delay.cause == .delay {
      stretches.removeLast()
      append(.delay, from: delay.from, to: times.finished ?? end, blocker: delay.blocker)
    } else if !isGroup, let cancelled = times.cancelled, times.executing ?? .max <= cancelled {
      append(.lingering, from: cancelled, to: times.finished ?? end)
    }
  }

  /// Appends the wait, without the parts that overlap other waits after the start.
  private mutating func append(
    _ cause: ProcedureTimeline.WaitCause, from begin: Int64, to end: Int64, blocker: String? = nil
  ) {
    var from = begin
    func add(until time: Int64) {
      guard from < time else { return }
      stretches.append(.init(cause, from: from, to: time, blocker: blocker))
    }
    for wait in stretches.filter(\.cause.isAfterStart).sorted(by: { $0.from < $1.from })
    where wait.end > from {
      add(until: min(wait.from, end))
      from = wait.end
    }
    add(until: end)
  }
}

extension RecordedProcedure {
  fileprivate func body(until end: Int64) -> ProcedureTimeline.Body? {
    guard let times = steps?.times(until: end) else { return nil }
    return ProcedureTimeline.Body(
      busy: .nanoseconds(times.busy), scheduled: .nanoseconds(times.scheduled),
      idle: .nanoseconds(times.idle))
  }
}

extension ProcedureTimeline.Wait {
  init(_ cause: WaitCause, from: Int64, to end: Int64, blocker: String? = nil) {
    self.cause = cause
    self.blocker = blocker
    self.from = from
    nanoseconds = end - from
  }

  init(_ wait: RecordedWait, _ names: ProcedureTimeline.Names) {
    cause = wait.cause
    nanoseconds = wait.nanoseconds
    from = wait.from
    let hasCategory = wait.cause == .exclusion || wait.cause == .rate
    category = hasCategory ? wait.name : nil
    limit = wait.limit == 0 || wait.limit == .max ? nil : Int(wait.limit)
    switch wait.cause {
    case .rate:
      interval = .nanoseconds(Int64(clamping: wait.other))
    case .barrier:
      isOfBarrier = wait.other != 0
    default:
      let other = names.name(wait.other)
      blocker = hasCategory ? other : wait.name ?? other
      blockerID = wait.other == 0 ? nil : Int(wait.other)
    }
  }
}
