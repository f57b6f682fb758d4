package import Dispatch
package import ProcedurePrimitives

/// Workers on threads of Dispatch.
package final class DispatchScheduler: Scheduler {
  private enum Threads {
    /// A line that goes on while its threads are blocked.
    case line(WorkLine)
    /// The user's own queue: a block for each worker.
    case queue(DispatchQueue)
  }

  private let threads: Threads
  package let stretch: WorkerStretch

  /// Workers on the user's own queue, where other blocks wait their turn between procedures.
  package init(underlyingQueue: DispatchQueue) {
    threads = .queue(underlyingQueue)
    stretch = WorkerStretch(procedures: 16, milliseconds: 1)
  }

  /// Workers in that line.
  package init(line: WorkLine) {
    threads = .line(line)
    stretch = WorkerStretch(procedures: 256, milliseconds: 4)
  }

  /// Workers on Dispatch's global queue of that quality.
  package convenience init(quality: DispatchQoS.QoSClass) {
    self.init(line: .shared(quality))
  }

  /// Workers that may block, on threads that nothing else uses.
  ///
  /// - Parameter threads: how many workers may block at once. There is one thread more, for what else is to be done.
  package convenience init(threads: Int, quality: DispatchQoS.QoSClass) {
    self.init(line: WorkLine(threads: threads + 1, quality: quality))
  }

  package func submit(
    quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void
  ) {
    switch threads {
    case .line(let line): line.submit(quality: quality, worker)
    case .queue(let queue): queue.submit(quality: quality, worker)
    }
  }

  package var isOnMainThread: Bool { underlyingQueue.map(MainThread.runs) ?? false }

  package var underlyingQueue: DispatchQueue? {
    if case .queue(let queue) = threads { queue } else { nil }
  }

  package var isStalled: Bool {
    if case .line(let line) = threads { line.isStalled } else { false }
  }

  /// Not on the workers' own queue: that may be blocked by what is looked for.
  package func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    let timers = DispatchTimers.shared
    _ = timers.schedule(QuietTimer(work: work), at: timers.now.saturatingAdvanced(by: delay))
  }
}

private final class QuietTimer: TimerTarget {
  private let work: @Sendable () -> Void

  init(work: @escaping @Sendable () -> Void) {
    self.work = work
  }

  func timerFired() { WorkLine.shared(.utility).submit(work) }
}
