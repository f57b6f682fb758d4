internal import Cancellation
internal import ProcedurePrimitives
package import Procedures

/// Stands for work that takes so long by the queue's clock; blocks no thread meanwhile. Cancelled,
/// it finishes at once.
///
/// For a timeline it is work, as a `DelayProcedure` is not.
package final class LastingProcedure: Procedure, EndsByItself, @unchecked Sendable {
  private let length: Duration
  private let timer = Locked<SlabKey?>(nil)

  package init(_ length: Duration) {
    self.length = length
  }

  package override func execute() {
    guard length > .zero else {
      finish()
      return
    }
    let key = clock.service.schedule(End(of: self), at: clock.now.advanced(by: length))
    timer.withLock { $0 = key }
  }

  package override func procedureDidCancel(withErrors errors: [any Error]) {
    guard isExecuting else { return }
    if let key = timer.withLock({ $0.take() }) { _ = clock.service.cancel(key) }
    finish()
  }

  private final class End: TimerTarget {
    private let procedure: LastingProcedure

    init(of procedure: LastingProcedure) { self.procedure = procedure }

    func timerFired() { procedure.finish() }
  }
}
