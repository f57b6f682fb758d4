/// Why a procedure waited, as a `ProcedureTimeline` says.
public enum WaitCause: String, Sendable, Hashable, CaseIterable {
  /// For its dependencies, until the last had finished.
  case dependency
  /// For procedures that were added to the queue before a barrier, or for the barrier.
  case barrier
  /// For the answers of its conditions.
  case condition
  /// For its group to begin, to announce it to its observers, or to have a slot again.
  case group
  /// For its queue, or group, to be resumed.
  case suspension
  /// In line for a category that others hold.
  case exclusion
  /// For its start, as a `RateLimit` lets only so many procedures start in an interval.
  case rate
  /// For a slot: so many were running as may.
  case slot
  /// For a thread of Dispatch, or its own turn: it had all it needed. Of `ProcedureQueue.main` the main thread is named.
  case worker
  /// For an observer that held an event back: after the start.
  case heldEvent
  /// For an observer that was being called, on a worker, a queue or the main actor: after the start.
  case observer
  /// For the main actor, to begin its closure or to call an observer there: after the start.
  case mainActor
  /// For the end of a delay, which does nothing else: a `DelayProcedure`, or the interval between two attempts of a
  /// `RetryProcedure` or `RepeatProcedure`. After the start.
  case delay
  /// From the delivery of its cancel until it finished: after the start.
  case lingering

  /// For people: `held event`.
  public var label: String {
    switch self {
    case .heldEvent: "held event"
    case .mainActor: "main actor"
    case .lingering: "lingering after a cancel"
    default: rawValue
    }
  }

  /// Whether it comes after the start: it is no part of the time from enqueued to started.
  public var isAfterStart: Bool {
    switch self {
    case .heldEvent, .observer, .mainActor, .delay, .lingering: true
    case .dependency, .barrier, .condition, .group, .suspension, .exclusion, .rate, .slot, .worker:
      false
    }
  }
}
