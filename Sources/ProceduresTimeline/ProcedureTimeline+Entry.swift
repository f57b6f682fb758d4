public import Procedures

extension ProcedureTimeline {
  /// The record of one procedure.
  public struct Entry: Sendable, Identifiable {
    /// Its number in the timeline: in the order of enqueuing, from 1.
    public let id: Int

    /// The entry of the group that it is a child of; nil if that is not recorded.
    public let parent: Int?

    /// The place among `Snapshot.rootNames` of the queue, or group, that it is recorded with.
    public let root: Int

    /// Its name; its type's name unless one was set of which something can be seen.
    public let name: String

    /// The name of its type.
    public let type: String

    /// Whether it is a group: it consists of its children.
    public let isGroup: Bool

    /// Whether its children are attempts at one thing.
    let hasAttempts: Bool

    /// The priority that it had last.
    public let priority: ProcedurePriority

    /// When it came onto the queue; of a child, also that of a group that was enqueued then.
    public var enqueued: ContinuousClock.Instant { Times.instant(times.enqueued) }

    /// When dependencies and conditions were done, the last time; nil if they never were.
    public var ready: ContinuousClock.Instant? { times.ready.map(Times.instant) }

    /// When a worker picked it up, with a slot; nil if it was cancelled before, or is waiting.
    public var started: ContinuousClock.Instant? { times.started.map(Times.instant) }

    /// Whether a spare thread of the framework started it, since each thread of Dispatch's pool was blocked.
    public let ranOnSpareThread: Bool

    /// When `execute()` was called; nil if it was not.
    public var executing: ContinuousClock.Instant? { times.executing.map(Times.instant) }

    /// When it had finished, its observers included, and gave back its slot; nil if it has not.
    public var finished: ContinuousClock.Instant? { times.finished.map(Times.instant) }

    /// When it was cancelled; nil if it was not. When it was enqueued, if it had been before.
    public var cancelled: ContinuousClock.Instant? { times.cancelled.map(Times.instant) }

    /// Why it was cancelled; nil if it was not.
    public let cancelReason: CancellationReason?

    /// How it ended; nil if it has not.
    public internal(set) var outcome: ProcedureOutcome?

    /// Its errors, of the cancel and of the finish.
    public let errors: [any Error]

    /// The dependencies that ended before it started, in that order: entries of this timeline.
    public let dependencies: [Int]

    /// Its waits by cause: each cause once, but for a condition of each name, and an event of each kind. In
    /// the order in which it waited for each of them first.
    ///
    /// The waits before the start add up to the time from `enqueued` to `started`, or to `cancelled`, to
    /// the nanosecond. Waits with `cause.isAfterStart` are not part of that sum.
    public var waits: [Wait] { stretches.count < 2 ? stretches : stretches.joined }

    /// The same, one after another as they happened.
    var stretches: [Wait]

    /// How an asynchronous closure spent its time, from its begin to its end, or to the snapshot. Nil of other
    /// procedures, of a closure on the main actor, and in a snapshot of some time in which it did not begin and end.
    public internal(set) var body: Body?

    /// The worker's place, from 0: no two procedures are in one lane at the same time, but for a group
    /// and those below it. Nil if it has not started.
    public internal(set) var lane: Int?

    var times: Times

    /// Instants in nanoseconds since the recording began.
    struct Times: Sendable {
      let enqueued: Int64
      let ready: Int64?
      let started: Int64?
      let executing: Int64?
      let finished: Int64?
      let cancelled: Int64?

      static func instant(_ nanoseconds: Int64) -> ContinuousClock.Instant {
        RecordClock.origin.advanced(by: .nanoseconds(nanoseconds))
      }
    }
  }

  /// How an asynchronous closure spent its time. The three add up, also of a closure that runs child tasks at once.
  public struct Body: Sendable, Hashable {
    /// A thread of the queue ran it, or a child task of it.
    public let busy: Duration

    /// It could have gone on, and no thread had come yet.
    public let scheduled: Duration

    /// It was suspended, or ran elsewhere: on the main actor, or on an actor with an executor of its own.
    public let idle: Duration
  }

  /// How long a procedure waited for one cause.
  public struct Wait: Sendable, Hashable {
    /// Why it waited.
    public let cause: WaitCause

    /// For how long.
    public var duration: Duration { .nanoseconds(nanoseconds) }

    /// By name: the last dependency, the procedure that kept the barrier closed, the condition, or the
    /// procedure that held the exclusion; of a held event, and of observers, the event, such as `willExecute`; of a
    /// delay between attempts whose they are; of a wait for the group what the group waited for longest. Nil of a
    /// `DelayProcedure`.
    public internal(set) var blocker: String?

    /// The entry of the last dependency, of the procedure that kept the barrier closed, or of the holder of
    /// the exclusion.
    public internal(set) var blockerID: Int?

    /// The category of an exclusion or a rate; nil for other causes.
    public internal(set) var category: String?

    /// How many ran at once meanwhile, if it waited for a slot, or for a category with a count: the limit then, if that
    /// changed the last one. For a rate how many start in the interval.
    public internal(set) var limit: Int?

    /// The interval of a rate; nil for other causes.
    public internal(set) var interval: Duration?

    /// For a wait for the group, the longest wait of the group, if it waited.
    public internal(set) var groupCause: WaitCause?

    /// Whether it is a barrier that waited for those before it.
    var isOfBarrier = false

    var nanoseconds: Int64

    /// When it began.
    var from: Int64

    var end: Int64 { from + nanoseconds }
  }

  /// Why a procedure waited.
  public typealias WaitCause = Procedures.WaitCause
}

extension [ProcedureTimeline.Wait] {
  /// Each cause once. With several stretches the last one's blocker counts.
  fileprivate var joined: [ProcedureTimeline.Wait] {
    var joined: [ProcedureTimeline.Wait] = []
    for wait in self {
      let place = joined.firstIndex {
        guard $0.cause == wait.cause else { return false }
        // The blocker of these is no procedure, but a name.
        return wait.cause != .condition && !wait.cause.isAfterStart || $0.blocker == wait.blocker
      }
      guard let place else {
        joined.append(wait)
        continue
      }
      let before = joined[place].nanoseconds
      joined[place] = wait
      joined[place].nanoseconds += before
    }
    return joined
  }
}
