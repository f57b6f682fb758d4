package import Dispatch
internal import ProcedurePrimitives

/// Workers that may block, on threads that nothing else uses.
///
/// Each thread is that of a serial Dispatch queue, which has one when it needs one, whatever the shared pool is busy
/// with. A concurrent queue takes its threads from that pool, of which there are as many as processors, and one more
/// for each second in which all of them are blocked.
package final class BlockingScheduler: Scheduler {
  private struct WorkInLine: Sendable {
    var waiting = Fifo<@Sendable () -> Void>()
    /// Queues that have nothing to do, by their indices.
    var idle: [Int]
  }

  private let queues: [DispatchQueue]
  private let work: Locked<WorkInLine>

  package let stretch = WorkerStretch(procedures: 256, milliseconds: 4)

  /// - Parameter threads: how many workers may block at once. There is one thread more, for what else is to be done.
  package init(threads: Int, quality: DispatchQoS.QoSClass) {
    let qos = DispatchQoS(qosClass: quality, relativePriority: 0)
    queues = (0...threads).map { DispatchQueue(label: "Procedures.blocking.\($0)", qos: qos) }
    work = Locked(WorkInLine(idle: Array(queues.indices.reversed())))
  }

  package func submit(
    quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void
  ) {
    let idle = work.withLock { work in
      work.waiting.append(worker)
      return work.idle.popLast()
    }
    if let idle { queues[idle].submit(quality: quality) { self.serve(idle) } }
  }

  /// Runs what waits, until nothing does. None waits behind another that blocks, as long as a thread is free.
  private func serve(_ index: Int) {
    while let worker = next(for: index) { worker() }
  }

  private func next(for index: Int) -> (@Sendable () -> Void)? {
    work.withLock { work in
      let next = work.waiting.popFirst()
      if next == nil { work.idle.append(index) }
      return next
    }
  }

  package func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    DispatchTimers.shared.submit(after: delay, work)
  }
}
