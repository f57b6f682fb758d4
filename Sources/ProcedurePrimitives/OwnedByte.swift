public import Synchronization

#if os(Linux)
  internal import Dispatch

  /// A byte whose highest bit is its lock.
  ///
  /// No thread wakes a waiting one, which polls for a while and then sleeps for longer and longer
  /// moments. This suits critical sections of a hundred instructions in which two threads rarely
  /// meet, such as those of one procedure; where many meet, use `Contended`. A waiting thread lends
  /// no priority: to know the holder would make a no-op 4 % slower, and each procedure eight bytes
  /// larger.
  @usableFromInline
  struct OwnedByte: ~Copyable, Sendable {
    /// The bit that is set while a thread holds the lock. `load` may return it.
    @usableFromInline static var held: UInt8 { @inlinable get { 1 << 7 } }

    /// Whether the lock is one of the system's.
    @usableFromInline static var isSystems: Bool { @inlinable get { false } }

    @usableFromInline let byte: OrderedAtomic<UInt8>

    @inlinable
    init(_ initial: UInt8) {
      byte = OrderedAtomic(initial, ignoring: Self.held)
    }

    @inlinable @inline(__always)
    borrowing func acquire() -> UInt8 {
      let published = byte.loadRelaxed() & ~Self.held
      return byte.weakCompareExchangeAcquiring(published, published | Self.held)
        ? published : acquireSlowly()
    }

    @inlinable @inline(__always)
    borrowing func publish(_ byte: UInt8) {
      self.byte.storeReleasing(byte | Self.held)
    }

    @inlinable @inline(__always)
    borrowing func release(publishing byte: UInt8) {
      atomicMemoryFence(ordering: .acquiring)
      self.byte.storeReleasing(byte)
    }

    @usableFromInline @inline(never)
    borrowing func acquireSlowly() -> UInt8 {
      #if CONTENTION
        Contention.noteWait()
      #endif
      var looks = 0
      while true {
        let published = byte.loadRelaxed()
        if published & Self.held == 0,
          byte.weakCompareExchangeAcquiring(published, published | Self.held)
        {
          return published
        }
        looks += 1
        if looks > Self.patience { Self.sleep(after: looks - Self.patience) }
      }
    }

    /// The number of polls before sleeping: a microsecond or two, longer than a critical section.
    private static let patience = 300

    /// Sleeps 20 µs at first, up to 1 ms later: the thread that holds the lock may need this one's
    /// processor.
    private static func sleep(after attempts: Int) {
      let duration = DispatchTimeInterval.microseconds(min(20 * attempts, 1_000))
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + duration)
    }
  }
#else
  /// A byte beside a lock of the system, which knows its holder.
  @usableFromInline
  struct OwnedByte: ~Copyable, Sendable {
    /// Whether the lock is one of the system's.
    @usableFromInline static var isSystems: Bool { @inlinable get { true } }

    @usableFromInline let byte: OrderedAtomic<UInt8>
    @usableFromInline let mutex = Mutex<Void>(())

    @inlinable
    init(_ initial: UInt8) {
      byte = OrderedAtomic(initial)
    }

    @inlinable @inline(__always)
    borrowing func acquire() -> UInt8 {
      mutex._unsafeLock()
      // The byte changes under the lock only, so this is the last value.
      return byte.loadRelaxed()
    }

    @inlinable @inline(__always)
    borrowing func publish(_ byte: UInt8) { self.byte.storeReleasing(byte) }

    @inlinable @inline(__always)
    borrowing func release(publishing byte: UInt8) {
      self.byte.storeReleasing(byte)
      mutex._unsafeUnlock()
    }
  }
#endif
