import Procedures

/// Something that was seen of a workload, in the order in which it was seen.
struct WorkloadEvent: Sendable, CustomStringConvertible {
  enum Kind: Sendable {
    /// Added to its queue or group; false if that refused it.
    case added(Bool)
    case evaluated(check: Int)
    case willExecute
    case executeBegan
    case executeEnded
    case didExecute
    case didCancelOverride([String])
    case didCancel([String])
    case willFinishOverride
    case willFinish
    case didFinishOverride
    case didFinish
    /// `cancel` has returned this; with these errors.
    case cancelReturned(Bool, [String])
    /// `finish` has returned this; with these errors.
    case finishReturned(Bool, [String])
    case queueSuspended
    case queueResumed
    case lateObserverTold
    /// A group that was cancelled has seen a child which had not started, and was not.
    case sawUncancelledChild
  }

  /// An item, or a queue.
  let index: Int
  let kind: Kind
  /// Where the item was in its life then.
  let state: ProcedureState

  var description: String { "\(index) \(kind) (\(state))" }
}
