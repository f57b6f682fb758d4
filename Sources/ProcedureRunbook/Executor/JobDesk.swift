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

/// Where steps hand in their jobs: one thread submits, follows and ends those of a run, with one command at a time.
///
/// Steps leave what they want in a box, and the thread takes it out at the beginning of each round.
final class JobDesk: Sendable {
  private let box = Locked(Box())
  /// Signalled when there is something in the box.
  private let news = DispatchSemaphore(value: 0)
  private let rounds: @Sendable () -> JobRounds

  struct Box {
    var arrivals: [Arrival] = []
    /// With when that was: the thread may be at work then.
    var cancelled: [(job: Job, since: ContinuousClock.Instant)] = []
    /// What was cancelled is killed.
    var isKilling = false
    fileprivate var hasThread = false
  }

  struct Arrival {
    let job: Job
    let progress: JobProgress
  }

  /// - Parameter rounds: made on the thread that makes them, when there is a first job.
  init(_ rounds: @escaping @Sendable () -> JobRounds) { self.rounds = rounds }

  /// Takes a job, to hand it in or to follow the one that a killed run has left.
  ///
  /// - Returns: false if there is no thread for it.
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

  /// Ends it: its `ended` is called when it has, or soon if it was not handed in. Without effect on one that has ended.
  func cancel(_ job: Job) {
    box.withLock { $0.cancelled.append((job, .now)) }
    news.signal()
  }

  /// Kills all that are cancelled, instead of waiting for the grace period.
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
      // What is cancelled at one moment comes one by one, and is ended by one command.
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
