internal import Dispatch
internal import Primitives

/// Everything behind a procedure's lock.
///
/// `extras` holds what most procedures do not have; it is allocated with the first of it.
struct ProcedureCore: Sendable {
  var machine: ProcedureStateMachine
  /// The list whose workers run its turns, from enqueued until retired.
  var home: ReadyList?
  /// Whether it is a member there: not if its group refused it.
  var isMember = false
  var extras: ProcedureExtras?
  var priority = ProcedurePriority.normal
  var quality = DispatchQoS.QoSClass.unspecified

  init(isGroup: Bool) {
    machine = ProcedureStateMachine(isGroup: isGroup)
  }

  var wants: ProcedureEvents { extras?.wants ?? [] }

  mutating func withExtras<Result>(_ body: (ProcedureExtras) -> Result) -> Result {
    if let extras { return body(extras) }
    let extras = ProcedureExtras()
    self.extras = extras
    return body(extras)
  }

  /// The rarest belongings, if there are any.
  var rarities: ProcedureRarities? { extras?.existingRarities }

  mutating func withRarities<Result>(_ body: (ProcedureRarities) -> Result) -> Result {
    withExtras { body($0.rarities) }
  }
}

/// What is read of a procedure without its lock: one byte, published at each change.
struct ProcedureStatus {
  let byte: UInt8

  private static let cancelled: UInt8 = 1 << 3
  private static let failed: UInt8 = 1 << 4

  init(state: ProcedureState, isCancelled: Bool, isFailed: Bool) {
    byte =
      state.rawValue | (isCancelled ? Self.cancelled : 0) | (isFailed ? Self.failed : 0)
  }

  init(byte: UInt8) {
    self.byte = byte
  }

  var isCancelled: Bool { byte & Self.cancelled != 0 }
  var isFailed: Bool { byte & Self.failed != 0 }

  var state: ProcedureState {
    guard let state = ProcedureState(rawValue: byte & 7) else {
      preconditionFailure("Internal inconsistency: a procedure's status is \(byte)")
    }
    return state
  }
}

/// Whether, and where, a procedure is in its list. Guarded by the lock of that list, not by its own.
enum Membership: Sendable {
  case none
  case member(place: UInt32)
}

/// Someone who waits for a procedure to finish.
struct FinishWaiter: Sendable {
  let continuation: CheckedContinuation<Void, Never>

  func resume() { continuation.resume() }
}

/// A procedure that is to be added once the will-add observers have been told.
struct Production: Sendable {
  enum Target: Sendable {
    /// Onto the queue, or into the group, that the producer is in.
    case home
    /// Already a child of the producer; it starts when the observers know.
    case ownChild
  }

  /// What becomes of a call of `produce`.
  enum Way: Sendable {
    case refused
    case add(ReadyList)
    case requestTurn(ReadyList?)
  }

  let procedure: Procedure
  let target: Target
}
