internal import ProcedurePrimitives

extension CancellationState {
  enum Holding {
    /// The timer keeps the state: a source that is released settles the state, which cancels the
    /// timer.
    case strongly
    /// There is no source: the state lives as long as a token or a handler does.
    case weakly
  }

  /// Replaces the deadline. Of concurrent calls the last one to take the lock counts.
  ///
  /// - Parameters:
  ///   - isAhead: whether the deadline lay ahead when the caller computed it. Then this thread
  ///     never calls handlers, even if the deadline has passed since.
  ///   - reason: why the token is cancelled when the deadline passes.
  func setDeadline(
    _ instant: ContinuousClock.Instant, isAhead: Bool = false, clock: TimerClock,
    reason: CancellationReason = .deadlineExceeded, holding: Holding
  ) {
    if isSettled { return }
    if !isAhead, instant <= clock.now {
      settle(.cancelled(reason))
      return
    }
    // 1. Replace the deadline under the lock. The generation tells a replaced timer from the
    //    current one.
    let replaced: (generation: UInt64, old: CancellationExtras.Deadline?)? = withMachine {
      machine in
      guard machine.isPending else { return nil }
      let extras = machine.links.madeExtras()
      extras.deadlineGeneration += 1
      if holding == .weakly { extras.ownsItselfWhileObserved = true }
      let old = extras.deadline
      extras.deadline = .init(clock: clock, instant: instant, key: nil)
      return (extras.deadlineGeneration, old)
    }
    guard let (generation, old) = replaced else { return }
    // 2. Change timers without the lock: the timer service acquires its own.
    if let old, let key = old.key { old.clock.service.cancel(key) }
    let target: any TimerTarget =
      switch holding {
      case .strongly: Deadline(self, generation, clock, reason)
      case .weakly: WeakDeadline(self, generation, clock)
      }
    let key = clock.service.schedule(target, at: instant)
    // 3. Keep the key, unless a later call has replaced the deadline: then this timer is not
    //    needed.
    let isCurrent = withMachine { machine in
      guard let extras = machine.links.extras, extras.deadlineGeneration == generation else {
        return false
      }
      extras.deadline?.key = key
      return true
    }
    if !isCurrent { clock.service.cancel(key) }
  }

  /// Removes the deadline, even one whose timer another thread is just scheduling.
  ///
  /// - Returns: true if there was one, which will not pass any more.
  func removeDeadline() -> Bool {
    let removed: CancellationExtras.Deadline? = withMachine { machine in
      guard machine.isPending, let extras = machine.links.extras else { return nil }
      // A timer that fires meanwhile has an old generation, and is ignored.
      extras.deadlineGeneration += 1
      return extras.deadline.take()
    }
    guard let removed else { return false }
    if let key = removed.key { removed.clock.service.cancel(key) }
    return true
  }

  /// Called when a timer of this state fires. Ignored if the deadline was replaced or removed.
  ///
  /// The timer's thread marks the tree, so that the cancel takes effect without another thread. It
  /// hands work that may run user code to a global queue.
  fileprivate func deadlinePassed(
    generation: UInt64, on clock: TimerClock, _ reason: CancellationReason
  ) {
    // The thread that carries the end out takes it from the lock: this thread must not release the
    // last reference.
    let end = Locked(begin(.cancelled(reason), ifDeadline: generation))
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
  let reason: CancellationReason

  init(
    _ state: CancellationState, _ generation: UInt64, _ clock: TimerClock,
    _ reason: CancellationReason
  ) {
    self.state = state
    self.generation = generation
    self.clock = clock
    self.reason = reason
  }

  func timerFired() {
    state.deadlinePassed(generation: generation, on: clock, reason)
  }
}

/// The deadline of a token that has no source.
private final class WeakDeadline: TimerTarget {
  private let state: Weak<CancellationState>
  let generation: UInt64
  let clock: TimerClock

  init(_ state: CancellationState, _ generation: UInt64, _ clock: TimerClock) {
    self.state = Weak(state)
    self.generation = generation
    self.clock = clock
  }

  func timerFired() {
    state.object?.deadlinePassed(generation: generation, on: clock, .deadlineExceeded)
  }
}
