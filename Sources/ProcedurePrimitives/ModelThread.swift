#if MODEL
  public import Dispatch

  /// A thread of the schedule explorer of the model tests.
  ///
  /// With `-DMODEL`, the locks, `AtomicByte` and `AtomicWord` stop here before each access, so that
  /// the explorer decides which thread goes next. They also report the access with its memory
  /// order, and a load returns the value that the explorer chooses. A thread that is not the
  /// explorer's goes on unhindered.
  public protocol ModelThread: AnyObject, Sendable {
    /// A scheduling point.
    func step()
    /// A scheduling point, and a wait until `lock` is free.
    func acquire(_ lock: ModelLock)
    /// Gives `lock` back.
    func release(_ lock: ModelLock)
    /// A load of an atomic, which now holds `newest`.
    ///
    /// - Returns: any value that the thread may still read there.
    func load(_ atomic: ModelPlace, holding newest: UInt, _ order: MemoryOrder) -> UInt
    /// A store to an atomic, over `old`.
    func store(_ new: UInt, in atomic: ModelPlace, over old: UInt, _ order: MemoryOrder)
    /// A read-modify-write of an atomic, which reads the newest value.
    ///
    /// - Parameter new: nil if it is a compare-exchange that failed.
    func change(_ atomic: ModelPlace, from old: UInt, to new: UInt?, _ order: MemoryOrder)
    /// A use of data that may have one user at a time.
    func use(_ data: ModelPlace, _ name: StaticString)
    /// The last use of such data.
    func useLast(_ data: ModelPlace)
    /// A change of something that orders no memory, as a reference count: it is not independent of
    /// other changes.
    func touch(_ place: ModelPlace)
  }

  /// Finds the explorer's thread that runs the current code.
  public enum ModelSchedule {
    /// Set on the Dispatch queue that is a thread of the explorer.
    public static let key = DispatchSpecificKey<any ModelThread>()

    /// The explorer's thread that runs this code, if it is one.
    public static var thread: (any ModelThread)? { DispatchQueue.getSpecific(key: key) }
  }

  /// Numbers the places in the order in which a schedule makes them, so that each has the same
  /// number in all schedules that begin alike. Only the explorer, which runs one thread at a time,
  /// touches it.
  public final class ModelPlaceNumbers: @unchecked Sendable {
    /// Set on the Dispatch queues on which a schedule makes places.
    public static let key = DispatchSpecificKey<ModelPlaceNumbers>()
    /// The number of the current schedule; unique in the process.
    public private(set) var schedule = 0
    /// How many places the current schedule has made.
    public private(set) var count = 0

    /// Makes numbers for one exploration.
    public init() {}

    /// Begins the schedule of that number.
    public func begin(_ schedule: Int) {
      self.schedule = schedule
      count = 0
    }

    fileprivate func next() -> (schedule: Int, number: Int) {
      count += 1
      return (schedule, count)
    }
  }

  /// The identity of an atomic, a lock or data. Only the explorer, which runs one thread at a time,
  /// touches it.
  public final class ModelPlace: @unchecked Sendable {
    /// Bits of its value that readers ignore.
    public let ignored: UInt
    /// The number of the schedule that registered it, and its number there.
    public var known = (schedule: 0, number: 0)
    /// The number of the schedule that made it, and its number there, from 1; zeros if none did.
    public let origin: (schedule: Int, number: Int)

    /// Makes an identity that no schedule has registered.
    public init(ignoring ignored: UInt = 0) {
      self.ignored = ignored
      origin = DispatchQueue.getSpecific(key: ModelPlaceNumbers.key)?.next() ?? (0, 0)
    }

    deinit {
      if origin.schedule != 0 { ModelSchedule.thread?.touch(self) }
    }
  }

  /// The identity of one lock. Only the explorer, which runs one thread at a time, touches
  /// `holder`.
  public final class ModelLock: @unchecked Sendable {
    /// The thread that holds it now.
    public var holder: (any ModelThread)?
    /// What a thread accesses that acquires or releases it.
    public let place = ModelPlace()
    /// Nil if the lock is built on an atomic, which orders memory and reports to the explorer.
    /// Otherwise the system's lock orders memory: a thread that acquires it sees everything that
    /// its last holder saw.
    public var memory: ModelPlace? { isSystems ? place : nil }
    private let isSystems: Bool

    /// Makes the identity of a free lock.
    public init(isSystems: Bool = true) { self.isSystems = isSystems }

    /// Called before the lock is acquired.
    public func acquire() { ModelSchedule.thread?.acquire(self) }
    /// Called after the lock was released.
    public func release() { ModelSchedule.thread?.release(self) }
  }
#endif
