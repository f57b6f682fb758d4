public import Foundation
internal import ProcedurePrimitives

/// Operations that wait for procedures.
extension Operation {
  /// Makes this operation wait until `procedure` has finished, and its DidFinish observers have returned.
  ///
  /// ```swift
  /// show.addDependency(fetch)        // show is an operation, fetch a procedure
  /// queue.add(fetch)
  /// OperationQueue.main.addOperation(show)
  /// ```
  ///
  /// Order, not success. The procedure must be added to a queue, or this operation waits; until it has
  /// finished, it keeps this operation alive. In `dependencies` there is an operation that stands for
  /// the procedure, has its name, and is cancelled if it was. From any thread, before the operation starts.
  public func addDependency(_ procedure: Procedure) {
    let latch = ProcedureLatch(procedure)
    addDependency(latch)
    procedure.add(
      observer: SuccessorObserver { finished in
        latch.open(after: finished)
        ReadinessReminder.schedule(for: self)
      })
  }

  /// Takes a dependency back. Without effect once the procedure has finished.
  ///
  /// The operation gets ready by it, also on Linux, where Foundation's own `removeDependency` leaves an
  /// operation that is never ready; there the operation that stood for the procedure remains in
  /// `dependencies`, finished.
  public func removeDependency(_ procedure: Procedure) {
    for case let latch as ProcedureLatch in dependencies where latch.procedure === procedure {
      latch.open()
      ReadinessReminder.schedule(for: self)
      #if canImport(Darwin)
        removeDependency(latch)
      #endif
    }
  }
}

/// Reminds an operation's queue, on Linux, that the operation is ready.
///
/// Foundation's queue there reads `isReady` when an operation is added and stores it later. A finish in
/// between is overwritten, and the operation waits until something else happens to the queue: seen
/// once in 100,000 times. One reminder a little later is enough.
final class ReadinessReminder: TimerTarget {
  #if !canImport(Darwin)
    private let operation: Locked<WeakOperation>

    private init(_ operation: Operation) {
      self.operation = Locked(WeakOperation(operation: operation))
    }
  #endif

  static func schedule(for operation: Operation) {
    #if !canImport(Darwin)
      guard !operation.isExecuting, !operation.isFinished else { return }
      let service = DispatchTimers.shared
      _ = service.schedule(
        ReadinessReminder(operation), at: service.now.advanced(by: .milliseconds(20)))
    #endif
  }

  func timerFired() {
    #if !canImport(Darwin)
      guard let operation = operation.withLock({ $0.operation }) else { return }
      DispatchTimers.shared.deliver {
        if !operation.isExecuting, !operation.isFinished {
          operation.didChangeValue(forKey: "isReady")
        }
      }
    #endif
  }
}

#if !canImport(Darwin)
  private struct WeakOperation: Sendable {
    weak var operation: Operation?
  }
#endif
