public import Foundation
internal import ProcedurePrimitives

/// Durations from seconds.
extension Duration {
  /// The duration of so many seconds; a number out of range is its longest, or its most negative.
  ///
  /// Not a number is zero. (`Duration.seconds` stops the program at all three.)
  ///
  /// ```swift
  /// next.delay = Duration(saturating: response.retryAfter)   // a TimeInterval
  /// ```
  public init(saturating seconds: TimeInterval) {
    self = .saturating(seconds: seconds)
  }
}
