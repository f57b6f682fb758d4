/// A reference that is set once at most, and then read by any thread: one atomic load.
@safe public struct SetOnce<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  /// The address; 0 before. The reference is owned from `set(_:)`, or the initialiser, until this goes.
  private let word: AtomicWord

  /// Makes it, set or not set yet.
  public init(_ object: Object? = nil) {
    word = AtomicWord(object.map(Self.owned) ?? 0)
  }

  /// Whether it is set.
  public var isSet: Bool { word.load() != 0 }

  /// The object, once it is set.
  public var object: Object? { with { $0 } }

  /// Calls with the object, if it is set, without counting a reference to it.
  @inline(__always)
  public func with<Result>(_ body: (Object) -> Result) -> Result? {
    guard let address = unsafe UnsafeRawPointer(bitPattern: word.load()) else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(address)._withUnsafeGuaranteedRef(body)
  }

  /// Sets it. At most one of several callers at the same time may come here.
  public func set(_ object: Object) {
    precondition(!isSet, "Internal inconsistency: set twice")
    word.insert(Self.owned(object))
  }

  private static func owned(_ object: Object) -> UInt {
    UInt(bitPattern: unsafe Unmanaged.passRetained(object).toOpaque())
  }

  deinit {
    guard let address = unsafe UnsafeRawPointer(bitPattern: word.load()) else { return }
    unsafe Unmanaged<Object>.fromOpaque(address).release()
  }
}
