public import Foundation
internal import ProcedurePrimitives

/// Tokens with a deadline in seconds, or at a date.
extension CancellationToken {
  /// A token that is cancelled with `.deadlineExceeded` after so many seconds. Needs no source.
  ///
  /// ```swift
  /// queue.add(fetch, cancelledBy: .timeout(2.5))
  /// ```
  ///
  /// Zero, less, and not a number are past; infinity never comes.
  @_disfavoredOverload  // .zero is a Duration.
  public static func timeout(_ seconds: TimeInterval) -> Self {
    timeout(Duration(saturating: seconds))
  }

  /// A token that is cancelled with `.deadlineExceeded` at a date, by the wall clock. Needs no source.
  ///
  /// If the wall clock is set, so is the deadline. A date in the past is cancelled from the beginning;
  /// `.distantFuture` is not reached.
  @_disfavoredOverload  // .now is an instant.
  public static func deadline(_ date: Date) -> Self {
    deadline(WallTimers.shared.instant(of: date), clock: TimerClock(service: WallTimers.shared))
  }
}

/// Sources with a deadline in seconds, or at a date.
extension CancellationTokenSource {
  /// Makes a source that is cancelled with `.deadlineExceeded` after so many seconds.
  @_disfavoredOverload
  public convenience init(timeout seconds: TimeInterval) {
    self.init(timeout: Duration(saturating: seconds))
  }

  /// Cancels after so many seconds; a second call replaces the first, and `disarmDeadline()` takes it back.
  ///
  /// Zero, less, and not a number cancel at once; infinity never comes.
  @_disfavoredOverload
  public func cancel(
    after seconds: TimeInterval, reason: CancellationReason = .deadlineExceeded
  ) {
    cancel(after: Duration(saturating: seconds), reason: reason)
  }

  /// Cancels at a date, by the wall clock; a second call replaces the first, and `disarmDeadline()` takes it back.
  ///
  /// If the wall clock is set, so is the deadline. At a date in the past it cancels at once.
  @_disfavoredOverload
  public func cancel(at date: Date, reason: CancellationReason = .deadlineExceeded) {
    cancel(
      at: WallTimers.shared.instant(of: date), reason: reason,
      clock: TimerClock(service: WallTimers.shared))
  }
}
