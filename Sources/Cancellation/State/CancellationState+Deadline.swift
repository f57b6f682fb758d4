internal import ProcedurePrimitives

extension CancellationState {
  enum Holding {
    /// The timer keeps the state: its source settles it, and with it the timer, when it goes.
    case strongly
    /// There is no source: the state lives as long as a token or a handler does.
    case weakly
  }

  /// Replaces the deadline. A thread that is late with its own loses against the later call.
  ///
  /// - Parameter isAhead: whether it lay ahead when the caller asked for it. Then it is never this thread
  ///   that calls handlers, however long it took to come here.
  func setDeadline(
    _ instant: ContinuousClock.Instant, isAhead: Bool = false, clock: TimerClock, holding: Holding
  ) {
    if isSettled { return }
    if !isAhead, instant <= clock.now {
      settle(.cancelled(.deadlineExceeded))
      return
    }
    let replaced: (generation: UInt64, old: CancellationExtras.Deadline?)? = withMachine {
      machine in
      guard machine.isPending else { return nil }
      let extras = machine.links.madeExtras()
      extras.deadlineGeneration += 1
      if holding == .weakly { extras.ownsItselfWhileObserved = true }
      let old = extras.deadline
      extras.deadline = .init(clock: clock, key: nil)
      return (extras.deadlineGeneration, old)
    }
    guard let (generation, old) = replaced else { return }
    if let old, let key = old.key { old.clock.service.cancel(key) }
    let target: any TimerTarget =
      switch holding {
      case .strongly: Deadline(state: self, generation: generation, clock: clock)
      case .weakly: WeakDeadline(state: self, generation: generation, clock: clock)
      }
    let key = clock.service.schedule(target, at: instant)
    let isCurrent = withMachine { machine in
      guard let extras = machine.links.extras, extras.deadlineGeneration == generation else {
        return false
      }
      extras.deadline?.key = key
      return true
    }
    if !isCurrent { clock.service.cancel(key) }
  }

  /// A timer of ours fired; it counts unless it was replaced.
  ///
  /// The timer's thread marks, so that it needs no other to be true; what runs user code it hands on.
  fileprivate func deadlinePassed(generation: UInt64, on clock: TimerClock) {
    // The thread that carries it out takes it from there: this thread must not release the last reference.
    let end = Locked(begin(.cancelled(.deadlineExceeded), ifDeadline: generation))
    let carryOut = { @Sendable in end.withLock { $0.take() }?.finish() }
    switch end.withLock({ $0?.concernsOthers }) {
    case nil: break
    case false?: carryOut()
    case true?: clock.service.deliver { carryOut() }
    }
  }
}

/// The deadline of a source.
private final class Deadline: TimerTarget {
  let state: CancellationState
  let generation: UInt64
  let clock: TimerClock

  init(state: CancellationState, generation: UInt64, clock: TimerClock) {
    self.state = state
    self.generation = generation
    self.clock = clock
  }

  func timerFired() {
    state.deadlinePassed(generation: generation, on: clock)
  }
}

/// The deadline of a token that has no source.
private final class WeakDeadline: TimerTarget {
  private let state: Weak<CancellationState>
  let generation: UInt64
  let clock: TimerClock

  init(state: CancellationState, generation: UInt64, clock: TimerClock) {
    self.state = Weak(state)
    self.generation = generation
    self.clock = clock
  }

  func timerFired() {
    state.object?.deadlinePassed(generation: generation, on: clock)
  }
}
