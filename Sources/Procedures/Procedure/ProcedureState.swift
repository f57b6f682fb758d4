internal import ProcedurePrimitives

/// The state of a procedure. It only ever advances.
///
/// ```
/// initialized → pending → started → executing → finishing → finished
///                            └──────────────────────▲  (execute skipped)
///                  └────────────────────────────────┘  (cancelled before it started)
/// ```
///
/// Cancelled is not a state but a flag of its own: a cancelled procedure still finishes.
public enum ProcedureState: UInt8, Sendable, Comparable, CaseIterable {
  /// Made, and on no queue and in no group yet.
  case initialized
  /// On a queue or in a group, waiting for dependencies, or for its turn to start.
  case pending
  /// A worker picked it up; it holds a slot.
  case started
  /// `execute()` was called. The state lasts until the procedure finishes.
  case executing
  /// `finish` took effect: the will-finish events are being delivered.
  case finishing
  /// Done. Its outcome no longer changes.
  case finished

  /// Orders the states by the time when they come.
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

/// The part of a procedure that is read without its lock: one byte, published at each change.
@usableFromInline
struct ProcedureStatus: Sendable {
  private(set) var byte: UInt8

  @inlinable static var cancelled: UInt8 { 1 << 3 }
  private static let failed: UInt8 = 1 << 4
  private static let states: UInt8 = 7

  /// The status of a new procedure.
  init() { byte = ProcedureState.initialized.rawValue }

  init(byte: UInt8) {
    self.byte = byte
  }

  /// Inlined into loops that poll it.
  @inlinable
  static func isCancelled(_ byte: UInt8) -> Bool { byte & cancelled != 0 }

  var isCancelled: Bool { Self.isCancelled(byte) }
  var isFailed: Bool { byte & Self.failed != 0 }

  var state: ProcedureState {
    get {
      guard let state = ProcedureState(rawValue: byte & Self.states) else {
        stopBecauseOfInconsistency("Internal inconsistency: a procedure's status is \(byte)")
      }
      return state
    }
    set { byte = byte & ~Self.states | newValue.rawValue }
  }

  /// Whether it is in that state, without errors.
  @inline(__always)
  func `is`(_ state: ProcedureState, isCancelled: Bool = false) -> Bool {
    byte == (isCancelled ? state.rawValue | Self.cancelled : state.rawValue)
  }

  mutating func noteCancel() { byte |= Self.cancelled }
  mutating func noteFailure() { byte |= Self.failed }
}
