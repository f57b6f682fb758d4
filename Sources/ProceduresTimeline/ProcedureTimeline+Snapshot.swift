internal import Procedures

extension ProcedureTimeline {
  /// What a timeline knew at one moment, and what can be asked of it.
  public struct Snapshot: Sendable {
    /// The procedures, in the order in which they were enqueued.
    public let entries: [Entry]

    /// How many finished procedures were dropped for newer ones.
    public let droppedCount: Int

    /// The names of the queues and groups that are recorded, in the order in which that began.
    public let rootNames: [String]

    /// How many procedures each of them lets run at once; nil for any number.
    public let limits: [Int?]

    /// The last instant that is known, in nanoseconds: the end of what has not finished.
    let end: Int64

    /// The first one.
    let start: Int64

    /// Where an entry is, by its number.
    let places: [Int: Int]

    /// How many children of a group that has no slot for all ran at the same time, by the group's number.
    let slotsOfGroups: [Int: Int]

    init(of store: RecordStore) {
      let droppedCount = store.droppedCount
      let records = store.records
      self.init(
        records, droppedCount: droppedCount, rootNames: store.rootNames, limits: store.rootLimits,
        clocks: store.rootClocks)
    }

    init(
      _ records: [RecordedProcedure], droppedCount: Int, rootNames: [String], limits: [Int?],
      clocks: [RecordClock]
    ) {
      self.droppedCount = droppedCount
      self.rootNames = rootNames
      self.limits = limits
      let names = Names(of: records)
      var entries = records.map { Entry($0, origin: clocks[$0.root].origin, names) }
      start = entries.map(\.times.enqueued).min() ?? 0
      let isComplete = entries.allSatisfy { $0.times.finished != nil }
      let last = entries.map { $0.times.finished ?? $0.times.started ?? $0.times.enqueued }.max()
      let now = clocks.map(\.now).max() ?? 0
      end = isComplete ? last ?? 0 : max(last ?? 0, now)
      Lanes.assign(to: &entries, end: end)
      let places = Dictionary(uniqueKeysWithValues: zip(entries.map(\.id), entries.indices))
      WaitNames.complete(&entries, places: places)
      slotsOfGroups = Self.slotsOfGroups(in: entries)
      self.entries = entries
      self.places = places
    }

    /// The entry with that number; nil if there is none, or it was dropped.
    public func entry(_ id: Int) -> Entry? { places[id].map { entries[$0] } }

    /// The first entry of that name.
    public func entry(named name: String) -> Entry? { entries.first { $0.name == name } }

    /// When the first was enqueued, until the last finished.
    public var duration: Duration { .nanoseconds(end - start) }

    /// How long after the first was enqueued that was.
    public func time(of instant: ContinuousClock.Instant) -> Duration {
      entries.map(\.enqueued).min().map { $0.duration(to: instant) } ?? .zero
    }
  }

  /// The names of records, made once for each type.
  struct Names {
    private var types: [ObjectIdentifier: String] = [:]
    private var names: [UInt64: String] = [:]
    private var ends: [UInt64: Int64] = [:]

    init(of records: [RecordedProcedure]) {
      for record in records {
        let key = ObjectIdentifier(record.type)
        let type = types[key] ?? String(describing: record.type)
        types[key] = type
        names[record.id] = record.name ?? type
        ends[record.id] = record.finished
      }
    }

    func type(_ type: AnyClass) -> String { types[ObjectIdentifier(type)] ?? "" }
    func name(_ id: UInt64) -> String? { names[id] }

    /// Of those, the one that ended last; of several the one that was noted last.
    func last(of ids: [UInt64]) -> UInt64? {
      var last: UInt64?
      for id in ids where last.map({ (ends[id] ?? .min) >= (ends[$0] ?? .min) }) ?? true {
        last = id
      }
      return last
    }
  }
}

extension ProcedureTimeline.Entry {
  init(
    _ record: RecordedProcedure, origin: ContinuousClock.Instant,
    _ names: ProcedureTimeline.Names
  ) {
    func known(_ nanoseconds: Int64) -> Int64? {
      nanoseconds == RecordedProcedure.never ? nil : nanoseconds
    }
    func instant(_ nanoseconds: Int64?) -> ContinuousClock.Instant? {
      nanoseconds.map { origin.advanced(by: .nanoseconds($0)) }
    }
    times = Times(
      enqueued: record.enqueued, ready: known(record.ready), started: known(record.started),
      executing: known(record.executing), finished: known(record.finished),
      cancelled: known(record.cancelled))
    id = Int(record.id)
    parent = record.parent == 0 ? nil : Int(record.parent)
    root = record.root
    type = names.type(record.type)
    name = record.name ?? type
    isGroup = record.isGroup
    enqueued = origin.advanced(by: .nanoseconds(record.enqueued))
    ready = instant(times.ready)
    started = instant(times.started)
    executing = instant(times.executing)
    finished = instant(times.finished)
    cancelled = instant(times.cancelled)
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
    waits = Self.waits(of: record, names)
  }

  private static func waits(
    of record: RecordedProcedure, _ names: ProcedureTimeline.Names
  ) -> [ProcedureTimeline.Wait] {
    var rest = record.readyWait
    if let exclusion = record.exclusion { rest -= exclusion.times }
    let isChild = record.parent != 0
    let last = names.last(of: record.dependencies)
    let holder = record.exclusion.flatMap { $0.holder == 0 ? nil : $0.holder }
    func wait(
      _ cause: ProcedureTimeline.WaitCause, _ nanoseconds: Int64, _ blocker: String? = nil,
      _ id: UInt64? = nil, _ category: String? = nil
    ) -> ProcedureTimeline.Wait? {
      guard nanoseconds != 0 else { return nil }
      return ProcedureTimeline.Wait(
        cause: cause, duration: .nanoseconds(nanoseconds), blocker: blocker,
        blockerID: id.map { Int($0) }, category: category, nanoseconds: nanoseconds)
    }
    let conditions = (record.conditionWaits ?? []).inOrderOfNames.map {
      wait(.condition, $0.nanoseconds, $0.name)
    }
    let before = [
      wait(.dependency, record.dependencyWait, last.flatMap(names.name), last),
      wait(.barrier, isChild ? 0 : record.orderWait),
    ]
    let after = [
      wait(.group, rest.group + (isChild ? record.orderWait : 0)),
      wait(.suspension, rest.suspension),
      wait(
        .exclusion, record.exclusion?.times.total ?? 0, holder.flatMap(names.name), holder,
        record.exclusion?.category),
      wait(.slot, rest.slot),
      wait(.worker, rest.worker),
      wait(.heldEvent, record.heldExecuteWait, "willExecute"),
      wait(.heldEvent, record.heldFinishWait, "willFinish"),
    ]
    return (before + conditions + after).compactMap(\.self)
  }
}

extension [ConditionWait] {
  /// Each name once, in the order in which they were asked first.
  fileprivate var inOrderOfNames: [(name: String?, nanoseconds: Int64)] {
    var sums: [(name: String?, nanoseconds: Int64)] = []
    for wait in self {
      if let place = sums.firstIndex(where: { $0.name == wait.name }) {
        sums[place].nanoseconds += wait.nanoseconds ?? 0
      } else {
        sums.append((wait.name, wait.nanoseconds ?? 0))
      }
    }
    return sums
  }
}
