#if CHAOS
  internal import Synchronization
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Darwin)
    internal import Darwin
  #endif
#endif

/// A place between two steps, where another thread may see the first without the second.
///
/// It does nothing in ordinary builds. With `-DMODEL` the schedule explorer decides here which
/// thread goes next; with `-DCHAOS` the thread may sleep. Each access to `AtomicByte` and
/// `AtomicWord` is a scheduling point; code that counts references by hand calls this function.
@inlinable @inline(__always)
public func schedulingPoint() {
  #if MODEL
    ModelSchedule.thread?.step()
  #else
    chaosPoint()
  #endif
}

/// A place inside one step of the schedule explorer, such as a lock. With `-DCHAOS` the thread may
/// sleep here; other builds do nothing.
@inlinable @inline(__always)
public func chaosPoint() {
  #if CHAOS
    Chaos.delay()
  #endif
}

#if CHAOS
  /// Makes threads yield or sleep at random, like preemption, signals and profilers on a bad day.
  ///
  /// | environment    | meaning                                              | otherwise |
  /// |----------------|------------------------------------------------------|-----------|
  /// | `CHAOS_ONE_IN` | one in this many points delays; 0: none             | 200       |
  /// | `CHAOS_LONGEST`| the longest sleep, in microseconds                   | 1,000     |
  /// | `CHAOS_SEED`   | the seed of the threads' random generators           | 1         |
  public enum Chaos {
    private static let rarity = number("CHAOS_ONE_IN", otherwise: 200)
    private static let longest = number("CHAOS_LONGEST", otherwise: 1_000)
    private static let seed = number("CHAOS_SEED", otherwise: 1)
    private static let threadCount = Atomic<UInt64>(0)

    /// The state of a thread's generator is the value of this key itself, which needs no memory.
    private static let key: pthread_key_t = {
      var key = pthread_key_t()
      let isMade = unsafe pthread_key_create(&key, nil) == 0
      precondition(isMade, "There is no key for a thread's state.")
      return key
    }()

    /// Usually returns at once.
    @usableFromInline
    static func delay() {
      guard rarity > 0 else { return }
      var draw = next()
      guard draw % rarity == 0 else { return }
      draw /= rarity
      switch draw % 8 {
      case 0...3: sched_yield()
      case 4...5: usleep(UInt32(draw / 8 % 50))
      default: usleep(UInt32(draw / 8 % max(longest, 1)))
      }
    }

    /// Each thread has its own generator, xorshift64*, so that no thread waits for another here.
    private static func next() -> UInt64 {
      var state = UInt64(UInt(bitPattern: unsafe pthread_getspecific(key)))
      if state == 0 {
        let thread = threadCount.wrappingAdd(1, ordering: .relaxed).newValue
        state = (seed &+ thread) &* 0x9E37_79B9_7F4A_7C15 | 1
      }
      state ^= state >> 12
      state ^= state << 25
      state ^= state >> 27
      unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: UInt(state)))
      return state &* 0x2545_F491_4F6C_DD1D >> 16
    }

    private static func number(_ name: String, otherwise: UInt64) -> UInt64 {
      guard let text = unsafe getenv(name) else { return otherwise }
      return UInt64(unsafe String(cString: text)) ?? otherwise
    }
  }

  /// The explorer's build calls this before a lock is acquired and after it was released.
  @usableFromInline
  struct ModelLock: Sendable {
    @usableFromInline init(isSystems: Bool = true) {}
    @usableFromInline func acquire() { Chaos.delay() }
    @usableFromInline func release() { Chaos.delay() }
  }
#endif
