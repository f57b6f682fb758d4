#if os(Linux) && canImport(_SynchronizationShims) && compiler(<6.5)
  internal import Synchronization
  internal import Dispatch
  internal import _SynchronizationShims

  /// Lets threads that sleep for an `OwnedLock` lend their priority to its holder.
  ///
  /// The system lends priority along a lock that contains its holder's number (a "PI futex"). This
  /// type makes such a lock for one wait at a time: a word of a small table, which the holder of
  /// the `OwnedLock` seems to hold.
  ///
  /// 1. A waiting thread takes a place of the table, writes the holder's number into the word
  ///    there, and counts itself in the `OwnedLock`.
  /// 2. Then, after a barrier, it reads the `OwnedLock` again. If the holder is no longer the same,
  ///    it leaves.
  /// 3. It waits for the word, for a bounded time. Meanwhile the holder runs with its priority.
  /// 4. A thread that has released an `OwnedLock` reads its count. If it is not zero, the thread
  ///    unlocks each word with its own number, which ends the wait and the loan.
  ///
  /// Without 4, a holder on the same processor would keep the priority, and the waiting thread
  /// would never run again. And a thread that holds nothing but still has a loan may next want a
  /// user's lock that the waiting thread holds: the system takes that for a deadlock, and `Mutex`
  /// stops the program.
  ///
  /// So 2 and 4 must not miss each other. Each thread stores, and then loads the other's variable:
  /// a processor may reorder the two. The waiting thread, which has time, executes a barrier on all
  /// processors of the process in between (`membarrier`); releasing a lock stays a store and a
  /// load.
  @usableFromInline
  enum PriorityLoans {
    /// `FUTEX_LOCK_PI2_PRIVATE`, by the monotonic clock. Headers before Linux 5.14 do not name it.
    private static let lockFutex = 13 | 128

    /// `MEMBARRIER_CMD_PRIVATE_EXPEDITED`, and the command that registers the process for it.
    private static let (barrier, registration) = (8, 16)

    /// Whether the system has barriers (Linux 4.14) and lets the process use them. If not, no
    /// thread lends.
    private static let hasBarriers =
      unsafe callSystem(
        Int(SYS_membarrier), registration, 0, 0, nil, 0, 0) == 0

    /// The number of threads that can lend at once; others sleep without lending.
    private static let capacity = 16

    /// Zero means no loan: it has not begun, or has ended.
    @safe private static let words = Words()
    /// Whether each place is taken. Only the thread that took it clears it: a holder that ends a
    /// loan before the waiting thread sleeps leaves a zero in a word that is still in use.
    @safe private static let taken = Words()

    /// Unchecked because the memory is never released, and each access to it is atomic.
    @safe private struct Words: @unchecked Sendable {
      let first: UnsafeMutablePointer<Atomic<UInt32>>

      init() {
        unsafe first = .allocate(capacity: PriorityLoans.capacity)
        for place in 0..<PriorityLoans.capacity {
          unsafe (first + place).initialize(to: Atomic(0))
        }
      }
    }

    /// Sleeps if the lock `isHeld`. Meanwhile its holder runs with this thread's priority, if that
    /// is higher.
    ///
    /// - Parameter isHeld: counts the caller, and then reads the lock.
    /// - Parameter after: uncounts the caller.
    /// - Returns: false if it has not slept: the table is full, or the system lacks a call.
    static func lend(
      to holder: UInt32, for nanoseconds: UInt64, ifHeld isHeld: () -> Bool, after: () -> Void
    ) -> Bool {
      guard hasBarriers else { return false }
      let loan = holder | UInt32(truncatingIfNeeded: FUTEX_WAITERS)
      guard
        let place = (0..<capacity).first(where: { place in
          unsafe taken.first[place].compareExchange(
            expected: 0, desired: 1, ordering: .acquiring
          ).exchanged
        })
      else { return false }
      unsafe words.first[place].store(loan, ordering: .relaxed)
      defer {
        after()
        unsafe words.first[place].store(0, ordering: .relaxed)
        unsafe taken.first[place].store(0, ordering: .releasing)
      }
      guard isHeld() else { return true }
      let end = DispatchTime.now().uptimeNanoseconds + nanoseconds
      var time = (seconds: Int(end / 1_000_000_000), nanoseconds: Int(end % 1_000_000_000))
      let code = unsafe callSystem(
        Int(SYS_futex), address(of: place), lockFutex, 0, &time, 0, 0)
      // 0: the holder has released a lock. Older systems (before Linux 5.14) do not know the call.
      return code == 0 || DispatchTime.now().uptimeNanoseconds >= end
    }

    /// Ends the loans of this thread.
    @usableFromInline @inline(never)
    static func giveBack() {
      let thread = _swift_stdlib_gettid()
      for place in 0..<capacity {
        let word = unsafe words.first[place].load(ordering: .relaxed)
        guard word & UInt32(FUTEX_TID_MASK) == thread else { continue }
        _ = unsafe callSystem(
          Int(SYS_futex), address(of: place), Int(FUTEX_UNLOCK_PI_PRIVATE), 0, nil, 0, 0)
      }
    }

    private static func address(of place: Int) -> Int {
      Int(bitPattern: unsafe words.first + place)
    }

    /// Makes earlier writes of this thread visible to all threads of the process, and theirs to
    /// this one.
    ///
    /// - Returns: false if the system had no memory for it.
    static func synchronizeAllThreads() -> Bool {
      unsafe callSystem(Int(SYS_membarrier), barrier, 0, 0, nil, 0, 0) == 0
    }

    /// The function of the C library: this module imports only Dispatch.
    @_silgen_name("syscall")
    private static func callSystem(
      _ number: Int, _ subject: Int, _ operation: Int, _ value: Int,
      _ time: UnsafePointer<(seconds: Int, nanoseconds: Int)>?, _ other: Int, _ last: Int
    ) -> Int
  }
#endif
