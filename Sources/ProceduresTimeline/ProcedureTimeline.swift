public import Procedures

/// Records the procedures of a queue, or of a group, and where their time went.
///
/// ```swift
/// let timeline = ProcedureTimeline()
/// timeline.record(queue)
/// queue.add(build)
/// await queue.waitUntilAllFinished()
/// print(timeline.summary)
/// ```
///
/// It records procedures at any depth: children, produced procedures, the attempts of a retry,
/// asynchronous bodies. The timeline knows when each was enqueued, ready, started, executing and
/// finished, its outcome, and the causes of its waits. It takes all of that from the scheduler, by
/// the queue's clock: in a test with virtual time, or a simulation, times are virtual.
///
/// ## Cost
/// A queue that is not recorded pays one load. A recorded queue pays some time and memory for each
/// procedure; its workers share no further lock. The timeline keeps the records of the newest
/// `capacity` finished procedures, with their errors, but not the procedures themselves.
///
/// ## Thread safety
/// You may call everything from any thread, even while procedures run.
public final class ProcedureTimeline: Sendable {
  private let store: RecordStore
  private let identity = TraceIdentity.random()

  /// Makes a timeline that keeps the newest `capacity` procedures that have finished.
  ///
  /// - Parameters:
  ///   - capacity: at least 1. A place takes 8 bytes once it is used. A record takes about 400
  ///     bytes, of an asynchronous closure 500, besides its errors and names.
  ///   - count: the timeline records one in `count` procedures of a queue, with all procedures
  ///     below it. Use it for a service that runs for days, where `capacity` records cover only
  ///     minutes. Slots in use, and waits for procedures that are not recorded, are then known only
  ///     for the sample.
  public init(capacity: Int = 100_000, recordingOneOf count: Int = 1) {
    store = RecordStore(capacity: capacity, sampleSize: count)
  }

  deinit {
    store.stop()
  }

  /// The number of finished procedures that it keeps at most.
  public var capacity: Int { store.capacity }

  /// The number of finished procedures that were dropped for newer ones.
  public var droppedCount: Int { store.droppedCount }

  /// The number of procedures that were not recorded, because of `recordingOneOf`.
  public var leftOutCount: Int { store.leftOutCount }

  /// Records the procedures on the queue, and all that are added later.
  ///
  /// Procedures that are already there are recorded as if they were enqueued now. A queue has one
  /// timeline at a time, the latest; the earlier one keeps the procedures that it already records.
  public func record(_ queue: ProcedureQueue) {
    store.record(queue)
  }

  /// Records the children of a group, at any depth, from the time at which the group is on a queue.
  ///
  /// The group itself is not an entry; record its queue for that. If that queue is recorded too,
  /// the children of this group are only in this timeline.
  public func record(_ group: GroupProcedure) {
    store.record(group)
  }

  /// Returns the present state, for several questions about the same moment. O(n log n).
  public func snapshot() -> Snapshot {
    var snapshot = Snapshot(of: store)
    if snapshot.epoch != nil { snapshot.identity = identity }
    return snapshot
  }

  /// The known procedures, finished or not, in the order in which they were enqueued.
  public var entries: [Entry] { snapshot().entries }

  /// The present state, as text for a terminal: see `Snapshot.summary`.
  public var summary: String { snapshot().summary }

  /// The present state, for Perfetto and chrome://tracing: see `Snapshot.chromeTrace()`.
  public func chromeTrace() -> String { snapshot().chromeTrace() }

  /// The present state, for an OpenTelemetry collector: see
  /// `Snapshot.otlpRequests(service:traceparent:since:)`.
  public func otlpRequests(service: String, traceparent: String? = nil) -> [String] {
    snapshot().otlpRequests(service: service, traceparent: traceparent)
  }

  /// The present state, as one page: see `Snapshot.html(title:)`.
  public func html(title: String = "Timeline") -> String { snapshot().html(title: title) }

  /// The procedures that determined when the last one finished: see `Snapshot.criticalPath`.
  public var criticalPath: [Step] { snapshot().criticalPath }

  /// The waits of procedures, by cause: see `Snapshot.waits`.
  public var waits: [WaitTotal] { snapshot().waits }

  /// The number of running and of ready procedures over time: see `Snapshot.slotUse`.
  public var slotUse: [SlotUse] { snapshot().slotUse }
}
