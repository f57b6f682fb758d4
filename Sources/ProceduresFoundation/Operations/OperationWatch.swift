internal import Foundation
internal import ProcedurePrimitives

/// Calls a closure once when an operation has finished, on the thread that finishes it.
///
/// `completionBlock` is the user's, and is not touched. On Apple platforms the watch observes
/// `isFinished`. Linux has no key-value observing: there the watch owns an operation that depends
/// on the watched one, and whose `isReady` Foundation reads when the watched one has finished.
/// Foundation uses such a dependent without keeping it alive, so the watch removes the dependency
/// before it releases it.
///
/// Unchecked because of the observation, which only `init` sets.
final class OperationWatch: @unchecked Sendable {
  private let operation: Operation
  #if canImport(Darwin)
    private var observation: NSKeyValueObservation?
  #else
    private let dependent: WatchingOperation
  #endif

  /// Begins to watch. If the operation has finished, calls the closure before this returns.
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

/// A closure that is called once, and then released.
private final class SingleCall: Sendable {
  private let body: Locked<(@Sendable () -> Void)?>

  init(_ body: @escaping @Sendable () -> Void) { self.body = Locked(body) }

  func callAsFunction() {
    let body = body.withLock { $0.take() }
    body?()
  }
}

#if !canImport(Darwin)
  /// An operation that is on no queue and never starts.
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
