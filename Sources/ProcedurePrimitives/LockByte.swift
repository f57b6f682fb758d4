/// A byte that every thread reads without a lock, and the lock under which it, and what belongs to it, is written.
///
/// On Linux the lock is the byte's highest bit. Acquiring is one compare-exchange, and releasing publishes the byte in the
/// same store, so that it costs no atomic read-modify-write at all: half of what a lock beside a published byte costs.
/// Elsewhere it is a `Mutex` beside the byte, which on Darwin lends the priority of threads that wait to the holder.
///
/// Before the store that releases it stands a fence, for the optimiser's sake. It takes a store for something that
/// releases no object, and would count a reference that was read under the lock only behind the store; by then another
/// thread may have released the object. It moves no count over a fence. An acquiring one, since that costs least: no
/// instruction on x86-64, and on ARM one that waits for loads only (`dmb ishld`).
///
/// No user code, no continuation and no closure's release may run between `acquire` and `release`.
/// `-DMODEL` makes each access a scheduling point of the schedule explorer, and `-DCHAOS` a place where the
/// thread may sleep.
public struct LockByte: ~Copyable, Sendable {
  @usableFromInline let owned: OwnedByte

  #if MODEL || CHAOS
    @usableFromInline let identity = ModelLock(isSystems: OwnedByte.isSystems)
  #endif
  /// That of what the lock guards.
  @usableFromInline let uses = UseCount(of: "what a LockByte guards")

  /// Makes a byte that holds `initial`, of which the highest bit must be zero.
  @inlinable
  public init(_ initial: UInt8) {
    owned = OwnedByte(initial)
  }

  /// The value published last, and perhaps the highest bit. One acquire load: a thread that reads the value
  /// sees the writes before its publication.
  @inlinable @inline(__always)
  public borrowing func load() -> UInt8 {
    schedulingPoint()
    return owned.byte.loadAcquiring()
  }

  /// Acquires the lock.
  ///
  /// - Returns: the value published last, without the highest bit.
  @inlinable @inline(__always)
  public borrowing func acquire() -> UInt8 {
    #if MODEL || CHAOS
      identity.acquire()
    #endif
    let published = owned.acquire()
    uses.note()
    return published
  }

  /// Publishes `byte`, by the thread that holds the lock and keeps it.
  @inlinable @inline(__always)
  public borrowing func publish(_ byte: UInt8) {
    schedulingPoint()
    owned.publish(byte)
  }

  /// Publishes `byte` and releases the lock.
  @inlinable @inline(__always)
  public borrowing func release(publishing byte: UInt8) {
    // What is done under the lock is seen elsewhere before the byte is.
    schedulingPoint()
    owned.release(publishing: byte)
    #if MODEL || CHAOS
      identity.release()
    #endif
  }
}
