package import Dispatch
internal import Primitives
internal import Procedures

/// Keeps submitted workers until the test runs them, on the test's own thread: a queue on it does
/// nothing behind the test's back.
package final class ManualScheduler: Scheduler {
  private struct State {
    var workers = Fifo<@Sendable () -> Void>()
    var submissions = 0
  }

  private let state = Locked(State())
  package let proceduresPerWorker: Int

  package init(proceduresPerWorker: Int = .max) {
    self.proceduresPerWorker = proceduresPerWorker
  }

  /// How many workers were ever submitted.
  package var submissions: Int { state.withLock { $0.submissions } }

  package func submit(
    quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void
  ) {
    state.withLock { state in
      state.workers.append(worker)
      state.submissions += 1
    }
  }

  /// Runs the worker that was submitted first. False if there is none.
  @discardableResult
  package func runOne() -> Bool {
    guard let worker = state.withLock({ $0.workers.popFirst() }) else { return false }
    worker()
    return true
  }

  /// Runs workers until none is left.
  package func run() {
    while runOne() {}
  }
}
