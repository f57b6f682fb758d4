internal import ProcedurePrimitives

/// Finishes some time after it started, and blocks no thread meanwhile.
///
/// ```swift
/// let pause = DelayProcedure(by: .seconds(2))
/// retry.add(dependency: pause)
/// queue.add(pause, retry)
/// ```
///
/// It uses the queue's clock, which is monotonic: changes of the wall clock do not matter. It never
/// ends early. It finishes at once if the duration is zero or less, the instant has passed, or it
/// is cancelled. All delays share one timer.
nonisolated open class DelayProcedure: Procedure, EndsByItself, @unchecked Sendable {
  private final let timer: DelayTimer

  /// Makes a delay of `duration`, counted from when it executes.
  public init(name: String? = nil, by duration: Duration) {
    timer = DelayTimer(.after(duration))
    super.init()
    if let name { self.name = name }
  }

  /// Makes a delay of `seconds`, counted from when it executes.
  ///
  /// ```swift
  /// queue.add(DelayProcedure(by: 0.5))
  /// ```
  ///
  /// Zero, negative values and NaN finish at once; an infinite delay ends only by a cancel.
  @_disfavoredOverload  // `.zero` must be a Duration.
  public init(name: String? = nil, by seconds: Double) {
    timer = DelayTimer(.after(.saturating(seconds: seconds)))
    super.init()
    if let name { self.name = name }
  }

  /// Makes a delay until an instant.
  public init(name: String? = nil, until instant: ContinuousClock.Instant) {
    timer = DelayTimer(.at(instant))
    super.init()
    if let name { self.name = name }
  }

  /// Makes a delay until an end of another kind, such as a `Date` with `ProceduresFoundation`.
  public init(name: String? = nil, until end: some DelayEnd) {
    timer = DelayTimer(.resolved(end))
    super.init()
    if let name { self.name = name }
  }

  /// Starts the wait.
  public final override func execute() {
    if !timer.start(for: self, on: clock) { finish() }
  }

  /// The timer has fired. Called on its thread.
  func endHasCome() { finish() }

  final override func workDidEnter(_ phase: WorkPhase) {
    switch phase {
    case .cancelled: if isExecuting { finish() }
    case .over: timer.stop()
    case .queued, .interrupted, .deallocated: break
    }
  }

  /// Its name is `Delay of 2 s`, for example. A subclass is named after its type.
  final override func text(for use: TextUse) -> String? {
    guard use == .name, type(of: self) == DelayProcedure.self || self is AttemptDelay,
      let length = timer.length
    else { return nil }
    return "Delay of \(length.short)"
  }
}

/// The interval between two attempts of a `RepeatProcedure`. The type lets a timeline distinguish
/// it from work.
nonisolated package class AttemptDelay: DelayProcedure, PauseOfAttempts, @unchecked Sendable {
  /// The thread that adds it writes this before others can find it.
  final var needsNoSlot = false
}

/// An end of a delay that is not an instant of the queue's clock, such as a `Date` with
/// `ProceduresFoundation`.
public protocol DelayEnd: Sendable {
  /// Returns the clock that ends the delay, and the instant.
  ///
  /// The delay calls it once, in its turn, when it executes.
  func endOfDelay(on queueClock: TimerClock) -> (TimerClock, ContinuousClock.Instant)
}

private final class DelayTimer: TimerTarget, @unchecked Sendable {
  enum Due: Sendable {
    case after(Duration)
    case at(ContinuousClock.Instant)
    case resolved(any DelayEnd)
  }

  private let end: Due
  /// Once the timer is scheduled, only the thread that removes it from its service uses this: the
  /// timer's thread when it fires, or the turn's if it cancels the timer in time.
  @safe @exclusivity(unchecked) private var procedure: DelayProcedure?
  /// Only the turn uses it, also while the timer fires: so it is not in one struct with `procedure`.
  @safe @exclusivity(unchecked) private var pending: (clock: TimerClock, key: SlabKey)?

  init(_ end: Due) {
    self.end = end
  }

  /// The duration; nil if the delay ends at an instant.
  var length: Duration? { if case .after(let duration) = end { duration } else { nil } }

  /// False if the end has already passed.
  func start(for procedure: DelayProcedure, on queueClock: TimerClock) -> Bool {
    let (clock, instant) =
      switch end {
      case .after(let duration): (queueClock, queueClock.now.saturatingAdvanced(by: duration))
      case .at(let instant): (queueClock, instant)
      case .resolved(let end): end.endOfDelay(on: queueClock)
      }
    guard instant > clock.now else { return false }
    self.procedure = procedure
    pending = (clock, clock.service.schedule(self, at: instant))
    return true
  }

  func stop() {
    guard let (clock, key) = pending.take(), clock.service.cancel(key) else { return }
    procedure = nil
  }

  func timerFired() {
    let procedure = procedure.take()
    procedure?.endHasCome()
  }
}
