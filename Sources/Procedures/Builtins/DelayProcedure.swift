internal import Primitives

/// Finishes when some time has passed since it started; blocks no thread meanwhile.
///
/// ```swift
/// let pause = DelayProcedure(by: .seconds(2))
/// retry.add(dependency: pause)
/// queue.add(pause, retry)
/// ```
///
/// Time is that of the queue's clock, which is monotonic: changes of the wall clock do not matter.
/// It never ends early; at zero or less, or an instant in the past, it ends at once. All delays
/// share one timer. Cancelled, it finishes at once.
nonisolated open class DelayProcedure: Procedure, @unchecked Sendable {
  private enum End: Sendable {
    case after(Duration)
    case at(ContinuousClock.Instant)
  }

  private final let end: End

  /// Makes a delay of a length, counted from when it executes.
  public init(by duration: Duration) {
    end = .after(duration)
    super.init()
  }

  /// Makes a delay until an instant.
  public init(until instant: ContinuousClock.Instant) {
    end = .at(instant)
    super.init()
  }

  /// Starts the wait.
  public final override func execute() {
    let clock = clock
    let now = clock.now
    let instant =
      switch end {
      case .after(let duration): now.advanced(by: duration)
      case .at(let instant): instant
      }
    guard instant > now else {
      finish()
      return
    }
    schedule(FinishTimer(self), at: instant, on: clock)
  }

  final override func endBecauseOfCancel() {
    if isExecuting { finish() }
  }
}

/// Finishes a procedure when its time has come.
private final class FinishTimer: TimerTarget {
  private let procedure: Procedure

  init(_ procedure: Procedure) {
    self.procedure = procedure
  }

  func timerFired() { procedure.finish() }
}
