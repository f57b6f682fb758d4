/// What is read of a procedure without its lock: one byte, published at each change.
@usableFromInline
struct ProcedureStatus {
  let byte: UInt8

  @inlinable static var cancelled: UInt8 { 1 << 3 }
  private static let failed: UInt8 = 1 << 4

  init(state: ProcedureState, isCancelled: Bool, isFailed: Bool) {
    byte =
      state.rawValue | (isCancelled ? Self.cancelled : 0) | (isFailed ? Self.failed : 0)
  }

  init(byte: UInt8) {
    self.byte = byte
  }

  /// Inlined into the loops that poll it.
  @inlinable
  static func isCancelled(_ byte: UInt8) -> Bool { byte & cancelled != 0 }

  var isCancelled: Bool { Self.isCancelled(byte) }
  var isFailed: Bool { byte & Self.failed != 0 }

  var state: ProcedureState {
    guard let state = ProcedureState(rawValue: byte & 7) else {
      preconditionFailure("Internal inconsistency: a procedure's status is \(byte)")
    }
    return state
  }
}
