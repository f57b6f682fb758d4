/// A word that each thread has for itself, zero at first.
public struct ThreadWord: Sendable {
  /// Nil if the process has no more of them. Then the word stays zero.
  private let key: UInt?

  /// Makes one, which the process keeps.
  public init() {
    // On Linux a key is half as long. It fills the lower half.
    var key: UInt = 0
    self.key = unsafe Self.makeKey(&key, 0) == 0 ? key : nil
  }

  /// That of the calling thread.
  public var value: UInt {
    get { key.map { Self.get($0) } ?? 0 }
    nonmutating set { if let key { _ = Self.set(key, newValue) } }
  }

  // The C library's: this module imports no more of that than Dispatch does.

  @_silgen_name("pthread_key_create")
  private static func makeKey(_ key: UnsafeMutablePointer<UInt>, _ destructor: UInt) -> CInt
  @_silgen_name("pthread_getspecific")
  private static func get(_ key: UInt) -> UInt
  @_silgen_name("pthread_setspecific")
  private static func set(_ key: UInt, _ value: UInt) -> CInt
}
