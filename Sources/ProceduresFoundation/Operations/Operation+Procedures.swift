public import Foundation
internal import ProcedurePrimitives

/// Operations that wait for procedures.
extension Operation {
  /// Makes this operation wait until `procedure` has finished, and its DidFinish observers have
  /// returned.
  ///
  /// ```swift
  /// show.addDependency(fetch)        // show is an operation, fetch a procedure
  /// queue.add(fetch)
  /// OperationQueue.main.addOperation(show)
  /// ```
  ///
  /// It is about order, not success. Add the procedure to a queue, or this operation waits; until
  /// it has finished, it keeps this operation alive. `dependencies` contains an operation that
  /// stands for the procedure, has its name, and is cancelled if the procedure was. Call it from
  /// any thread, before the operation starts.
  public func addDependency(_ procedure: Procedure) {
    let latch = ProcedureLatch(procedure)
    addDependency(latch)
    procedure.add(
      observer: SuccessorObserver { finished in
        latch.open(after: finished)
        ReadinessReminder.schedule(for: self)
      })
  }

  /// Removes a dependency. Has no effect once the procedure has finished.
  ///
  /// It makes the operation ready, even on Linux, where Foundation's own `removeDependency` leaves
  /// an operation that is never ready. There the operation that stood for the procedure remains in
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
/// Foundation's queue there reads `isReady` when an operation is added and stores it later. A
/// finish in between is overwritten, and the operation waits until something else happens on the
/// queue: once in 100,000 runs. One reminder a little later is enough.
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
