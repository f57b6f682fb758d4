internal import Dispatch
public import Synchronization

/// A byte that every thread reads without a lock, and whose highest bit is the lock under which it, and
/// what belongs to it, is written.
///
/// Acquiring is one compare-exchange. Releasing publishes the byte in the same store, so that it costs no
/// atomic read-modify-write at all: half of what a lock beside a published byte costs.
///
/// The price is that a thread which waits is not woken. It looks again for a while, and then sleeps for
/// longer and longer moments: right where a critical section is a hundred instructions and two threads
/// rarely meet, as with one procedure; not where many meet, which is what `Contended` is for.
///
/// No user code, no continuation and no closure's release may run between `acquire` and `release`.
/// `-DMODEL` makes each access a scheduling point of the schedule explorer.
public struct LockByte: ~Copyable, Sendable {
  /// The bit that says that a thread holds the lock. `load` may return it.
  @inlinable static var held: UInt8 { 1 << 7 }

  @usableFromInline let byte: AtomicByte

  #if MODEL
    @usableFromInline let identity = ModelLock()
  #endif

  /// Makes a byte that holds `initial`, of which the highest bit must be zero.
  @inlinable
  public init(_ initial: UInt8) {
    byte = AtomicByte(initial)
  }

  /// What was published last, and perhaps the highest bit. One acquire load: what was written before it
  /// was published is seen by the thread that reads it.
  @inlinable @inline(__always)
  public borrowing func load() -> UInt8 { byte.load() }

  /// Acquires the lock.
  ///
  /// - Returns: what was published last, without the highest bit.
  @inlinable @inline(__always)
  public borrowing func acquire() -> UInt8 {
    #if MODEL
      identity.acquire()
    #endif
    // Relaxed: the exchange below acquires.
    let published = byte.value.load(ordering: .relaxed) & ~Self.held
    let (isHeld, _) = byte.value.weakCompareExchange(
      expected: published, desired: published | Self.held, successOrdering: .acquiring,
      failureOrdering: .relaxed)
    return isHeld ? published : acquireSlowly()
  }

  /// Publishes `byte`, by the thread that holds the lock and keeps it.
  @inlinable @inline(__always)
  public borrowing func publish(_ byte: UInt8) {
    self.byte.store(byte | Self.held)
  }

  /// Publishes `byte` and releases the lock.
  @inlinable @inline(__always)
  public borrowing func release(publishing byte: UInt8) {
    self.byte.value.store(byte, ordering: .releasing)
    #if MODEL
      identity.release()
    #endif
  }

  @usableFromInline @inline(never)
  borrowing func acquireSlowly() -> UInt8 {
    var looks = 0
    while true {
      let published = byte.value.load(ordering: .relaxed)
      if published & Self.held == 0,
        byte.value.weakCompareExchange(
          expected: published, desired: published | Self.held, successOrdering: .acquiring,
          failureOrdering: .relaxed
        ).exchanged
      {
        return published
      }
      looks += 1
      if looks > Self.patience { Self.sleep(after: looks - Self.patience) }
    }
  }

  /// How often to look before sleeping: a microsecond or two, longer than a critical section.
  private static let patience = 300

  /// The thread that holds the lock may need this one's processor: 20 µs, then up to 1 ms.
  private static func sleep(after attempts: Int) {
    let duration = DispatchTimeInterval.microseconds(min(20 * attempts, 1_000))
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + duration)
  }
}
