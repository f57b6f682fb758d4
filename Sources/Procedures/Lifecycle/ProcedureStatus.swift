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

  /// Inlined into the loops that poll it.
  @inlinable
  static func isCancelled(_ byte: UInt8) -> Bool { byte & cancelled != 0 }

  var isCancelled: Bool { Self.isCancelled(byte) }
  var isFailed: Bool { byte & Self.failed != 0 }

  var state: ProcedureState {
    get {
      guard let state = ProcedureState(rawValue: byte & Self.states) else {
        preconditionFailure("Internal inconsistency: a procedure's status is \(byte)")
      }
      return state
    }
    set { byte = byte & ~Self.states | newValue.rawValue }
  }

  mutating func noteCancel() { byte |= Self.cancelled }
  mutating func noteFailure() { byte |= Self.failed }
}
