/// A byte that every thread reads without a lock, and the lock that guards writes to it and to the
/// data that belong to it.
///
/// On Linux the lock is the byte's highest bit. Acquiring is one compare-exchange. Releasing
/// publishes the byte in the same store, without an atomic read-modify-write: half the cost of a
/// lock beside a published byte. Elsewhere it is a `Mutex` beside the byte, which on Darwin lends
/// the priority of threads that wait to the holder.
///
/// A fence stands before the releasing store, because of the optimiser. It assumes that a store
/// releases no object, so it could retain a reference that was read under the lock only after the
/// store, when another thread may have released the object. It moves no retain over a fence. An
/// acquiring fence costs least: no instruction on x86-64, and on ARM an instruction that waits for
/// loads only (`dmb ishld`).
///
/// No user code, no continuation and no closure's release may run between `acquire` and `release`.
/// `-DMODEL` makes each access a scheduling point of the schedule explorer, and `-DCHAOS` a place
/// where the thread may sleep.
public struct LockByte: ~Copyable, Sendable {
  @usableFromInline let owned: OwnedByte

  #if MODEL || CHAOS
    @usableFromInline let identity = ModelLock(isSystems: OwnedByte.isSystems)
  #endif
  /// The explorer's count of uses of the guarded data.
  @usableFromInline let uses = UseCount(of: "what a LockByte guards")

  /// Makes a byte that holds `initial`, of which the highest bit must be zero.
  @inlinable
  public init(_ initial: UInt8) {
    owned = OwnedByte(initial)
  }

  /// The last published value, perhaps with the highest bit. One acquire load: a thread that reads
  /// the value sees the writes before its publication.
  @inlinable @inline(__always)
  public borrowing func load() -> UInt8 {
    schedulingPoint()
    return owned.byte.loadAcquiring()
  }

  /// Acquires the lock.
  ///
  /// - Returns: the last published value, without the highest bit.
  @inlinable @inline(__always)
  public borrowing func acquire() -> UInt8 {
    #if MODEL || CHAOS
      identity.acquire()
    #endif
    let published = owned.acquire()
    #if DEBUG || MODEL || CHAOS
      HeldByte.acquired(address)
    #endif
    uses.note()
    return published
  }

  /// Publishes `byte`, and keeps the lock.
  @inlinable @inline(__always)
  public borrowing func publish(_ byte: UInt8) {
    assertHeld()
    schedulingPoint()
    owned.publish(byte)
  }

  /// Publishes `byte` and releases the lock.
  @inlinable @inline(__always)
  public borrowing func release(publishing byte: UInt8) {
    // Other threads may see the writes under the lock before the byte.
    schedulingPoint()
    #if DEBUG || MODEL || CHAOS
      assertHeld()
      HeldByte.released()
    #endif
    owned.release(publishing: byte)
    #if MODEL || CHAOS
      identity.release()
    #endif
  }

  /// Stops a debug build if the calling thread does not hold the lock. Does nothing in a release
  /// build.
  @inlinable @inline(__always)
  public borrowing func assertHeld() {
    #if DEBUG || MODEL || CHAOS
      HeldByte.assert(address)
    #endif
  }

  #if DEBUG || MODEL || CHAOS
    @inlinable var address: UInt {
      unsafe withUnsafePointer(to: owned) { UInt(bitPattern: $0) }
    }
  #endif
}
