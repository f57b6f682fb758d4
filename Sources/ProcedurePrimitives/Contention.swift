#if CONTENTION
  public import Synchronization

  /// How often threads of the process got in each other's way.
  ///
  /// Only builds with `-DCONTENTION` have it, and count: `benchmarks --scale` prints the counts. A
  /// count is made after the thread had to wait or to repeat, so it changes little of what it
  /// counts.
  public enum Contention {
    @usableFromInline static let waits = Atomic(0)
    @usableFromInline static let failures = Atomic(0)

    /// Acquisitions of a `LockByte`, `OwnedLock` or `Locked` that did not get it at once.
    public static var lockWaits: Int { waits.load(ordering: .relaxed) }

    /// Compare-exchanges of an `AtomicWord` that failed, because another thread had changed it.
    public static var failedExchanges: Int { failures.load(ordering: .relaxed) }

    @usableFromInline static func noteWait() { waits.add(1, ordering: .relaxed) }
    @usableFromInline static func noteFailure() { failures.add(1, ordering: .relaxed) }
  }
#endif
