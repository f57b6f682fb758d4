#if os(Linux) && canImport(_SynchronizationShims) && compiler(<6.5)
  internal import Synchronization
  internal import Dispatch
  internal import _SynchronizationShims

  /// Threads that sleep for an `OwnedLock`, and lend their priority to the thread that holds it.
  ///
  /// The system lends along a lock that has the holder's number in it and that a thread waits for (a "PI futex"). Such
  /// a lock is made here for one wait at a time: a word of a small table, that the thread which holds the `OwnedLock`
  /// seems to hold.
  ///
  /// 1. A waiting thread takes a place of the table, which is its own until it leaves, writes the holder's number into
  ///    the word there, and counts itself in the `OwnedLock`.
  /// 2. Then, after a barrier, it looks at the `OwnedLock` again. If another thread holds it by now, it leaves.
  /// 3. It waits for the word, for a bounded time. Meanwhile the holder runs with its priority.
  /// 4. A thread that has released an `OwnedLock` looks at its count. It gives back each word with its own number: that
  ///    ends the wait, and the loan.
  ///
  /// Without 4, a holder on the same processor would keep the priority, and the waiting thread never run again. And a
  /// thread that holds nothing any more, but still has a loan, may next want a lock of the user that the waiting thread
  /// holds: the system takes that for a deadlock, and `Mutex` stops the program.
  ///
  /// So 2 and 4 must not miss each other. Each thread stores, and then loads what the other has stored: a processor may
  /// do these two in the other order. The waiting thread, which has time, has all processors of the process come to
  /// rest in between (`membarrier`); releasing a lock stays a store and a load.
  @usableFromInline
  enum PriorityLoans {
    /// `FUTEX_LOCK_PI2_PRIVATE`, by the monotonic clock: the headers of a system before Linux 5.14 do not name it.
    private static let lockFutex = 13 | 128

    /// `MEMBARRIER_CMD_PRIVATE_EXPEDITED`, and the command that registers the process for it.
    private static let (barrier, registration) = (8, 16)

    /// Whether the system knows barriers (Linux 4.14) and lets the process have them. Without, no thread lends.
    private static let hasBarriers =
      unsafe callSystem(
        Int(SYS_membarrier), registration, 0, 0, nil, 0, 0) == 0

    /// The number of threads that can lend at once; others sleep without.
    private static let capacity = 16

    /// A zero is no loan: it has not begun, or was given back.
    @safe private static let words = Words()
    /// Whether each place is taken. Cleared by the thread alone that took it: one that gives a loan back before the
    /// waiting thread sleeps leaves a zero in a word that is still used.
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

    /// Sleeps if the lock `isHeld`, and has its holder run with this thread's priority meanwhile, if that is the higher one.
    ///
    /// - Parameter isHeld: counts the caller, and then looks.
    /// - Parameter after: takes it off the count.
    /// - Returns: false if it could not, and has not slept: the table is full, or the system does not know a call.
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

    /// All threads of the process see what this one has written, and this one what they have.
    ///
    /// - Returns: false if the system had no memory for it.
    static func synchronizeAllThreads() -> Bool {
      unsafe callSystem(Int(SYS_membarrier), barrier, 0, 0, nil, 0, 0) == 0
    }

    /// The C library's: this module imports no more of that than Dispatch does.
    @_silgen_name("syscall")
    private static func callSystem(
      _ number: Int, _ subject: Int, _ operation: Int, _ value: Int,
      _ time: UnsafePointer<(seconds: Int, nanoseconds: Int)>?, _ other: Int, _ last: Int
    ) -> Int
  }
#endif
