internal import Synchronization

/// The thread that holds a lock, in builds for tests. Functions that rely on the lock of their
/// caller assert it there. It is empty in release builds.
@usableFromInline
struct LockHolder: ~Copyable, Sendable {
  #if DEBUG || MODEL || CHAOS
    private let thread = Atomic<UInt>(0)

    @usableFromInline
    borrowing func acquired() { thread.store(Self.currentThread(), ordering: .relaxed) }

    @usableFromInline
    borrowing func released() { thread.store(0, ordering: .relaxed) }

    @usableFromInline
    borrowing func assertHeld(_ lock: StaticString) {
      // No order is needed: a thread that holds the lock reads its own store.
      Self.assert(thread.load(ordering: .relaxed) == Self.currentThread(), lock)
    }

    @_silgen_name("pthread_self")
    private static func currentThread() -> UInt
  #endif

  @usableFromInline init() {}
}

#if DEBUG || MODEL || CHAOS
  extension LockHolder {
    @usableFromInline
    static func assert(_ isHeld: Bool, _ lock: StaticString) {
      requireConsistency(
        isHeld, "Internal inconsistency: this thread does not hold the lock of \(lock)")
    }
  }

  /// The `LockByte` that the calling thread holds: one at a time. It is a word of the thread, since
  /// each procedure has a lock, and no byte for its holder.
  @usableFromInline
  enum HeldByte {
    private static let address = ThreadWord()

    @usableFromInline
    static func acquired(_ byte: UInt) {
      requireConsistency(
        address.value == 0, "Internal inconsistency: this thread acquired two LockBytes at a time")
      address.value = byte
    }

    @usableFromInline
    static func released() { address.value = 0 }

    @usableFromInline
    static func assert(_ byte: UInt) { LockHolder.assert(address.value == byte, "a LockByte") }
  }
#endif
