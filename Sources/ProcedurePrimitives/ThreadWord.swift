/// A word that each thread has for itself, zero at first.
public struct ThreadWord: Sendable {
  #if canImport(Darwin)
    private typealias Key = UInt
  #else
    private typealias Key = UInt32
  #endif

  /// Nil if the process has no more of them. Then the word stays zero.
  private let key: Key?

  public init() {
    var key: Key = 0
    self.key = unsafe Self.makeKey(&key, 0) == 0 ? key : nil
  }

  /// That of the calling thread.
  public var value: UInt {
    get { key.map { Self.get($0) } ?? 0 }
    nonmutating set { if let key { _ = Self.set(key, newValue) } }
  }

  // The C library's: this module imports no more of that than Dispatch does.

  @_silgen_name("pthread_key_create")
  private static func makeKey(_ key: UnsafeMutablePointer<Key>, _ destructor: UInt) -> CInt
  @_silgen_name("pthread_getspecific")
  private static func get(_ key: Key) -> UInt
  @_silgen_name("pthread_setspecific")
  private static func set(_ key: Key, _ value: UInt) -> CInt
}
