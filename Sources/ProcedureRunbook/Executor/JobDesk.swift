import Dispatch
internal import ProcedurePrimitives
import ProceduresProcess

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Accepts the jobs of a run: one thread submits, follows and ends them, with one command at a
/// time.
///
/// Steps put their requests into a box. The thread empties it at the beginning of each round.
final class JobDesk: Sendable {
  private let box = Locked(Box())
  /// Signalled when the box has something.
  private let news = DispatchSemaphore(value: 0)
  private let rounds: @Sendable () -> JobRounds

  struct Box {
    var arrivals: [Arrival] = []
    /// Each cancelled job with the time of its cancel, since the thread may be busy then.
    var cancelled: [(job: Job, since: ContinuousClock.Instant)] = []
    /// Whether cancelled jobs are killed at once.
    var isKilling = false
    fileprivate var hasThread = false
  }

  struct Arrival {
    let job: Job
    let progress: JobProgress
  }

  /// - Parameter rounds: called on the desk's thread when the first job arrives.
  init(_ rounds: @escaping @Sendable () -> JobRounds) { self.rounds = rounds }

  /// Adds a job: the desk submits it, or follows the job of a killed run.
  ///
  /// - Returns: false if no thread could be created.
  func add(_ job: Job, _ progress: JobProgress) -> Bool {
    let mustStart = box.withLock { box in
      box.arrivals.append(Arrival(job: job, progress: progress))
      defer { box.hasThread = true }
      return !box.hasThread
    }
    if mustStart, !BackgroundThread.start({ self.run() }) {
      box.withLock { $0 = Box() }
      return false
    }
    news.signal()
    return true
  }

  /// Ends a job: `ended` is called when the job has ended, or soon if it was not submitted. It does
  /// nothing if the job has ended.
  func cancel(_ job: Job) {
    box.withLock { $0.cancelled.append((job, .now)) }
    news.signal()
  }

  /// Kills all cancelled jobs, instead of waiting for the grace period.
  func kill() {
    box.withLock { $0.isKilling = true }
    news.signal()
  }

  private func run() {
    var rounds = rounds()
    while true {
      if let due = rounds.due {
        let rest = max(.zero, due - .now)
        _ = news.wait(timeout: .now() + .milliseconds(Int(rest / .milliseconds(1)) + 1))
      } else {
        news.wait()
      }
      // Cancels of one moment arrive one by one; this pause lets one command end all of them.
      if box.withLock({ !$0.cancelled.isEmpty }) { usleep(50_000) }
      let content = box.withLock { box in
        let content = box
        (box.arrivals, box.cancelled) = ([], [])
        return content
      }
      rounds.make(content)
    }
  }
}
