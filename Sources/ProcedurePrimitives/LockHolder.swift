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
#endif
