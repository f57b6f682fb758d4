public import Foundation
internal import ProcedurePrimitives

/// Runs a Foundation operation as a procedure: starts it, and finishes after it.
///
/// ```swift
/// let resize = OperationProcedure(ResizeOperation(image))
/// upload.add(dependency: resize, requiring: .success)
/// queue.add(resize, upload)
/// ```
///
/// The operation must not be on an `OperationQueue`: the procedure starts it. To wait for an
/// operation on a queue, use `procedure.add(dependency: operation)`. The procedure does not start
/// an operation again that was started elsewhere, or has finished.
///
/// Dependencies that the operation has when this is made become dependencies of the procedure, so
/// that it takes no slot while it waits. The procedure also waits for later dependencies of the
/// operation, but takes a slot meanwhile. `name` and `priority` are copied from the operation when
/// this is made; later set the procedure's. `completionBlock` is not touched. An operation has no
/// errors, so the procedure gets none from it: read them from your operation, in a DidFinish
/// observer.
///
/// ## Thread
/// `start()` is called on a worker of the procedure's queue, so `main()` runs there, on the main
/// queue with `ProcedureQueue.main`. If the operation is not ready then, a private `OperationQueue`
/// starts it, on its thread.
///
/// ## Cancellation
/// A cancel of the procedure calls `operation.cancel()` before it returns. If the procedure has not
/// executed, it then starts the cancelled operation, which finishes without `main()`: other
/// operations may depend on it. An operation that finishes cancelled makes the procedure cancelled.
/// On Apple platforms a cancel of the operation cancels the procedure at once. On Linux, where the
/// cancel of an operation cannot be observed, that happens when the operation starts or finishes.
public final class OperationProcedure: Procedure, EndsByItself, @unchecked Sendable {
  /// The operation that it runs.
  public let operation: Operation

  // Accessed only in turns.
  private var hasBegun = false
  private var watch: OperationWatch?
  #if canImport(Darwin)
    // Set by init.
    private var cancelObservation: NSKeyValueObservation?
  #endif

  /// Makes a procedure of `operation`.
  public init(_ operation: Operation) {
    self.operation = operation
    super.init()
    name = operation.name ?? typeName(type(of: operation))
    let priority = ProcedurePriority(operation.queuePriority)
    if priority != .normal { self.priority = priority }
    cancellationToken.onCancel { operation.cancel() }
    for dependency in operation.dependencies { add(standInFor: dependency) }
    #if canImport(Darwin)
      cancelObservation = operation.observe(\.isCancelled) { [weak self] operation, _ in
        if operation.isCancelled { self?.cancel() }
      }
      if operation.isCancelled { cancel() }
    #endif
  }

  /// Starts the operation.
  public override func execute() {
    startOperation()
    if operation.isFinished {
      end()
    } else {
      watch = OperationWatch(operation) { self.end() }
    }
  }

  /// Finishes an operation that was not started, since others may depend on it.
  public override func procedureDidCancel(withErrors errors: [any Error]) {
    if !hasBegun { startOperation() }
  }

  /// Releases the watch.
  public override func procedureDidFinish(withErrors errors: [any Error]) {
    watch = nil
  }

  private func startOperation() {
    hasBegun = true
    guard !operation.isExecuting, !operation.isFinished else { return }
    if operation.isReady {
      operation.start()
    } else {
      OperationQueues.startWhenReady(operation)
    }
  }

  private func end() {
    if operation.isCancelled { cancel() }
    finish()
  }

  /// Waits for a dependency of the operation.
  private func add(standInFor dependency: Operation) {
    if let latch = dependency as? ProcedureLatch {
      if let procedure = latch.procedure, !latch.isFinished { add(dependency: procedure) }
    } else {
      add(dependency: dependency)
    }
  }
}

extension ProcedurePriority {
  init(_ priority: Operation.QueuePriority) {
    switch priority {
    case .veryLow: self = .veryLow
    case .low: self = .low
    case .high: self = .high
    case .veryHigh: self = .veryHigh
    default: self = .normal
    }
  }
}

extension Operation.QueuePriority {
  init(_ priority: ProcedurePriority) {
    switch priority {
    case .veryLow: self = .veryLow
    case .low: self = .low
    case .normal: self = .normal
    case .high: self = .high
    case .veryHigh: self = .veryHigh
    }
  }
}
