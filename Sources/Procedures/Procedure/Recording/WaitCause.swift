/// Why a procedure waited, in a `ProcedureTimeline`.
public enum WaitCause: String, Sendable, Hashable, CaseIterable {
  /// It waited for its dependencies, until the last had finished.
  case dependency
  /// It waited for procedures that were added to the queue before a barrier, or for the barrier.
  case barrier
  /// It waited for the answers of its conditions.
  case condition
  /// It waited for its group to begin, to announce it to its observers, or to have a slot again.
  case group
  /// It waited for its queue, or group, to be resumed.
  case suspension
  /// It waited in line for a category that others held.
  case exclusion
  /// It waited because a `RateLimit` allows only a number of starts in an interval.
  case rate
  /// It waited for a slot: the limit was reached.
  case slot
  /// It waited for a thread of Dispatch, or for its own turn: nothing else was missing. The main
  /// thread is named for `ProcedureQueue.main`.
  case worker
  /// An observer held an event back, after the start, or after a cancel before it.
  case heldEvent
  /// An observer was being called, on a worker, a queue or the main actor, after the start, or after
  /// a cancel before it.
  case observer
  /// It waited for the main actor, to begin its closure or to call an observer there, after the
  /// start.
  case mainActor
  /// It waited for the end of a delay, which does nothing else: a `DelayProcedure`, or the interval
  /// between two attempts of a `RetryProcedure` or `RepeatProcedure`. It comes after the start.
  case delay
  /// The time from the delivery of its cancel until it finished, after the start.
  case lingering

  /// The cause in words, such as `held event`.
  public var label: String {
    switch self {
    case .heldEvent: "held event"
    case .mainActor: "main actor"
    case .lingering: "lingering after a cancel"
    default: rawValue
    }
  }

  /// Whether it comes after the start, or after a cancel before it: it is no part of the time from
  /// enqueued to started.
  public var isAfterStart: Bool {
    switch self {
    case .heldEvent, .observer, .mainActor, .delay, .lingering: true
    case .dependency, .barrier, .condition, .group, .suspension, .exclusion, .rate, .slot, .worker:
      false
    }
  }
}
