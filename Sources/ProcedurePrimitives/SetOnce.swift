/// A reference that is set at most once, and that any thread reads with one atomic load.
@safe public struct SetOnce<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  /// The object's address, or 0. The word owns a reference from `set(_:)` or the initialiser until
  /// `deinit`.
  @usableFromInline let word: AtomicWord

  // Everything is inlinable: generic code that other modules cannot see fetches the type's metadata
  // at each call.

  /// Makes a reference that is not set.
  @inlinable
  public init() { word = AtomicWord(0) }

  /// Makes a reference that is set to `object`.
  @inlinable
  public init(_ object: Object) { word = AtomicWord(Self.owned(object)) }

  /// Whether it is set.
  @inlinable
  public var isSet: Bool { word.load() != 0 }

  /// The object; nil until it is set.
  @inlinable
  public var object: Object? { with { $0 } }

  /// Calls `body` with the object, if it is set, without retaining it.
  @inlinable @inline(__always)
  public func with<Result>(_ body: (Object) -> Result) -> Result? {
    guard let address = unsafe UnsafeRawPointer(bitPattern: word.load()) else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(address)._withUnsafeGuaranteedRef(body)
  }

  /// Sets the object. Callers must not overlap.
  @inlinable
  public func set(_ object: Object) {
    requireConsistency(!isSet, "Internal inconsistency: set twice")
    word.insert(Self.owned(object))
  }

  @inlinable
  static func owned(_ object: Object) -> UInt {
    UInt(bitPattern: unsafe Unmanaged.passRetained(object).toOpaque())
  }

  @inlinable
  deinit {
    guard let address = unsafe UnsafeRawPointer(bitPattern: word.load()) else { return }
    unsafe Unmanaged<Object>.fromOpaque(address).release()
  }
}
