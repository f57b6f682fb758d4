package import Dispatch
internal import ProcedurePrimitives

/// Workers as blocks on a Dispatch queue.
package final class DispatchScheduler: Scheduler {
  private let queue: DispatchQueue
  package let stretch: WorkerStretch

  /// Workers on the user's own queue, where other blocks wait their turn between procedures.
  package init(underlyingQueue: DispatchQueue) {
    queue = underlyingQueue
    stretch = WorkerStretch(procedures: 16, milliseconds: 1)
  }

  /// Workers on Dispatch's global queue of that quality.
  package init(quality: DispatchQoS.QoSClass) {
    queue = .global(qos: quality)
    stretch = WorkerStretch(procedures: 256, milliseconds: 4)
  }

  package func submit(
    quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void
  ) {
    queue.submit(quality: quality, worker)
  }

  package var isOnMainThread: Bool { MainThread.runs(queue) }

  /// Not on the workers' own queue: that may be blocked by what is looked for.
  package func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    DispatchTimers.shared.submit(after: delay, work)
  }
}

extension DispatchQueue {
  /// - Parameter quality: nil for the queue's own.
  func submit(quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void) {
    if let quality {
      let qos = DispatchQoS(qosClass: quality, relativePriority: 0)
      async(qos: qos, flags: .enforceQoS, execute: worker)
    } else {
      async(execute: worker)
    }
  }
}

extension DispatchTimers {
  /// Runs `work` on one of Dispatch's threads when `delay` has passed.
  func submit(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    _ = schedule(QuietTimer(work: work), at: now.saturatingAdvanced(by: delay))
  }
}

private final class QuietTimer: TimerTarget {
  private let work: @Sendable () -> Void

  init(work: @escaping @Sendable () -> Void) {
    self.work = work
  }

  func timerFired() {
    DispatchQueue.global(qos: .utility).async(execute: work)
  }
}
