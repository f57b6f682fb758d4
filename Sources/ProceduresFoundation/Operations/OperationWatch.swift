internal import Foundation
internal import ProcedurePrimitives

/// Calls a closure once when an operation has finished, on the thread that finishes it.
///
/// `completionBlock` is the user's and is left alone. On Apple platforms the watch observes
/// `isFinished`. On Linux there is no key-value observing: there the watch has an operation that
/// depends on the watched one, and that Foundation asks whether it is ready when the watched one has
/// finished. Foundation does not keep such a dependent alive and uses it all the same, so the
/// dependent leaves before it is released.
///
/// Unchecked because of the observation, which only `init` sets.
final class OperationWatch: @unchecked Sendable {
  private let operation: Operation
  #if canImport(Darwin)
    private var observation: NSKeyValueObservation?
  #else
    private let dependent: WatchingOperation
  #endif

  /// Begins to watch. A closure for an operation that has finished is called before this returns.
  init(_ operation: Operation, onFinish: @escaping @Sendable () -> Void) {
    self.operation = operation
    let call = SingleCall(onFinish)
    #if canImport(Darwin)
      observation = operation.observe(\.isFinished) { operation, _ in
        if operation.isFinished { call() }
      }
      if operation.isFinished { call() }
    #else
      dependent = WatchingOperation(call)
      dependent.addDependency(operation)
    #endif
  }

  deinit {
    #if !canImport(Darwin)
      dependent.removeDependency(operation)
    #endif
  }
}

/// A closure that is called once, and released then.
private final class SingleCall: Sendable {
  private let body: Locked<(@Sendable () -> Void)?>

  init(_ body: @escaping @Sendable () -> Void) { self.body = Locked(body) }

  func callAsFunction() {
    let body = body.withLock { $0.take() }
    body?()
  }
}

#if !canImport(Darwin)
  /// Is on no queue and never starts.
  private final class WatchingOperation: Operation, @unchecked Sendable {
    private let call: SingleCall

    init(_ call: SingleCall) { self.call = call }

    /// Foundation reads it whenever a dependency was added or has finished.
    override var isReady: Bool {
      let isReady = super.isReady
      if isReady { call() }
      return isReady
    }
  }
#endif
