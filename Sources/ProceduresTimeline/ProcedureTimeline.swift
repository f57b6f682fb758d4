public import Procedures

/// Records what the procedures of a queue, or of a group, did, and where their time went.
///
/// ```swift
/// let timeline = ProcedureTimeline()
/// timeline.record(queue)
/// queue.add(build)
/// await queue.waitUntilAllFinished()
/// print(timeline.summary)
/// ```
///
/// It records each procedure below, however deep: children, produced ones, the attempts of a retry,
/// asynchronous bodies. The timeline knows when each was enqueued, ready, started, executing and finished,
/// how it ended, and where its waiting went. All of that is the scheduler's own knowledge, by the
/// queue's clock: in a test with virtual time, or a simulation, times are virtual.
///
/// ## Cost
/// A queue that is not recorded pays one load. A recorded queue pays some time and memory for each procedure; its
/// workers share no further lock. The timeline keeps the records of the newest `capacity` finished procedures,
/// with their errors, but not the procedures themselves.
///
/// ## Thread safety
/// Everything may be called from any thread, also while procedures run.
public final class ProcedureTimeline: Sendable {
  private let store: RecordStore
  private let identity = TraceIdentity.random()

  /// Makes a timeline that keeps the newest `capacity` procedures that have finished.
  ///
  /// - Parameters:
  ///   - capacity: at least 1. Each place takes 8 bytes once it is used, and each record some 400, of an
  ///     asynchronous closure 500, besides the errors and names that it keeps.
  ///   - count: of so many procedures of a queue one is recorded, with all below it: for a service that runs for
  ///     days, of which the newest `capacity` would be some minutes. Slots in use, and waits for procedures that are
  ///     not recorded, are then known of the sample only.
  public init(capacity: Int = 100_000, recordingOneOf count: Int = 1) {
    store = RecordStore(capacity: capacity, sampleSize: count)
  }

  deinit {
    store.stop()
  }

  /// How many finished procedures are kept.
  public var capacity: Int { store.capacity }

  /// How many finished procedures were dropped for newer ones.
  public var droppedCount: Int { store.droppedCount }

  /// How many procedures were not recorded, since one of so many is.
  public var leftOutCount: Int { store.leftOutCount }

  /// Records the procedures on the queue, also later ones, from here on.
  ///
  /// A procedure that is there already is recorded as if it were enqueued now. A queue is in one
  /// timeline at a time: the latest. Procedures that the earlier one records
  /// already stay with that.
  public func record(_ queue: ProcedureQueue) {
    store.record(queue)
  }

  /// Records the children of a group, however deep, from when the group is on a queue.
  ///
  /// The group itself is not an entry; record its queue for that. Inside a queue that is recorded, too,
  /// the children of this group are in this timeline only.
  public func record(_ group: GroupProcedure) {
    store.record(group)
  }

  /// The present state: for several questions about the same moment. O(n log n).
  public func snapshot() -> Snapshot {
    var snapshot = Snapshot(of: store)
    if snapshot.epoch != nil { snapshot.identity = identity }
    return snapshot
  }

  /// The procedures that are known, finished or not, in the order in which they were enqueued.
  public var entries: [Entry] { snapshot().entries }

  /// The present state, as text for a terminal: see `Snapshot.summary`.
  public var summary: String { snapshot().summary }

  /// The present state, for Perfetto and chrome://tracing: see `Snapshot.chromeTrace()`.
  public func chromeTrace() -> String { snapshot().chromeTrace() }

  /// The present state, for an OpenTelemetry collector: see `Snapshot.otlpRequests(service:traceparent:since:)`.
  public func otlpRequests(service: String, traceparent: String? = nil) -> [String] {
    snapshot().otlpRequests(service: service, traceparent: traceparent)
  }

  /// The present state, as one page: see `Snapshot.html(title:)`.
  public func html(title: String = "Timeline") -> String { snapshot().html(title: title) }

  /// The procedures that determined when the last one finished: see `Snapshot.criticalPath`.
  public var criticalPath: [Step] { snapshot().criticalPath }

  /// How long procedures waited, by cause: see `Snapshot.waits`.
  public var waits: [WaitTotal] { snapshot().waits }

  /// How many procedures ran, and were ready, over time: see `Snapshot.slotUse`.
  public var slotUse: [SlotUse] { snapshot().slotUse }
}
