internal import Cancellation
internal import ProcedurePrimitives
internal import Procedures

/// Plays the steps of a fake in the time of a queue: each event when its time has come, one at a
/// time.
///
/// ```
/// running ⇄ waiting        (running: one thread, or one job, owns it)
/// ```
///
/// 1. Events are played while it is running, by the thread that took it out of `waiting`.
/// 2. A replacement that finds it waiting runs it; otherwise the running thread finds the
///    replacement before the next event.
/// 3. Each wait counts from the due time of the previous event, not from when a thread ran it: if a
///    test clock advances by an hour, all events of that hour get their own times.
/// 4. Events run on threads of the queue if there was nothing to wait for, otherwise where its
///    clock delivers.
final class Playback<Event: Sendable>: TimerTarget {
  struct Step: Sendable {
    /// The time since the previous step.
    let wait: Duration
    let event: Event
  }

  private enum Phase: Sendable {
    case running
    /// Waiting for a timer, unless no step is left.
    case waiting(SlabKey?)
  }

  private struct State: Sendable {
    var phase = Phase.waiting(nil)
    var isReplaced = false
    var steps: [Step] = []
    var place = 0
    var due: ContinuousClock.Instant
    /// Nil before `prepare` and after `stop()`.
    var play: (@Sendable (Event) -> Void)?
  }

  let clock: TimerClock
  private let submit: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let state: Locked<State>

  init(of procedure: Procedure) {
    clock = procedure.clock
    submit = procedure.submitterToQueue
    state = Locked(State(due: clock.now))
  }

  /// Sets `play`, which is kept until `stop()`. Called first.
  func prepare(_ play: @escaping @Sendable (Event) -> Void) {
    state.withLock { $0.play = play }
  }

  /// Plays the steps that `makeSteps` returns, unless they were replaced before. Called once;
  /// returns at once.
  func start(_ makeSteps: @escaping @Sendable () -> [Step]) {
    let isTaken = state.withLock { state in
      guard state.play != nil, case .waiting = state.phase else { return false }
      state.phase = .running
      return true
    }
    guard isTaken else { return }
    submit { [self] in
      if !state.withLock({ $0.isReplaced }) {
        let steps = makeSteps()
        let now = clock.now
        state.withLock { state in
          if !state.isReplaced { (state.steps, state.due) = (steps, now) }
        }
      }
      goOn()
    }
  }

  /// Replaces the remaining steps by `steps`, from now on. May be called from any thread, and from
  /// an event; returns at once.
  func replace(with steps: [Step]) {
    let isTaken = state.withLock { state in
      (state.isReplaced, state.steps, state.place, state.due) = (true, steps, 0, clock.now)
      guard state.play != nil, case .waiting(let key) = state.phase else { return false }
      // A timer that has fired will find the new steps.
      if let key, !clock.service.cancel(key) { return false }
      state.phase = .running
      return true
    }
    if isTaken { submit { self.goOn() } }
  }

  /// Replaces the remaining steps by those of `makeSteps`, from the due time of the event that
  /// calls this. Has no effect after a `replace`.
  func follow(with makeSteps: (ContinuousClock.Instant) -> [Step]) {
    let due = state.withLock { $0.isReplaced ? nil : $0.due }
    guard let due else { return }
    let steps = makeSteps(due)
    state.withLock { state in
      if !state.isReplaced { (state.steps, state.place) = (steps, 0) }
    }
  }

  /// Stops playing. Called in an event.
  func stop() {
    let released = state.withLock { state in
      defer { (state.play, state.steps) = (nil, []) }
      return (state.play, state.steps)
    }
    _ = released
  }

  func timerFired() {
    // The thread of all timers must not run user code, such as a sink's.
    clock.service.deliver { self.wake() }
  }

  private func wake() {
    let isTaken = state.withLock { state in
      guard case .waiting = state.phase else { return false }
      state.phase = .running
      return true
    }
    if isTaken { goOn() }
  }

  private func goOn() {
    while let (event, play) = next() { play(event) }
  }

  /// The next due event; nil if it must wait, or was stopped.
  private func next() -> (Event, @Sendable (Event) -> Void)? {
    state.withLock { state in
      guard let play = state.play, state.place < state.steps.count else {
        state.phase = .waiting(nil)
        return nil
      }
      let step = state.steps[state.place]
      let due = state.due.saturatingAdvanced(by: step.wait)
      if due > clock.now {
        state.phase = .waiting(clock.service.schedule(self, at: due))
        return nil
      }
      state.due = due
      state.place += 1
      return (step.event, play)
    }
  }
}
