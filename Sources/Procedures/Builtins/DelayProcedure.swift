internal import ProcedurePrimitives

/// Finishes when some time has passed since it started; blocks no thread meanwhile.
///
/// ```swift
/// let pause = DelayProcedure(by: .seconds(2))
/// retry.add(dependency: pause)
/// queue.add(pause, retry)
/// ```
///
/// It runs on the queue's clock, which is monotonic: changes of the wall clock do not matter. It
/// never ends early; at zero or less, or an instant in the past, it ends at once. All delays share
/// one timer. Cancelled, it finishes at once.
nonisolated open class DelayProcedure: Procedure, EndsByItself, @unchecked Sendable {
  private final let timer: DelayTimer

  /// Makes a delay of a length, counted from when it executes.
  public init(name: String? = nil, by duration: Duration) {
    timer = DelayTimer(.after(duration))
    super.init()
    if let name { self.name = name }
  }

  /// Makes a delay of so many seconds, counted from when it executes.
  ///
  /// ```swift
  /// queue.add(DelayProcedure(by: 0.5))
  /// ```
  ///
  /// Zero, less, and not a number end at once; infinity never ends by itself.
  @_disfavoredOverload  // .zero is a Duration.
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

  /// Makes a delay until something else that is an end: with `ProceduresFoundation` a `Date`.
  public init(name: String? = nil, until end: some DelayEnd) {
    timer = DelayTimer(.resolved(end))
    super.init()
    if let name { self.name = name }
  }

  /// Starts the wait.
  public final override func execute() {
    if !timer.start(for: self, on: clock) { finish() }
  }

  final override func endBecauseOfCancel() {
    if isExecuting { finish() }
  }

  final override func releaseWork() { timer.stop() }

  /// For example `Delay of 2 s`. Made when it is asked for; a subclass is called by its type.
  final override var derivedName: String? {
    guard type(of: self) == DelayProcedure.self || self is AttemptDelay, let length = timer.length
    else { return nil }
    return "Delay of \(length.short)"
  }
}

/// The interval between two attempts of a `RepeatProcedure`. A type of its own: a timeline tells it from work by that.
nonisolated package final class AttemptDelay: DelayProcedure, @unchecked Sendable {}

/// The end of a delay that is no instant of the queue's clock: with `ProceduresFoundation`, a `Date`.
public protocol DelayEnd: Sendable {
  /// The clock that ends the delay, and when.
  ///
  /// Called once, in the turn of the delay, when it executes.
  func endOfDelay(on queueClock: TimerClock) -> (TimerClock, ContinuousClock.Instant)
}

/// Finishes a procedure when its time has come.
///
/// Unchecked because the procedure's turn starts and stops it, and `procedure` belongs to the
/// thread that got the timer out of its service: the timer's, when it fires, or the turn's, if it
/// was in time to cancel it.
private final class DelayTimer: TimerTarget, @unchecked Sendable {
  enum Due: Sendable {
    case after(Duration)
    case at(ContinuousClock.Instant)
    case resolved(any DelayEnd)
  }

  private let end: Due
  @safe @exclusivity(unchecked) private var procedure: Procedure?
  @safe @exclusivity(unchecked) private var pending: (clock: TimerClock, key: SlabKey)?

  init(_ end: Due) {
    self.end = end
  }

  /// How long it is; nil if it ends at an instant.
  var length: Duration? { if case .after(let duration) = end { duration } else { nil } }

  /// False if there is nothing to wait for.
  func start(for procedure: Procedure, on queueClock: TimerClock) -> Bool {
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
    let procedure = self.procedure.take()
    procedure?.finish()
  }
}
