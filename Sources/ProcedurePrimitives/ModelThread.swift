#if MODEL
  public import Dispatch

  /// Stands for a thread in the schedule explorer of the model tests.
  ///
  /// With `-DMODEL`, the locks, `AtomicByte` and `AtomicWord` stop here before each access, so that
  /// the explorer decides which thread goes next. A thread that it does not know goes on unhindered.
  public protocol ModelThread: AnyObject, Sendable {
    /// A scheduling point.
    func step()
    /// A scheduling point, and a wait until `lock` is free.
    func acquire(_ lock: ModelLock)
    /// Gives `lock` back.
    func release(_ lock: ModelLock)
  }

  /// Finds the explorer's thread that runs the current code.
  public enum ModelSchedule {
    /// Set on the Dispatch queue that is a thread of the explorer.
    public static let key = DispatchSpecificKey<any ModelThread>()

    /// The explorer's thread that runs this code, if it is one.
    public static var thread: (any ModelThread)? { DispatchQueue.getSpecific(key: key) }
  }

  /// The identity of one lock. Only the explorer, which runs one thread at a time, touches
  /// `holder`.
  public final class ModelLock: @unchecked Sendable {
    /// The thread that holds it now.
    public var holder: (any ModelThread)?

    /// Makes the identity of a free lock.
    public init() {}

    /// Called before the lock is taken.
    public func acquire() { ModelSchedule.thread?.acquire(self) }
    /// Called after the lock was given back.
    public func release() { ModelSchedule.thread?.release(self) }
  }
#endif
