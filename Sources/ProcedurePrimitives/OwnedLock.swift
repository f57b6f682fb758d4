public import Synchronization

#if os(Linux) && canImport(_SynchronizationShims) && compiler(<6.5)
  // `Mutex` has its clients call this module, too. A later compiler, which may change that, gets
  // the other form below.
  public import _SynchronizationShims
  internal import Dispatch

  /// A lock that stores its holder: the thread's number, or zero.
  ///
  /// Acquiring is one compare-exchange, and releasing a store: half the cost of a `Mutex`. After a
  /// release, the first thread that tries acquires it, not the longest waiting one. `Mutex` on
  /// Linux is handed over, perhaps to a sleeping thread; if several threads want it for each of
  /// many short steps, every step becomes a thread switch.
  ///
  /// A store cannot see that another thread waits, so it wakes none. A thread that finds the lock
  /// held polls for a microsecond or two, longer than most critical sections. Then it sleeps for
  /// longer and longer moments, and lends its priority to the holder meanwhile: see
  /// `PriorityLoans`.
  ///
  /// No user code, no continuation and no closure's release may run between `acquire` and
  /// `release`. `-DMODEL` makes each acquisition a scheduling point of the schedule explorer.
  public struct OwnedLock: ~Copyable, Sendable {
    @usableFromInline let holder = OrderedAtomic<UInt32>(0)
    /// How many threads lend their priority to the holder, or are about to.
    @usableFromInline let lenders = Atomic<UInt8>(0)

    #if MODEL || CHAOS
      @usableFromInline let identity = ModelLock(isSystems: false)
    #endif
    /// The explorer's count of uses of the guarded data.
    @usableFromInline let uses = UseCount(of: "what an OwnedLock guards")

    /// Makes a free lock.
    @inlinable
    public init() {}

    /// Acquires the lock.
    @inlinable @inline(__always)
    public borrowing func acquire() {
      #if MODEL || CHAOS
        identity.acquire()
      #endif
      if !holder.weakCompareExchangeAcquiring(0, _swift_stdlib_gettid()) { acquireSlowly() }
      uses.note()
    }

    /// Releases the lock, which the caller keeps alive until this returns.
    ///
    /// `LockByte` explains the fence. The count must be read after the store, which no order of the
    /// language says: the compiler keeps that order (`.ci/assembly` checks it), and the lending
    /// thread enforces it on all processors by a barrier (`PriorityLoans`).
    @inlinable @inline(__always)
    public borrowing func release() {
      assertHeld()
      atomicMemoryFence(ordering: .acquiring)
      holder.storeReleasing(0)
      if lenders.load(ordering: .relaxed) != 0 { PriorityLoans.giveBack() }
      #if MODEL || CHAOS
        identity.release()
      #endif
    }

    /// Stops a debug build if the calling thread does not hold the lock. Does nothing in a release
    /// build.
    @inlinable @inline(__always)
    public borrowing func assertHeld() {
      #if DEBUG || MODEL || CHAOS
        LockHolder.assert(
          holder.loadRelaxed() == _swift_stdlib_gettid(), "an OwnedLock")
      #endif
    }

    @usableFromInline @inline(never)
    borrowing func acquireSlowly() {
      #if CONTENTION
        Contention.noteWait()
      #endif
      var looks = 0
      while true {
        let thread = holder.loadRelaxed()
        if thread == 0, holder.weakCompareExchangeAcquiring(0, _swift_stdlib_gettid()) { return }
        looks += 1
        if looks > Self.patience, thread != 0 {
          sleep(looks - Self.patience, whileHeldBy: thread)
        }
      }
    }

    /// The number of polls before sleeping.
    private static let patience = 300

    /// Sleeps 20 µs at first, up to 1 ms later: the holder may need this thread's processor.
    private borrowing func sleep(_ turn: Int, whileHeldBy thread: UInt32) {
      let microseconds = min(20 * turn, 1_000)
      let couldLend = PriorityLoans.lend(to: thread, for: UInt64(microseconds) * 1_000) {
        lenders.wrappingAdd(1, ordering: .sequentiallyConsistent)
        return PriorityLoans.synchronizeAllThreads() && holder.loadRelaxed() == thread
      } after: {
        lenders.wrappingSubtract(1, ordering: .relaxed)
      }
      if couldLend { return }
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .microseconds(microseconds))
    }
  }
#else
  /// The system's lock, which knows its holder and lends it the priority of the waiting threads.
  ///
  /// On Darwin it is `os_unfair_lock`, which is not handed over.
  ///
  /// No user code, no continuation and no closure's release may run between `acquire` and
  /// `release`. `-DMODEL` makes each acquisition a scheduling point of the schedule explorer.
  public struct OwnedLock: ~Copyable, Sendable {
    @usableFromInline let mutex = Mutex<Void>(())

    #if MODEL || CHAOS
      @usableFromInline let identity = ModelLock()
    #endif
    /// The explorer's count of uses of the guarded data.
    @usableFromInline let uses = UseCount(of: "what an OwnedLock guards")
    @usableFromInline let holder = LockHolder()

    /// Makes a free lock.
    @inlinable
    public init() {}

    /// Acquires the lock.
    @inlinable @inline(__always)
    public borrowing func acquire() {
      #if MODEL || CHAOS
        identity.acquire()
      #endif
      mutex._unsafeLock()
      #if DEBUG || MODEL || CHAOS
        holder.acquired()
      #endif
      uses.note()
    }

    /// Releases the lock, which the caller keeps alive until this returns.
    @inlinable @inline(__always)
    public borrowing func release() {
      #if DEBUG || MODEL || CHAOS
        assertHeld()
        holder.released()
      #endif
      mutex._unsafeUnlock()
      #if MODEL || CHAOS
        identity.release()
      #endif
    }

    /// Stops a debug build if the calling thread does not hold the lock. Does nothing in a release
    /// build.
    @inlinable @inline(__always)
    public borrowing func assertHeld() {
      #if DEBUG || MODEL || CHAOS
        holder.assertHeld("an OwnedLock")
      #endif
    }
  }
#endif
