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

/// Shows a run while it goes on: live lines on a terminal, plain lines elsewhere.
///
/// One thread of its own writes. Callers change counters and append text for that thread. When more
/// than `DisplayState.capacity` bytes wait, callers with output wait too, so that a step is not
/// faster than the reader. Live lines are drawn from the counters ten times a second, at any rate
/// of events.
///
/// 1. The thread writes, and calls completions, without holding the lock of the state.
/// 2. Only output waits for room. The lines about the start and the end of a step do not: there are
///    no more of them than the plan has steps.
final class Display: Sendable {
  private static let frameMilliseconds = 100

  private let state: Locked<DisplayState>
  private let writer = PatientWriter(STDOUT_FILENO)
  /// Signalled when there is news. There may be one signal too many, never one too few.
  private let news = DispatchSemaphore(value: 0)
  private let end = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - names: the steps that may run.
  ///   - upToDateCount: the number of other steps, which are up to date.
  init(_ names: [Name], upToDateCount: Int, terminal: Terminal, isQuiet: Bool) {
    state = Locked(
      DisplayState(
        names, upToDateCount: upToDateCount, terminal: terminal, isQuiet: isQuiet, at: .now))
  }

  /// Starts the thread; false if the system cannot create one.
  func start() -> Bool { BackgroundThread.start { self.run() } }

  // MARK: What happens

  func started(_ name: Name, at instant: ContinuousClock.Instant) {
    update { $0.started(name, at: instant) }
  }

  /// Shows that a service is ready for the steps that need it.
  func ready(_ name: Name, after duration: Duration) {
    update { $0.ready(name, after: duration) }
  }

  func stopping(_ name: Name) { update { $0.stopping(name) } }

  func ended(
    _ name: Name, _ outcome: StepOutcome, after duration: Duration?, attempts: Int = 1
  ) {
    update { $0.ended(name, outcome, after: duration, attempts: attempts) }
  }

  /// Shows that an attempt has failed and that another one follows.
  func again(_ name: Name, because reason: String) {
    update { $0.again(name, because: reason) }
  }

  /// Shows a complaint about the run, even in quiet mode.
  func say(_ line: String) { update { $0.say(line) } }

  /// Shows lines of a step's output; `completion` is called when there is room for more.
  ///
  /// - Parameter isComplaint: whether the lines are shown even in quiet mode.
  func print(
    _ lines: [OutputLines.Line], of name: Name, isComplaint: Bool = false,
    _ completion: @escaping @Sendable () -> Void
  ) {
    if update({ $0.print(lines, of: name, isComplaint: isComplaint, completion) }) { completion() }
  }

  /// Leaves the terminal to another program; `completion` is called when nothing is drawn on it any
  /// more.
  func pause(_ completion: @escaping @Sendable () -> Void) { update { $0.pause(completion) } }

  func resume() { update { $0.resume() } }

  // MARK: The end

  /// From now on, output is given up when the reader takes nothing for `patience`.
  func lose(patience: Duration) { update { $0.lose(patience: patience, at: .now) } }

  /// Ends the live lines, and prints the table of failed steps, notes about the run, the last
  /// output of failed steps and a summary line.
  ///
  /// - Returns: the reason if not all could be written.
  func finish(
    failures: [(name: Name, output: [String])], _ notes: [String]
  ) -> PatientWriter.Failure? {
    update { $0.finish(failures: failures, notes, at: .now) }
    end.wait()
    return state.withLock { $0.failure }
  }

  private func update<Result: Sendable>(_ body: (inout DisplayState) -> Result) -> Result {
    let (result, isNews) = state.withLock { state in
      let hadNews = state.hasNews
      let result = body(&state)
      // It signals only once for all news that the thread has not seen.
      return (result, !hadNews && state.hasNews)
    }
    if isNews { news.signal() }
    return result
  }

  // MARK: The thread

  private func run() {
    var isPaused = false
    while true {
      while !state.withLock({ $0.looks { state in state.hasWork(whilePaused: isPaused) } }) {
        news.wait()
      }
      let frame = state.withLock { $0.takeFrame(at: .now) }
      // A frame that cannot be written also ends a pause, so that steps that wait for the terminal
      // go on.
      isPaused = write(frame.bytes) && frame.isPaused
      let (completions, isOver) = state.withLock { $0.written(frame, isPaused: isPaused) }
      for completion in completions { completion() }
      if isOver {
        end.signal()
        return
      }
      if !isPaused, state.withLock({ $0.isLive }) { waitForNextFrame() }
    }
  }

  private func waitForNextFrame() {
    let next = DispatchTime.now() + .milliseconds(Self.frameMilliseconds)
    while !state.withLock({ $0.looks { state in state.isUrgent } }),
      news.wait(timeout: next) == .success
    {}
  }

  /// Returns false if the bytes could not be written; then later ones are dropped too.
  private func write(_ bytes: [UInt8]) -> Bool {
    guard state.withLock({ $0.failure == nil }) else { return false }
    do throws(PatientWriter.Failure) {
      try writer.write(bytes) { hasProgressed in
        state.withLock { $0.mayGoOn(hasProgressed: hasProgressed, at: .now) }
      }
      return true
    } catch {
      state.withLock { $0.failed(error) }
      return false
    }
  }
}
