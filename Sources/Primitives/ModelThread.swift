#if MODEL
  package import Dispatch

  /// What the schedule explorer of the model tests puts in the place of a thread.
  ///
  /// With `-DMODEL`, `Locked` and `AtomicByte` stop here before each access, so that the explorer
  /// decides which thread goes next. A thread that the explorer does not know goes on unhindered.
  package protocol ModelThread: AnyObject, Sendable {
    /// A scheduling point.
    func step()
    /// A scheduling point, and a wait until `lock` is free.
    func acquire(_ lock: ModelLock)
    /// Gives `lock` back.
    func release(_ lock: ModelLock)
  }

  /// Finds the explorer's thread that runs the current code.
  package enum ModelSchedule {
    package static let key = DispatchSpecificKey<any ModelThread>()

    /// The explorer's thread that runs this code, if it is one.
    package static var thread: (any ModelThread)? { DispatchQueue.getSpecific(key: key) }
  }

  /// The identity of one `Locked`. Only the explorer, which runs one thread at a time, touches
  /// `holder`.
  package final class ModelLock: @unchecked Sendable {
    package var holder: (any ModelThread)?

    package init() {}

    package func acquire() { ModelSchedule.thread?.acquire(self) }
    package func release() { ModelSchedule.thread?.release(self) }
  }
#endif
