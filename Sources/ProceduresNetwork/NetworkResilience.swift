public import Foundation
public import Procedures

/// When a `NetworkProcedure` tries again, how long it waits before, and when it gives up.
///
/// ```swift
/// var resilience = NetworkResilience()
/// resilience.maximumNumberOfAttempts = 5
/// resilience.deadline = .seconds(60)
/// ```
///
/// **Safe to repeat.** GET, HEAD, PUT, DELETE, OPTIONS and TRACE do no more the second time than the first. Of
/// other requests, as a POST, only those are sent again that the server cannot have acted on: no
/// connection was made, or it answered with 429 or 503; unless `repeatsAnyMethod` says otherwise.
public struct NetworkResilience: Sendable {
  /// How many attempts at most; nil for no limit. With 0 or less it fails, as any retry.
  public var maximumNumberOfAttempts: Int? = 3
  /// How long to wait between two, unless the server asks for more.
  public var backoffStrategy: WaitStrategy =
    .exponential(period: .seconds(1), maximum: .seconds(30)).jittered(by: 0.5)
  /// How long one attempt may take, after which the next is made; nil for what the session says.
  public var requestTimeout: Duration?
  /// What each attempt waits for, as a place or a rate of its host. The `NetworkProcedure` itself needs no place then,
  /// and takes none while it waits for its next attempt.
  ///
  /// ```swift
  /// let host = ExclusionCategory(named: "api.example.org")
  /// resilience.conditions = [AtMost(6, of: host), RateLimit(10, per: .seconds(1), of: host)]
  /// ```
  ///
  /// When the server asks for a wait by `Retry-After`, with a status after which there may be another attempt, each
  /// `RateLimit` among them is paused for so long, but for `longestRetryAfter` at most: then the others of that
  /// category wait, too, instead of asking in vain.
  public var conditions: [any Condition] = []
  /// How long all attempts and waits may take; then it is cancelled with code `.timedOut`. nil for no limit.
  ///
  /// It counts from when the `NetworkProcedure` executes: not the time that this waits in line for its queue, its
  /// dependencies and its own conditions, but that for which an attempt waits for its `conditions`, unless
  /// `deadlineCountsLine` says otherwise. To have it count from the beginning, cancel it by a token:
  /// `fetch.cancel(when: .timeout(.seconds(60)))`.
  ///
  /// A server that asks for a longer wait than is left is not asked again: it fails at once, with an error
  /// that says so. See `NetworkError.deadlineLeft`.
  public var deadline: Duration?
  /// Whether the deadline counts the time for which an attempt waits for its `conditions`.
  ///
  /// If not, each attempt has as long as is left, from when it executes. When that is over the attempt ends with code
  /// `.timedOut`, and is the last.
  public var deadlineCountsLine = true
  /// A server that asks for a longer wait is not asked again.
  public var longestRetryAfter: Duration = .seconds(300)
  /// After which statuses there is another attempt.
  public var retriedStatusCodes: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
  /// After which errors of the session there is another attempt.
  ///
  /// `.unknown` is among them: on Linux some of what breaks a connection has that name. So is
  /// `.badServerResponse`: that is its name there when the server ends the connection without an answer,
  /// as one does that is being restarted.
  public var retriedErrorCodes: Set<URLError.Code> = [
    .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost,
    .dnsLookupFailed, .notConnectedToInternet, .badServerResponse, .unknown,
  ]
  /// Whether to send again what may have been acted on, such as a POST.
  public var repeatsAnyMethod = false
  /// Whether there is another attempt after an error that the rest knows nothing of.
  ///
  /// Called in the turns of the `NetworkProcedure`.
  public var retriesAfter: @Sendable (any Error) -> Bool = { _ in false }

  /// Three attempts, a second and then two in between, half of it at random, no deadline.
  public init() {}

  /// What follows an attempt that failed.
  enum Decision: Equatable, Sendable {
    case giveUp
    /// After what the backoff says, and not before this.
    case retry(notBefore: Duration)
  }

  /// - Parameters:
  ///   - method: of the request, if it is known.
  ///   - deadlineLeft: nil for the whole deadline, if there is one.
  func decision(
    after errors: [any Error], method: String?, deadlineLeft: Duration? = nil
  ) -> Decision {
    let deadlineLeft = deadlineLeft ?? deadline
    let isRepeatable = repeatsAnyMethod || method.map(URLRequest.isIdempotent) ?? true
    for error in errors {
      switch error {
      case let error as NetworkError where error.code == .unacceptableStatus:
        guard let status = error.statusCode, retriedStatusCodes.contains(status),
          isRepeatable || status == 429 || status == 503
        else { continue }
        let wait = error.retryAfter ?? .zero
        guard wait <= longestRetryAfter, wait <= deadlineLeft ?? wait else { return .giveUp }
        return .retry(notBefore: wait)
      case let error as URLError where retriedErrorCodes.contains(error.code):
        if isRepeatable || Self.unsent.contains(error.code) { return .retry(notBefore: .zero) }
      case let error as ProcedureError where error.code == .timedOut:
        if isRepeatable { return .retry(notBefore: .zero) }
      default:
        if retriesAfter(error) { return .retry(notBefore: .zero) }
      }
    }
    return .giveUp
  }

  /// Others of the same rate need not ask a server that has just asked this one to wait.
  func pauseRates(after errors: [any Error], on clock: TimerClock) {
    for case let error as NetworkError in errors {
      guard let wait = requestedWait(of: error) else { continue }
      for condition in conditions {
        condition.pauseRates(for: min(wait, longestRetryAfter), on: clock)
      }
    }
  }

  /// The errors of an attempt; one whose server asks for a longer wait than is left says so.
  func explaining(_ errors: [any Error], deadlineLeft: Duration) -> [any Error] {
    errors.map { error in
      guard var refusal = error as? NetworkError, let wait = requestedWait(of: refusal),
        wait > deadlineLeft
      else { return error }
      refusal.deadlineLeft = deadlineLeft
      return refusal
    }
  }

  /// How long the server asks to wait, with a status after which there may be another attempt.
  private func requestedWait(of error: NetworkError) -> Duration? {
    guard let status = error.statusCode, retriedStatusCodes.contains(status) else { return nil }
    return error.retryAfter
  }

  /// The request cannot have got anywhere.
  private static let unsent: Set<URLError.Code> = [
    .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet,
  ]
}
