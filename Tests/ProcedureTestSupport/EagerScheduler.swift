package import Dispatch
internal import Procedures

/// Its worker has run, on a thread of its own, before `submit` returns.
package final class EagerScheduler: Scheduler {
  package let quantum = WorkerQuantum(procedures: .max)
  package let lookPace = LookPace()

  package init() {}

  package func submit(
    quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void
  ) {
    let done = DispatchSemaphore(value: 0)
    DispatchQueue(label: "eager").async {
      worker()
      done.signal()
    }
    done.wait()
  }

  package func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void) {}
}
