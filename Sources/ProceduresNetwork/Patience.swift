package import Foundation
internal import ProcedurePrimitives
#if canImport(FoundationNetworking)
  package import FoundationNetworking
#endif

/// How long a transfer waits: the one place that reads the time-outs of requests and configurations.
///
/// Zero, less, NaN, and what is too long for a timer mean without end.
package struct Patience: Sendable {
  /// From one sign of life to the next: `timeoutInterval` of the request, or `timeoutIntervalForRequest` if that is the
  /// 60 seconds of a request that says nothing.
  package let idle: Duration
  /// For all of it: `timeoutIntervalForResource`.
  package let total: Duration

  package init(of request: URLRequest, in configuration: URLSessionConfiguration) {
    let interval = request.timeoutInterval
    idle = Self.duration(interval == 60 ? configuration.timeoutIntervalForRequest : interval)
    total = Self.duration(configuration.timeoutIntervalForResource)
  }

  private static func duration(_ seconds: TimeInterval) -> Duration {
    seconds > 0 && seconds < Self.longestInterval ? .seconds(seconds) : .longest
  }

  /// About thirty years. Foundation on Linux stops the program for one that is no `Int` of milliseconds.
  package static let longestInterval: TimeInterval = 1e9
}
