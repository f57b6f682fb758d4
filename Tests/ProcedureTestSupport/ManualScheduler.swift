package import Dispatch
internal import ProcedurePrimitives
internal import Procedures

/// Keeps submitted workers until the test runs them, on the test's own thread: a queue on it does
/// nothing behind the test's back.
package final class ManualScheduler: Scheduler {
  private struct State {
    var workers = Fifo<@Sendable () -> Void>()
    var submissions = 0
    var quietWorks: [(delay: Duration, work: @Sendable () -> Void)] = []
  }

  private let state = Locked(State())
  package let quantum: WorkerQuantum
  package let lookPace = LookPace()

  package init(proceduresPerWorker: Int = .max) {
    quantum = WorkerQuantum(procedures: proceduresPerWorker)
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

  /// How many works wait for a quiet time.
  package var quietWorkCount: Int { state.withLock { $0.quietWorks.count } }

  package func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    state.withLock { $0.quietWorks.append((delay, work)) }
  }

  /// Runs workers until none is left, and then what is to be done when it is quiet, and so on.
  ///
  /// - Parameter patience: how long a quiet time to act out.
  package func run(patience: Duration = .milliseconds(500)) {
    while true {
      while runOne() {}
      let work = state.withLock { state in
        let index = state.quietWorks.firstIndex { $0.delay <= patience }
        return index.map { state.quietWorks.remove(at: $0).work }
      }
      guard let work else { return }
      work()
    }
  }
}
