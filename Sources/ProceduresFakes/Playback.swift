internal import Cancellation
internal import ProcedurePrimitives
internal import Procedures

/// Plays the steps of a fake in the time of a queue: each event when its time has come, one at a time.
///
/// ```
/// running ⇄ waiting        (running: one thread, or one job, has it)
/// ```
///
/// 1. Events are played while it is running. Who takes it out of `waiting` goes on with it.
/// 2. A replacement that meets it waiting takes it; one that meets it running is found before the next event.
/// 3. Each wait counts from when the one before was to end, not from when a thread came to look: on a test clock that
///    is moved by an hour, all events of that hour come at their times.
/// 4. Events run where the queue's procedures run if nothing had to be waited for; else where its clock delivers.
final class Playback<Event: Sendable>: TimerTarget {
  struct Step: Sendable {
    /// Counted from the step before.
    let wait: Duration
    let event: Event
  }

  private enum Phase: Sendable {
    case running
    /// Uses a timer, unless nothing is left to be played.
    case waiting(SlabKey?)
  }

  private struct State: Sendable {
    var phase = Phase.waiting(nil)
    var isReplaced = false
    var steps: [Step] = []
    var place = 0
    var due: ContinuousClock.Instant
    /// Until it is stopped.
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

  /// Called first: `play` is kept until `stop()`.
  func prepare(_ play: @escaping @Sendable (Event) -> Void) {
    state.withLock { $0.play = play }
  }

  /// Plays what `makeSteps` returns, unless it was replaced before. Called once; returns at once.
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

  /// Drops what is left, and plays these steps, from now on. May be called from any thread, and from an event; returns
  /// at once.
  func replace(with steps: [Step]) {
    let isTaken = state.withLock { state in
      (state.isReplaced, state.steps, state.place, state.due) = (true, steps, 0, clock.now)
      guard state.play != nil, case .waiting(let key) = state.phase else { return false }
      // A timer that has fired comes, and finds them.
      if let key, !clock.service.cancel(key) { return false }
      state.phase = .running
      return true
    }
    if isTaken { submit { self.goOn() } }
  }

  /// Plays what `makeSteps` returns, from the time of the event on in which this is called, instead of what is left.
  /// Does nothing after a `replace`.
  func follow(with makeSteps: (ContinuousClock.Instant) -> [Step]) {
    let due = state.withLock { $0.isReplaced ? nil : $0.due }
    guard let due else { return }
    let steps = makeSteps(due)
    state.withLock { state in
      if !state.isReplaced { (state.steps, state.place) = (steps, 0) }
    }
  }

  /// Plays nothing more. Called in an event.
  func stop() {
    let released = state.withLock { state in
      defer { (state.play, state.steps) = (nil, []) }
      return (state.play, state.steps)
    }
    _ = released
  }

  func timerFired() {
    // User code, as that of a sink, is not for the thread of all timers.
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

  /// Plays all that is due.
  private func goOn() {
    while let (event, play) = next() { play(event) }
  }

  /// Nil if it has to wait, or was stopped.
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
