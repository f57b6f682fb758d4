/// A thread-local word, zero at first.
public struct ThreadWord: Sendable {
  /// Nil if the process has no key left. Then the word stays zero.
  private let key: UInt?

  /// Makes a word, which the process never releases.
  public init() {
    // On Linux a key has 32 bits, which fill the lower half.
    var key: UInt = 0
    self.key = unsafe Self.makeKey(&key, 0) == 0 ? key : nil
  }

  /// The value of the calling thread.
  public var value: UInt {
    get { key.map { Self.get($0) } ?? 0 }
    nonmutating set { if let key { _ = Self.set(key, newValue) } }
  }

  // Functions of the C library: this module imports only Dispatch.

  @_silgen_name("pthread_key_create")
  private static func makeKey(_ key: UnsafeMutablePointer<UInt>, _ destructor: UInt) -> CInt
  @_silgen_name("pthread_getspecific")
  private static func get(_ key: UInt) -> UInt
  @_silgen_name("pthread_setspecific")
  private static func set(_ key: UInt, _ value: UInt) -> CInt
}
