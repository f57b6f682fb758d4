#if MODEL
  public import Dispatch

  /// Stands for a thread in the schedule explorer of the model tests.
  ///
  /// With `-DMODEL`, the locks, `AtomicByte` and `AtomicWord` stop here before each access, so that
  /// the explorer decides which thread goes next. They tell it of the access, too, with its memory order, and a load
  /// returns what the explorer says. A thread that it does not know goes on unhindered.
  public protocol ModelThread: AnyObject, Sendable {
    /// A scheduling point.
    func step()
    /// A scheduling point, and a wait until `lock` is free.
    func acquire(_ lock: ModelLock)
    /// Gives `lock` back.
    func release(_ lock: ModelLock)
    /// A load of an atomic, which holds `newest` by now.
    ///
    /// - Returns: any value that the thread may still read there.
    func load(_ atomic: ModelPlace, holding newest: UInt, _ order: MemoryOrder) -> UInt
    /// A store to an atomic, over `old`.
    func store(_ new: UInt, in atomic: ModelPlace, over old: UInt, _ order: MemoryOrder)
    /// A read-modify-write of an atomic, which reads the newest value.
    ///
    /// - Parameter new: nil if it is a compare-exchange that failed.
    func change(_ atomic: ModelPlace, from old: UInt, to new: UInt?, _ order: MemoryOrder)
    /// A use of data that one thread at a time may use.
    func use(_ data: ModelPlace, _ name: StaticString)
    /// The use of such data after which there is none.
    func useLast(_ data: ModelPlace)
  }

  /// Finds the explorer's thread that runs the current code.
  public enum ModelSchedule {
    /// Set on the Dispatch queue that is a thread of the explorer.
    public static let key = DispatchSpecificKey<any ModelThread>()

    /// The explorer's thread that runs this code, if it is one.
    public static var thread: (any ModelThread)? { DispatchQueue.getSpecific(key: key) }
  }

  /// The identity of an atomic, a lock, or of data, for the explorer: only that touches it, which runs one thread at a time.
  public final class ModelPlace: @unchecked Sendable {
    /// Bits of its value that no reader looks at.
    public let ignored: UInt
    /// The schedule that knows it, by a number, and its number there.
    public var known = (schedule: 0, number: 0)

    /// Makes it, known to no schedule.
    public init(ignoring ignored: UInt = 0) { self.ignored = ignored }
  }

  /// The identity of one lock. Only the explorer, which runs one thread at a time, touches
  /// `holder`.
  public final class ModelLock: @unchecked Sendable {
    /// The thread that holds it now.
    public var holder: (any ModelThread)?
    /// Nil if the lock is made of an atomic, of which the explorer is told: that orders memory. Otherwise the system's lock
    /// does, and a thread that acquires it knows what the thread knew that released it.
    public let memory: ModelPlace?

    /// Makes the identity of a free lock.
    public init(isSystems: Bool = true) { memory = isSystems ? ModelPlace() : nil }

    /// Called before the lock is taken.
    public func acquire() { ModelSchedule.thread?.acquire(self) }
    /// Called after the lock was given back.
    public func release() { ModelSchedule.thread?.release(self) }
  }
#endif
