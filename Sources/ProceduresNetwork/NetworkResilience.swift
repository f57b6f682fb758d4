public import Foundation
public import Procedures

/// Decides when a `NetworkProcedure` tries again, how long it waits before, and when it gives up.
///
/// ```swift
/// var resilience = NetworkResilience()
/// resilience.maximumNumberOfAttempts = 5
/// resilience.deadline = .seconds(60)
/// ```
///
/// **Safe to repeat.** GET, HEAD, PUT, DELETE, OPTIONS and TRACE do no more the second time than
/// the first. Other requests, such as a POST, are sent again only if the server cannot have acted
/// on them, because no connection was made or it answered with 429 or 503, or if `repeatsAnyMethod`
/// is true. A server that has redirected a request, or whose response went to a sink, has acted on
/// it, even if the next request or the sink fails.
///
/// All requests of an attempt count: if the attempt is a group, its network procedures at any
/// depth. Requests that procedures of yours send without them are unknown. Then the method of a
/// `NetworkError` counts; after other errors the attempt is repeated.
public struct NetworkResilience: Sendable {
  /// The maximal number of attempts; nil for no limit. With 0 or less it fails, like any
  /// `RetryProcedure`.
  public var maximumNumberOfAttempts: Int? = 3
  /// The waits between attempts, unless the server asks for more.
  public var backoffStrategy: WaitStrategy =
    .exponential(period: .seconds(1), maximum: .seconds(30)).jittered(by: 0.5)
  /// The time that one attempt may take before the next is made; nil for the session's time-outs
  /// only.
  public var requestTimeout: Duration?
  /// The conditions of each attempt, such as a place or a rate of its host. The `NetworkProcedure`
  /// itself then needs no place, and takes none while it waits for its next attempt.
  ///
  /// ```swift
  /// let host = ExclusionCategory(named: "api.example.org")
  /// resilience.conditions = [AtMost(6, of: host), RateLimit(10, per: .seconds(1), of: host)]
  /// ```
  ///
  /// When the server asks for a wait by `Retry-After`, with a status after which there may be
  /// another attempt, each `RateLimit` among them is paused for that time, but at most for
  /// `longestRetryAfter`. Other requests of that category then wait, too, instead of asking in
  /// vain.
  public var conditions: [any Condition] = []
  /// The time that all attempts and waits may take; then the procedure is cancelled with code
  /// `.timedOut`. nil for no limit.
  ///
  /// It counts from when the `NetworkProcedure` executes. So it does not count the procedure's own
  /// wait for its queue, dependencies and conditions, but it counts an attempt's wait for its
  /// `conditions`, unless `deadlineCountsLine` is false. To count from the beginning, cancel by a
  /// token: `fetch.cancel(when: .timeout(.seconds(60)))`.
  ///
  /// If a server asks for a longer wait than the rest of the deadline, the procedure fails at once,
  /// with an error that says so. See `NetworkError.deadlineLeft`.
  public var deadline: Duration?
  /// Whether the deadline counts the time that an attempt waits for its `conditions`.
  ///
  /// If not, each attempt has the rest of the deadline, from when it executes. When that has
  /// passed, the attempt ends with code `.timedOut`, and is the last.
  public var deadlineCountsLine = true
  /// The longest wait that a server may ask for; after a longer one there is no other attempt.
  public var longestRetryAfter: Duration = .seconds(300)
  /// The statuses after which there is another attempt.
  public var retriedStatusCodes: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
  /// The session's errors after which there is another attempt.
  ///
  /// `.unknown` is among them: on Linux some broken connections have that code. So is
  /// `.badServerResponse`: that is the code there if the server ends the connection without an
  /// answer, for example while it restarts.
  public var retriedErrorCodes: Set<URLError.Code> = [
    .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost,
    .dnsLookupFailed, .notConnectedToInternet, .badServerResponse, .unknown,
  ]
  /// Whether to repeat requests that the server may have acted on, such as a POST.
  public var repeatsAnyMethod = false
  /// Whether there is another attempt after an error that the other settings do not cover.
  ///
  /// Called in the turns of the `NetworkProcedure`.
  public var retriesAfter: @Sendable (any Error) -> Bool = { _ in false }

  /// Three attempts, with waits of one and two seconds in between, half of each random; no
  /// deadline.
  public init() {}

  /// The step after a failed attempt.
  enum Decision: Equatable, Sendable {
    case giveUp
    /// Retry after the backoff's wait, but not before this.
    case retry(notBefore: Duration)
  }

  /// - Parameters:
  ///   - method: the method of the request, if it is known.
  ///   - mayHaveActed: whether the server may have acted on a request that is not idempotent.
  ///   - deadlineLeft: nil for the whole deadline, if there is one.
  func decision(
    after errors: [any Error], method: String?, mayHaveActed: Bool = false,
    deadlineLeft: Duration? = nil
  ) -> Decision {
    let deadlineLeft = deadlineLeft ?? deadline
    func isRepeatable(after error: any Error) -> Bool {
      if repeatsAnyMethod || mayHaveActed { return repeatsAnyMethod }
      guard let method = method ?? (error as? NetworkError)?.request.method else { return true }
      return URLRequest.isIdempotent(method) || UnrepeatableRequests.isProof(error)
    }
    for error in errors {
      switch error {
      case let error as NetworkError where error.code == .unacceptableStatus:
        guard let status = error.statusCode, retriedStatusCodes.contains(status),
          isRepeatable(after: error)
        else { continue }
        let wait = error.retryAfter ?? .zero
        guard wait <= longestRetryAfter, wait <= deadlineLeft ?? wait else { return .giveUp }
        return .retry(notBefore: wait)
      case let error as URLError where retriedErrorCodes.contains(error.code):
        if isRepeatable(after: error) { return .retry(notBefore: .zero) }
      case let error as ProcedureError where error.code == .timedOut:
        if isRepeatable(after: error) { return .retry(notBefore: .zero) }
      default:
        if retriesAfter(error) { return .retry(notBefore: .zero) }
      }
    }
    return .giveUp
  }

  /// Pauses the rates, so that other requests do not ask a server that has just asked for a wait.
  func pauseRates(after errors: [any Error], on clock: TimerClock) {
    for case let error as NetworkError in errors {
      guard let wait = requestedWait(of: error) else { continue }
      for condition in conditions {
        condition.pauseRates(for: min(wait, longestRetryAfter), on: clock)
      }
    }
  }

  /// The errors of an attempt. An error whose server asks for a longer wait than the rest gets
  /// `deadlineLeft`.
  func explaining(_ errors: [any Error], deadlineLeft: Duration) -> [any Error] {
    errors.map { error in
      guard var refusal = error as? NetworkError, let wait = requestedWait(of: refusal),
        wait > deadlineLeft
      else { return error }
      refusal.deadlineLeft = deadlineLeft
      return refusal
    }
  }

  /// The wait that the server asks for, with a status after which there may be another attempt.
  private func requestedWait(of error: NetworkError) -> Duration? {
    guard let status = error.statusCode, retriedStatusCodes.contains(status) else { return nil }
    return error.retryAfter
  }
}
