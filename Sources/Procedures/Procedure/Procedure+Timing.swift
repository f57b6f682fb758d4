internal import ProcedurePrimitives

extension Procedure {
  /// The clock of the queue that it is on.
  package final var clock: TimerClock {
    (peek { $0.list }?.context ?? .detached).clock
  }

  /// Calls `target` at `instant`, unless the procedure finishes before.
  final func schedule(
    _ target: any TimerTarget, at instant: ContinuousClock.Instant, on clock: TimerClock
  ) {
    let key = clock.service.schedule(target, at: instant)
    let isKept = withCore { core in
      guard !core.life.isRetired else { return false }
      core.attachments.with(TokensAndTimers.self) { $0.value.timers.append((clock, key)) }
      return true
    }
    if !isKept { clock.service.cancel(key) }
  }
}
