internal import ProcedurePrimitives

extension CancellationToken {
  /// A token that is cancelled with `.deadlineExceeded` when `duration` has passed. Needs no source.
  ///
  /// It fires as long as it has a handler or an owner; with neither, its timer and memory go at once.
  /// Any duration will do: zero and less are past, and a longer one than 146 years never ends.
  public static func timeout(_ duration: Duration) -> Self {
    timeout(duration, clock: .continuous)
  }

  /// A token that is cancelled with `.deadlineExceeded` at `instant`. Needs no source.
  public static func deadline(_ instant: ContinuousClock.Instant) -> Self {
    deadline(instant, clock: .continuous)
  }

  /// A timeout on another clock.
  public static func timeout(_ duration: Duration, clock: TimerClock) -> Self {
    deadline(clock.now.saturatingAdvanced(by: duration), clock: clock)
  }

  /// A deadline on another clock.
  public static func deadline(_ instant: ContinuousClock.Instant, clock: TimerClock) -> Self {
    let state = CancellationState()
    state.setDeadline(instant, clock: clock, holding: .weakly)
    return CancellationToken(state)
  }
}
