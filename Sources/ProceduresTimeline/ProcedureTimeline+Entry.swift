public import Procedures

extension ProcedureTimeline {
  /// The record of one procedure.
  public struct Entry: Sendable, Identifiable {
    /// Its number in the timeline: entries are numbered in the order of enqueuing, from 1.
    public let id: Int

    /// The entry of its group; nil if it has none, or that is not recorded.
    public let parent: Int?

    /// The index in `Snapshot.rootNames` of the recorded queue or group that it belongs to.
    public let root: Int

    /// Its name, or the name of its type if no visible name was set.
    public let name: String

    /// The name of its type.
    public let type: String

    /// Whether it is a group, which consists of its children.
    public let isGroup: Bool

    /// Whether its children are attempts at one task.
    let hasAttempts: Bool

    /// Its last priority.
    public let priority: ProcedurePriority

    /// The time when it was added to its queue, or to a group that was already on a queue. Children
    /// that were added earlier have the time of their group.
    public var enqueued: ContinuousClock.Instant { Times.instant(times.enqueued) }

    /// The time when its dependencies and conditions were done, the last time; nil if they never
    /// were.
    public var ready: ContinuousClock.Instant? { times.ready.map(Times.instant) }

    /// The time when it started: it had a slot, and a worker. Nil if it was cancelled before, or is
    /// waiting.
    public var started: ContinuousClock.Instant? { times.started.map(Times.instant) }

    /// Whether a spare thread of the framework started it, since every thread of Dispatch's pool
    /// was blocked.
    public let ranOnSpareThread: Bool

    /// The time when `execute()` was called; nil if it was not.
    public var executing: ContinuousClock.Instant? { times.executing.map(Times.instant) }

    /// The time when it had finished, its observers had returned, and its slot was free; nil if it
    /// has not finished.
    public var finished: ContinuousClock.Instant? { times.finished.map(Times.instant) }

    /// The time when it was cancelled; nil if it was not. If it was cancelled before, the time when
    /// it was enqueued.
    public var cancelled: ContinuousClock.Instant? { times.cancelled.map(Times.instant) }

    /// The reason of its cancel; nil if it was not cancelled.
    public let cancelReason: CancellationReason?

    /// Its outcome; nil if it has not finished.
    public internal(set) var outcome: ProcedureOutcome?

    /// Its errors, from the cancel and from the finish.
    public let errors: [any Error]

    /// The dependencies that finished before it started, in that order, as numbers of entries.
    public let dependencies: [Int]

    /// Its waits, summed by cause; conditions also by name, and events by kind. They are in the
    /// order in which it first waited for each.
    ///
    /// The waits before the start add up exactly to the time from `enqueued` to `started`, or to
    /// `cancelled`. Waits with `cause.isAfterStart` are not part of that sum.
    public var waits: [Wait] { stretches.count < 2 ? stretches : stretches.joined }

    /// The single waits, in the order in which they happened.
    var stretches: [Wait]

    /// How an asynchronous closure spent its time, from its begin to its end, or to the snapshot.
    /// Nil for other procedures, for a closure on the main actor, and in a part of a snapshot that
    /// does not contain the whole closure.
    public internal(set) var body: Body?

    /// The number of its lane, from 0, as if lanes were workers. No two procedures are in one lane
    /// at the same time, except a group and procedures below it. Nil if it has not started.
    public internal(set) var lane: Int?

    /// The end of its waits before the start: its start; without a start, its cancel, or else the
    /// end of its last wait before it finished. Nil while it waits.
    var endOfWaits: Int64? {
      if let end = times.started ?? times.cancelled { return end }
      guard let finished = times.finished else { return nil }
      return min(stretches.last { !$0.cause.isAfterStart }?.end ?? times.enqueued, finished)
    }

    var times: Times

    /// Times in nanoseconds since the recording began.
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

  /// How an asynchronous closure spent its time. The three parts add up to the whole, even if it
  /// runs child tasks in parallel.
  public struct Body: Sendable, Hashable {
    /// The time in which a thread of the queue ran it, or one of its child tasks.
    public let busy: Duration

    /// The time in which it was ready to continue, and no thread had come yet.
    public let scheduled: Duration

    /// The time in which it was suspended, or ran elsewhere: on the main actor, or on an actor with
    /// its own executor.
    public let idle: Duration
  }

  /// How long a procedure waited for one cause.
  public struct Wait: Sendable, Hashable {
    /// The cause of the wait.
    public let cause: WaitCause

    /// The length of the wait.
    public var duration: Duration { .nanoseconds(nanoseconds) }

    /// The name of the last dependency, of the procedure that kept the barrier closed, of the
    /// condition, or of the holder of the exclusion. For a held event and for observers, the name
    /// of the event, such as `willExecute`. For a delay between attempts, the name of the retry.
    /// For a wait for the group, the thing that the group waited for longest. Nil for a
    /// `DelayProcedure`.
    public internal(set) var blocker: String?

    /// The entry of the last dependency, of the procedure that kept the barrier closed, or of the
    /// holder of the exclusion.
    public internal(set) var blockerID: Int?

    /// The category of an exclusion or a rate; nil for other causes. A wait for several is for the
    /// one that was free last.
    public internal(set) var category: String?

    /// The limit at that time, if it waited for a slot, or for a category with a count; if the
    /// limit changed, the last one. For a rate, the number of starts in the interval.
    public internal(set) var limit: Int?

    /// The interval of a rate; nil for other causes.
    public internal(set) var interval: Duration?

    /// The cause of the longest wait of its group meanwhile, if it waited for that to begin. Nil if
    /// the group's own code took longer. Nil, too, if it waited for its group to have a slot again:
    /// the timeline does not record what that waited for.
    public internal(set) var groupCause: WaitCause?

    /// Whether it is a barrier that waited for earlier procedures.
    var isOfBarrier = false

    var nanoseconds: Int64

    /// Its begin, in nanoseconds since the recording began.
    var from: Int64

    var end: Int64 { from + nanoseconds }

    /// Returns the part within some time; nil if there is none.
    func cut(from begin: Int64, to end: Int64) -> Self? {
      let (begin, end) = (max(from, begin), min(self.end, end))
      guard begin < end else { return nil }
      var part = self
      (part.from, part.nanoseconds) = (begin, end - begin)
      return part
    }
  }

  /// The cause of a wait.
  public typealias WaitCause = Procedures.WaitCause
}

extension [ProcedureTimeline.Wait] {
  /// Sums the waits by cause. The blocker is that of the last wait.
  var joined: [ProcedureTimeline.Wait] {
    var joined: [ProcedureTimeline.Wait] = []
    for wait in self {
      let place = joined.firstIndex {
        guard $0.cause == wait.cause else { return false }
        // Their blocker is only a name, so each name is kept.
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
