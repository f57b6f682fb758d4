/// A value of a type that only its user knows, or the error of a procedure that made none.
///
/// An output becomes an input by its reference.
@usableFromInline
final class StoredValue: Sendable {
  /// Not generic itself: a generic class is looked up each time that one is made, which takes longer than all
  /// else here.
  @usableFromInline enum Kept: Sendable {
    case value(any Sendable)
    case failure(any Error)
  }

  @usableFromInline let kept: Kept

  @inlinable
  init<Value: Sendable>(_ value: Value) {
    kept = .value(value)
  }

  @inlinable
  init(failure: any Error) {
    kept = .failure(failure)
  }

  @inlinable
  static func keeping<Value: Sendable>(_ result: Result<Value, any Error>) -> StoredValue {
    switch result {
    case .success(let value): StoredValue(value)
    case .failure(let error): StoredValue(failure: error)
    }
  }

  @inlinable var failure: (any Error)? {
    if case .failure(let error) = kept { error } else { nil }
  }

  /// What was kept of a result of that type.
  @inlinable
  func result<Value: Sendable>(as type: Value.Type) -> Result<Value, any Error>? {
    if let failure { return .failure(failure) }
    return value(as: type).map { .success($0) }
  }

  /// The value, if it is of that type.
  @inlinable
  func value<Value: Sendable>(as type: Value.Type) -> Value? {
    guard case .value(let value) = kept else { return nil }
    return isExactly(value, type) ? exactly(value, as: type) : cast(value, to: type)
  }

  /// The value, without the optional, whose type would have to be looked up where that of the value is not known.
  func value<Value: Sendable>(
    as type: Value.Type, orThrow error: @autoclosure () -> any Error
  ) throws -> Value {
    guard case .value(let value) = kept else { throw error() }
    if isExactly(value, type) { return exactly(value, as: type) }
    return try cast(value, to: type, orThrow: error())
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
