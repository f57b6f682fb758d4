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
  }

  /// Finds the explorer's thread that runs the current code.
  public enum ModelSchedule {
    /// Set on the Dispatch queue that is a thread of the explorer.
    public static let key = DispatchSpecificKey<any ModelThread>()

    /// The explorer's thread that runs this code, if it is one.
    public static var thread: (any ModelThread)? { DispatchQueue.getSpecific(key: key) }
  }

  /// The identity of an atomic, a lock or data. Only the explorer, which runs one thread at a time,
  /// touches it.
  public final class ModelPlace: @unchecked Sendable {
    /// Bits of its value that readers ignore.
    public let ignored: UInt
    /// The number of the schedule that registered it, and its number there.
    public var known = (schedule: 0, number: 0)

    /// Makes an identity that no schedule has registered.
    public init(ignoring ignored: UInt = 0) { self.ignored = ignored }
  }

  /// The identity of one lock. Only the explorer, which runs one thread at a time, touches
  /// `holder`.
  public final class ModelLock: @unchecked Sendable {
    /// The thread that holds it now.
    public var holder: (any ModelThread)?
    /// Nil if the lock is built on an atomic, which orders memory and reports to the explorer.
    /// Otherwise the system's lock orders memory: a thread that acquires it sees everything that
    /// its last holder saw.
    public let memory: ModelPlace?

    /// Makes the identity of a free lock.
    public init(isSystems: Bool = true) { memory = isSystems ? ModelPlace() : nil }

    /// Called before the lock is acquired.
    public func acquire() { ModelSchedule.thread?.acquire(self) }
    /// Called after the lock was released.
    public func release() { ModelSchedule.thread?.release(self) }
  }
#endif
