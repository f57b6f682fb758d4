/// Where a procedure is in its life. It only ever goes forward.
///
/// ```
/// initialized → pending → started → executing → finishing → finished
///                            └──────────────────────▲  (execute skipped)
///                  └────────────────────────────────┘  (cancelled before it started)
/// ```
///
/// Cancelled is not a state but a flag beside it: a cancelled procedure still finishes.
public enum ProcedureState: UInt8, Sendable, Comparable, CaseIterable {
  /// Made, and on no queue and in no group yet.
  case initialized
  /// On a queue or in a group, waiting for dependencies, or for its turn to start.
  case pending
  /// A worker picked it up; it holds a slot.
  case started
  /// `execute()` was called; it stays so until the procedure finishes.
  case executing
  /// `finish` took effect: the will-finish events are being delivered.
  case finishing
  /// Done. Its outcome no longer changes.
  case finished

  /// Orders the states by when they come.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension ProcedureState: CustomStringConvertible {
  /// The name of the state.
  public var description: String {
    switch self {
    case .initialized: "initialized"
    case .pending: "pending"
    case .started: "started"
    case .executing: "executing"
    case .finishing: "finishing"
    case .finished: "finished"
    }
  }
}
