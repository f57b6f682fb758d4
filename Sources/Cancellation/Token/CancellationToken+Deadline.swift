internal import ProcedurePrimitives

extension CancellationToken {
  /// A token that is cancelled with `.deadlineExceeded` when `duration` has passed. Needs no
  /// source.
  ///
  /// It fires as long as it has a handler or an owner; with neither, its timer and memory are
  /// released at once. Zero and negative durations have passed at once; a duration of more than 146
  /// years never ends.
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

/// The time that a token has left.
extension CancellationToken {
  /// The instant at which a deadline will cancel this token if nothing else does before; nil
  /// without one.
  ///
  /// It is the earliest deadline of its source and of the tokens that it is linked to; for `a && b`
  /// the later one, if both have one. Tokens of `map` and `flatMap` have none, since their closures
  /// decide. The tokens of procedures and of `SharedCancellation` have none either: neither the
  /// timeout of a procedure, nor a deadline of a token that cancels the procedure or that has joined.
  /// Nil once the token has completed. The instant is one of the continuous clock, even for a
  /// deadline by the wall clock, or of the given test clock.
  ///
  /// - Complexity: O(n) in the number of tokens that can cancel this one.
  public var deadline: ContinuousClock.Instant? { state?.nextDeadline()?.instant }

  /// How much time is left until `deadline`; zero once the token is cancelled, nil without a
  /// deadline.
  ///
  /// ```swift
  /// try token.checkCancellation()
  /// // Not 0, which means no limit.
  /// if let left = token.timeLeft { request.timeoutInterval = max(left / .seconds(1), 0.001) }
  /// ```
  public var timeLeft: Duration? {
    let timeLeft = state?.nextDeadline()?.timeLeft
    // Read last: a deadline that has passed meanwhile has cancelled the token, and leaves no time.
    return isCancelled ? .zero : timeLeft
  }
}
