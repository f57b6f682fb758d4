public import Dispatch

/// A line of work for Dispatch's threads that begins even while they are all blocked.
///
/// A block on a global queue waits behind all earlier blocks there. If all threads of Dispatch's
/// pool wait for the result of that block, it never begins. So the work waits in a line here, and a
/// Dispatch block begins the first in line. Every 20 ms while there is work, a *look* checks
/// whether any was begun. If none was, a *spare* thread begins it, and continues until a thread of
/// Dispatch begins some again.
///
/// While Dispatch begins the work in time, this costs two short critical sections for each
/// submission.
public final class WorkLine: Sendable {
  /// A closure that is run once.
  public typealias Work = @Sendable () -> Void

  /// The threads that usually begin the work.
  private enum Threads {
    /// The threads of a queue: one block for each submission.
    case pool(DispatchQueue)
    /// The threads of serial queues that nothing else uses: each gets one when it needs one, beside
    /// the pool.
    case own([DispatchQueue])
  }

  /// The time between two looks.
  private static let period = Duration.milliseconds(20)

  private let threads: Threads
  let quality: DispatchQoS.QoSClass
  private let state: Contended<WorkLineState>

  /// The process's line in front of Dispatch's global queue of this quality.
  public static func shared(_ quality: DispatchQoS.QoSClass) -> WorkLine {
    switch quality {
    case .userInteractive: userInteractive
    case .userInitiated: userInitiated
    case .utility: utility
    case .background: background
    default: ordinary
    }
  }

  private static let userInteractive = WorkLine(global: .userInteractive)
  private static let userInitiated = WorkLine(global: .userInitiated)
  private static let ordinary = WorkLine(global: .default)
  private static let utility = WorkLine(global: .utility)
  private static let background = WorkLine(global: .background)

  private convenience init(global quality: DispatchQoS.QoSClass) {
    self.init(pool: .global(qos: quality), quality: quality)
  }

  /// A line in front of any queue.
  public init(pool: DispatchQueue, quality: DispatchQoS.QoSClass) {
    threads = .pool(pool)
    self.quality = quality
    state = Contended(WorkLineState())
  }

  /// A line for `count` threads of its own.
  public init(threads count: Int, quality: DispatchQoS.QoSClass) {
    let qos = DispatchQoS(qosClass: quality, relativePriority: 0)
    threads = .own((0..<count).map { DispatchQueue(label: "procedures.blocking.\($0)", qos: qos) })
    self.quality = quality
    state = Contended(WorkLineState(idleThreads: count))
  }

  /// Whether waiting work was not begun in time, and no usual thread has come since.
  public var isStalled: Bool { state.withLock { $0.isStalled } }

  /// Runs `work` soon, once, on a thread of Dispatch; never on the caller's stack.
  ///
  /// - Parameter quality: nil for the line's own.
  public func submit(quality: DispatchQoS.QoSClass? = nil, _ work: @escaping Work) {
    if let quality, quality != self.quality, case .pool = threads {
      return WorkLine.shared(quality).submit(work)
    }
    let (idleThread, needsBlock, needs) = state.withLock { $0.submit(work) }
    switch threads {
    case .pool(let queue): if needsBlock { queue.async { self.beginNext() } }
    case .own(let queues):
      if let idleThread {
        queues[idleThread].submit(quality: quality) { self.serve(onThread: idleThread) }
      }
    }
    if !needs.isEmpty { meet(needs) }
  }

  /// Runs in one block of the pool.
  private func beginNext() {
    state.withLock { $0.begin() }?()
  }

  private func serve(onThread index: Int) {
    while let work = state.withLock({ $0.begin(onThread: index) }) { work() }
  }

  /// Runs on a spare thread, until the line needs none.
  func serveOnSpareThread() {
    while let work = state.withLock({ $0.beginOnSpareThread() }) { work() }
  }

  /// Called when the job of a spare thread of this line is about to wait for procedures.
  func spareThreadBlocks() { meet(state.withLock { $0.spareThreadBlocks() }) }

  /// Called when that job no longer waits.
  func spareThreadGoesOn() { state.withLock { $0.spareThreadGoesOn() } }

  @inline(never)
  private func meet(_ needs: WorkLineState.Needs) {
    if needs.contains(.look) {
      let timers = DispatchTimers.shared
      _ = timers.schedule(Look(at: self), at: timers.now.advanced(by: Self.period))
    }
    if needs.contains(.spareThread), !SpareThreads.shared.serve(self) {
      state.withLock { $0.lacksSpareThread() }
    }
  }

  /// The look runs on the timers' thread, which does not need the pool.
  private final class Look: TimerTarget {
    private let line: WorkLine
    private let timeBefore = processorTime()

    init(at line: WorkLine) {
      self.line = line
    }

    func timerFired() {
      // Nine tenths of the time since the last look: other threads than the blocked ones keep a
      // processor busy.
      let isComputing = processorTime() - timeBefore > 18_000
      line.meet(line.state.withLock { $0.look(isComputing: isComputing) })
    }
  }
}

extension DispatchQueue {
  /// - Parameter quality: nil for the queue's own.
  public func submit(quality: DispatchQoS.QoSClass?, _ work: @escaping @Sendable () -> Void) {
    guard let quality else { return async(execute: work) }
    let qos = DispatchQoS(qosClass: quality, relativePriority: 0)
    async(qos: qos, flags: .enforceQoS, execute: work)
  }
}

/// The C library's `clock`: the microseconds that the process has spent on all processors.
@_silgen_name("clock")
private func processorTime() -> Int
