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
/// One thread of its own writes. What happens is counted, and text waits for that thread, at most as
/// much as `DisplayState.capacity`: then callers that have output to show wait too, so that a step
/// is not faster than the reader of all this. Live lines are drawn from the counters, ten times a
/// second, however much happens.
///
/// 1. The thread writes, and calls completions, without holding the lock of the state.
/// 2. Only output waits for room. What a step says of itself, a line when it starts and one when it
///    ends, does not: of those there are no more than the plan has steps.
final class Display: Sendable {
  private static let frameMilliseconds = 100

  private let state: Locked<DisplayState>
  private let writer = PatientWriter(STDOUT_FILENO)
  /// Signalled when there is news. There may be a signal more than news, never one less.
  private let news = DispatchSemaphore(value: 0)
  private let end = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - names: of the steps that may run.
  ///   - upToDateCount: how many others there are, which are up to date.
  init(_ names: [Name], upToDateCount: Int, terminal: Terminal, isQuiet: Bool) {
    state = Locked(
      DisplayState(
        names, upToDateCount: upToDateCount, terminal: terminal, isQuiet: isQuiet, at: .now))
  }

  /// Starts the thread; false if the system has none to give.
  func start() -> Bool { BackgroundThread.start { self.run() } }

  // MARK: What happens

  func started(_ name: Name, at instant: ContinuousClock.Instant) {
    update { $0.started(name, at: instant) }
  }

  /// A service is ready for the steps that need it.
  func ready(_ name: Name, after duration: Duration) {
    update { $0.ready(name, after: duration) }
  }

  func stopping(_ name: Name) { update { $0.stopping(name) } }

  func ended(
    _ name: Name, _ outcome: StepOutcome, after duration: Duration?, attempts: Int = 1
  ) {
    update { $0.ended(name, outcome, after: duration, attempts: attempts) }
  }

  /// An attempt has failed, and there will be another one.
  func again(_ name: Name, because reason: String) {
    update { $0.again(name, because: reason) }
  }

  /// Shows a complaint about the run, even if it is quiet.
  func say(_ line: String) { update { $0.say(line) } }

  /// Shows lines of a step's output; `completion` is called when there is room for more.
  ///
  /// - Parameter isComplaint: whether they are shown even if it is quiet.
  func print(
    _ lines: [OutputLines.Line], of name: Name, isComplaint: Bool = false,
    _ completion: @escaping @Sendable () -> Void
  ) {
    if update({ $0.print(lines, of: name, isComplaint: isComplaint, completion) }) { completion() }
  }

  /// Leaves the terminal to others; `completion` is called when nothing is drawn on it any more.
  func pause(_ completion: @escaping @Sendable () -> Void) { update { $0.pause(completion) } }

  func resume() { update { $0.resume() } }

  // MARK: The end

  /// From now on a reader that takes nothing for so long is given up.
  func lose(patience: Duration) { update { $0.lose(patience: patience, at: .now) } }

  /// Ends the live lines, and prints the table of failed steps, notes about the run, the last output of
  /// failed steps and a line that sums up.
  ///
  /// - Returns: why not all could be written, if that is so.
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
      // Signalled once for all that the thread has not looked at.
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
      // A frame that cannot be written ends a pause as well: what waits for the terminal goes on.
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

  /// False when it is not written, and nothing will be from now on.
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
