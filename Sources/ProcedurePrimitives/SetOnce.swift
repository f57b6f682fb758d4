/// A reference that is set once at most, and then read by any thread: one atomic load.
@safe public struct SetOnce<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  /// The address; 0 before. The reference is owned from `set(_:)`, or the initialiser, until this goes.
  @usableFromInline let word: AtomicWord

  // All of it is inlinable: generic code that another module cannot see asks for the type's metadata each time.

  /// Makes it, not set yet.
  @inlinable
  public init() { word = AtomicWord(0) }

  /// Makes it, set.
  @inlinable
  public init(_ object: Object) { word = AtomicWord(Self.owned(object)) }

  /// Whether it is set.
  @inlinable
  public var isSet: Bool { word.load() != 0 }

  /// The object, once it is set.
  @inlinable
  public var object: Object? { with { $0 } }

  /// Calls with the object, if it is set, without counting a reference to it.
  @inlinable @inline(__always)
  public func with<Result>(_ body: (Object) -> Result) -> Result? {
    guard let address = unsafe UnsafeRawPointer(bitPattern: word.load()) else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(address)._withUnsafeGuaranteedRef(body)
  }

  /// Sets it. At most one of several callers at the same time may come here.
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
