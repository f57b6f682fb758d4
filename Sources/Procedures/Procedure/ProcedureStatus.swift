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
