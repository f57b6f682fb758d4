package import Dispatch

/// Runs workers. `DispatchScheduler` is the real one; a simulation puts its own in its place.
///
/// Everything asynchronous in the core goes through this and the clock beside it.
package protocol Scheduler: AnyObject, Sendable {
  /// Runs `worker` soon, on some thread, once; never on the caller's stack.
  ///
  /// - Parameter quality: nil for the scheduler's own.
  func submit(quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void)

  /// Runs `work` once when `delay` has passed, on some thread; in a simulation, when nothing else is
  /// left to be done. For looking whether procedures wait for each other.
  func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void)

  /// How long a worker runs procedures before it asks to be called again, so that others get the
  /// thread.
  var stretch: WorkerStretch { get }

  /// Whether nothing runs while the main thread is blocked.
  var isOnMainThread: Bool { get }

  /// The user's queue that workers are blocks of, which may be suspended, or blocked; nil if they begin in any case.
  var underlyingQueue: DispatchQueue? { get }

  /// Whether Dispatch begins no worker at the moment, and spare threads run them.
  var isStalled: Bool { get }
}

extension Scheduler {
  package var isOnMainThread: Bool { false }
  package var underlyingQueue: DispatchQueue? { nil }
  package var isStalled: Bool { false }
}
