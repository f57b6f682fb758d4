public import Foundation
internal import ProcedurePrimitives

/// Tokens with a deadline in seconds, or at a date.
extension CancellationToken {
  /// A token that is cancelled with `.deadlineExceeded` after `seconds` seconds. Needs no source.
  ///
  /// ```swift
  /// queue.add(fetch, cancelledBy: .timeout(2.5))
  /// ```
  ///
  /// Zero, negative values and NaN have passed at once; infinity never passes.
  @_disfavoredOverload  // .zero is a Duration.
  public static func timeout(_ seconds: TimeInterval) -> Self {
    timeout(Duration(saturating: seconds))
  }

  /// A token that is cancelled with `.deadlineExceeded` at a date, by the wall clock. Needs no
  /// source.
  ///
  /// Setting the wall clock moves the deadline. For a date in the past the token is cancelled from
  /// the beginning, for `.distantFuture` never.
  @_disfavoredOverload  // .now is an instant.
  public static func deadline(_ date: Date) -> Self {
    deadline(WallTimers.shared.instant(of: date), clock: TimerClock(service: WallTimers.shared))
  }
}

/// Sources with a deadline in seconds, or at a date.
extension CancellationTokenSource {
  /// Makes a source that is cancelled with `.deadlineExceeded` after `seconds` seconds.
  @_disfavoredOverload
  public convenience init(timeout seconds: TimeInterval) {
    self.init(timeout: Duration(saturating: seconds))
  }

  /// Cancels after `seconds` seconds. A second call replaces the first, and `disarmDeadline()`
  /// removes the deadline.
  ///
  /// Zero, negative values and NaN cancel at once; infinity never cancels.
  @_disfavoredOverload
  public func cancel(
    after seconds: TimeInterval, reason: CancellationReason = .deadlineExceeded
  ) {
    cancel(after: Duration(saturating: seconds), reason: reason)
  }

  /// Cancels at a date, by the wall clock. A second call replaces the first, and `disarmDeadline()`
  /// removes the deadline.
  ///
  /// Setting the wall clock moves the deadline. For a date in the past it cancels at once.
  @_disfavoredOverload
  public func cancel(at date: Date, reason: CancellationReason = .deadlineExceeded) {
    cancel(
      at: WallTimers.shared.instant(of: date), reason: reason,
      clock: TimerClock(service: WallTimers.shared))
  }
}
