public import Foundation
internal import ProcedurePrimitives

/// A procedure as a Foundation operation, for an `OperationQueue`, among other operations.
///
/// ```swift
/// let upload = ProcedureOperation(Upload(file))
/// upload.addDependency(compress)
/// operationQueue.addOperation(upload)
/// ```
///
/// It is an asynchronous operation, with key-value observing for `isExecuting` and `isFinished`.
/// The procedure executes nothing before `start()`, which adds it to `queue`; the operation has
/// finished when the procedure has, and its DidFinish observers have returned. Dependencies that
/// the procedure has when this is made become dependencies of the operation too, so that it takes
/// no place on the `OperationQueue` while it waits. If the procedure is already on a queue, the
/// operation only waits for it. `name` and `queuePriority` are copied from the procedure when this
/// is made; later set the operation's.
///
/// ## Cancellation
/// A cancel of either one cancels the other before it returns. If it is cancelled before the start,
/// it executes nothing, and finishes when its queue starts it.
public final class ProcedureOperation: Operation, @unchecked Sendable {
  private enum Phase {
    static let initialized: UInt8 = 0
    static let executing: UInt8 = 1
    static let finished: UInt8 = 2
  }

  /// The procedure that it runs.
  public let procedure: Procedure

  private let queue: ProcedureQueue
  private let phase = AtomicByte(Phase.initialized)
  /// Ensures that the operation starts once.
  private let hasBegun = AtomicByte(0)

  /// Makes an operation of `procedure`.
  ///
  /// - Parameters:
  ///   - procedure: the procedure to run.
  ///   - queue: the queue on which it executes. By default it is a queue without a limit that all
  ///     such operations share: the `OperationQueue` decides how many run at once.
  public init(_ procedure: Procedure, on queue: ProcedureQueue? = nil) {
    self.procedure = procedure
    self.queue = queue ?? OperationQueues.procedures
    super.init()
    name = procedure.name
    if procedure.priority != .normal { queuePriority = QueuePriority(procedure.priority) }
    procedure.cancellationToken.onCancel { [weak self] in self?.noteCancel() }
    for dependency in procedure.dependencies { wait(for: dependency) }
  }

  #if !canImport(Darwin)
    // Foundation on Linux uses the dependents of an operation without keeping them alive.
    deinit { for dependency in dependencies { removeDependency(dependency) } }
  #endif

  /// True: the work goes on after `start()` has returned.
  public override var isAsynchronous: Bool { true }

  /// Whether it was started and has not finished.
  public override var isExecuting: Bool { phase.load() == Phase.executing }

  /// Whether the procedure has finished and its DidFinish observers have returned.
  public override var isFinished: Bool { phase.load() == Phase.finished }

  /// Adds the procedure to its queue. Called by the `OperationQueue`; a second call has no effect.
  public override func start() {
    guard hasBegun.exchange(1) == 0 else { return }
    if isCancelled {
      // A cancelled operation starts without waiting for its dependencies, so it must not execute
      // anything.
      procedure.cancel()
    } else {
      change("isExecuting", to: Phase.executing)
    }
    procedure.add(observer: SuccessorObserver { _ in self.end() })
    if !procedure.isEnqueued { queue.add(procedure) }
  }

  /// Cancels the procedure too. Has no effect once the operation has finished.
  public override func cancel() {
    // Cancel the procedure first: a queue may start the operation as soon as that is cancelled.
    procedure.cancel()
    noteCancel()
  }

  private func noteCancel() {
    if !isCancelled { super.cancel() }
  }

  private func end() {
    if isExecuting {
      willChangeValue(forKey: "isExecuting")
      change("isFinished", to: Phase.finished)
      didChangeValue(forKey: "isExecuting")
    } else {
      change("isFinished", to: Phase.finished)
    }
  }

  private func change(_ key: String, to phase: UInt8) {
    willChangeValue(forKey: key)
    self.phase.store(phase)
    didChangeValue(forKey: key)
  }

  /// Like `addDependency(_:)`, but the dependency does not keep the operation, which keeps it.
  private func wait(for dependency: Procedure) {
    let latch = ProcedureLatch(dependency)
    addDependency(latch)
    dependency.add(
      observer: SuccessorObserver { [weak self, weak latch] finished in
        guard let self, let latch else { return }
        latch.open(after: finished)
        ReadinessReminder.schedule(for: self)
      })
  }
}
