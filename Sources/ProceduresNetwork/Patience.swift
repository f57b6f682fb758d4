package import Foundation
internal import ProcedurePrimitives
#if canImport(FoundationNetworking)
  package import FoundationNetworking
#endif

/// The time-outs of a transfer: the only code that reads the time-outs of requests and
/// configurations.
///
/// Zero, negative values, NaN and values too long for a timer mean no limit.
package struct Patience: Sendable {
  /// The limit from one sign of life to the next: `timeoutInterval` of the request, or
  /// `timeoutIntervalForRequest` if the request has the default of 60 seconds.
  package let idle: Duration
  /// The limit for the whole transfer: `timeoutIntervalForResource`.
  package let total: Duration

  package init(of request: URLRequest, in configuration: URLSessionConfiguration) {
    let interval = request.timeoutInterval
    idle = Self.duration(interval == 60 ? configuration.timeoutIntervalForRequest : interval)
    total = Self.duration(configuration.timeoutIntervalForResource)
  }

  private static func duration(_ seconds: TimeInterval) -> Duration {
    seconds > 0 && seconds < Self.longestInterval ? .seconds(seconds) : .longest
  }

  /// About thirty years. Foundation on Linux stops the program for an interval that overflows an
  /// `Int` of milliseconds.
  package static let longestInterval: TimeInterval = 1e9
}
