public import Foundation
internal import ProcedurePrimitives

/// Durations from seconds.
extension Duration {
  /// A duration of `seconds` seconds; a number out of range becomes the longest or the most
  /// negative duration.
  ///
  /// NaN becomes zero. (`Duration.seconds` stops the program in all three cases.)
  ///
  /// ```swift
  /// next.delay = Duration(saturating: response.retryAfter)   // a TimeInterval
  /// ```
  public init(saturating seconds: TimeInterval) {
    self = .saturating(seconds: seconds)
  }
}
