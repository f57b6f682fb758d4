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
nonisolated open class DelayProcedure: Procedure, @unchecked Sendable {
  private final let timer: DelayTimer

  /// Makes a delay of a length, counted from when it executes.
  public init(name: String? = nil, by duration: Duration) {
    timer = DelayTimer(.after(duration))
    super.init()
    if let name { self.name = name }
  }

  /// Makes a delay until an instant.
  public init(name: String? = nil, until instant: ContinuousClock.Instant) {
    timer = DelayTimer(.at(instant))
    super.init()
    if let name { self.name = name }
  }

  /// Makes a delay whose end, and the clock that it is on, follow from the clock of the queue.
  ///
  /// - Parameter end: called once, when the delay executes.
  package init(
    name: String? = nil,
    endingAt end:
      @escaping @Sendable (_ queueClock: TimerClock) -> (TimerClock, ContinuousClock.Instant)
  ) {
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
    guard type(of: self) == DelayProcedure.self, let length = timer.length else { return nil }
    return "Delay of \(length.short)"
  }
}

/// Finishes a procedure when its time has come.
///
/// Unchecked because the procedure's turn starts and stops it, and `procedure` belongs to the
/// thread that got the timer out of its service: the timer's, when it fires, or the turn's, if it
/// was in time to cancel it.
private final class DelayTimer: TimerTarget, @unchecked Sendable {
  enum DelayEnd: Sendable {
    case after(Duration)
    case at(ContinuousClock.Instant)
    case resolved(@Sendable (TimerClock) -> (TimerClock, ContinuousClock.Instant))
  }

  private let end: DelayEnd
  @safe @exclusivity(unchecked) private var procedure: Procedure?
  @safe @exclusivity(unchecked) private var pending: (clock: TimerClock, key: SlabKey)?

  init(_ end: DelayEnd) {
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
      case .resolved(let end): end(queueClock)
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
