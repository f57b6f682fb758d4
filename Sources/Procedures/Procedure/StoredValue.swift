/// A value of a type that only its user knows, or the error of a procedure that made none; or neither.
///
/// An output becomes an input as it is. Neither an optional nor an enum: if a value of any type is in one of these, a
/// function of the runtime finds out at each copy which case it is.
@usableFromInline
struct StoredValue: Sendable {
  /// `()` if there is no value.
  @usableFromInline let kept: any Sendable
  @usableFromInline let failure: (any Error)?
  @usableFromInline let isValue: Bool

  /// Neither.
  @inlinable
  init() { (kept, failure, isValue) = ((), nil, false) }

  @inlinable
  init<Value: Sendable>(_ value: consuming Value) { (kept, failure, isValue) = (value, nil, true) }

  @inlinable
  init(failure: any Error) { (kept, self.failure, isValue) = ((), failure, false) }

  @inlinable
  static func keeping<Value: Sendable>(_ result: Result<Value, any Error>) -> StoredValue {
    switch result {
    case .success(let value): StoredValue(value)
    case .failure(let error): StoredValue(failure: error)
    }
  }

  /// Whether there is neither a value nor an error.
  @inlinable var isEmpty: Bool { !isValue && failure == nil }

  /// Whether it is the one value of `Void`.
  var isVoid: Bool { isValue && isExactly(kept, Void.self) }

  /// The stored result, of that type.
  @inlinable
  func result<Value: Sendable>(as type: Value.Type) -> Result<Value, any Error>? {
    if let failure { return .failure(failure) }
    return value(as: type).map { .success($0) }
  }

  /// The value, if it is of that type.
  @inlinable
  func value<Value: Sendable>(as type: Value.Type) -> Value? {
    guard isValue else { return nil }
    return isExactly(kept, type) ? exactly(kept, as: type) : cast(kept, to: type)
  }

  /// The value, without the optional, whose type would have to be looked up where that of the value is not known.
  func value<Value: Sendable>(
    as type: Value.Type, orThrow error: @autoclosure () -> any Error
  ) throws -> Value {
    guard isValue else { throw error() }
    if isExactly(kept, type) { return exactly(kept, as: type) }
    return try cast(kept, to: type, orThrow: error())
  }

  @inlinable
  func isExactly<Stored, Value>(_ stored: Stored, _ type: Value.Type) -> Bool {
    Stored.self == type
  }

  /// Without a dynamic cast, which takes ten times as long.
  @inlinable
  func exactly<Stored, Value>(_ stored: Stored, as type: Value.Type) -> Value {
    unsafe unsafeBitCast(stored, to: type)
  }

  /// A value that was kept as a protocol's is of its own type here. A nil that was kept as `any Sendable` is no
  /// less a value.
  @inlinable
  func cast<Value: Sendable>(_ value: any Sendable, to type: Value.Type) -> Value? {
    type == (any Sendable).self ? unsafe unsafeBitCast(value, to: type) : value as? Value
  }

  @inline(never)
  private func cast<Value: Sendable>(
    _ value: any Sendable, to type: Value.Type, orThrow error: @autoclosure () -> any Error
  ) throws -> Value {
    guard let value = cast(value, to: type) else { throw error() }
    return value
  }
}
