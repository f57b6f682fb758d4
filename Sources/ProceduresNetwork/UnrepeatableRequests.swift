internal import Foundation
internal import ProcedurePrimitives
internal import Procedures
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The requests of one attempt that must not be sent again: they are not idempotent, and the server
/// may have acted on them.
///
/// 1. A request is among them from before it is sent, at any depth below the attempt, until its end
///    proves that the server has not acted. So a request without a proof stays.
/// 2. The transfer decides about the proof, since it knows its redirects and responses. The errors
///    of the attempt alone prove nothing: they may be those of a sink, or of another request.
final class UnrepeatableRequests: Sendable {
  private let state = Locked((attempt: 0, count: 0))

  /// - Returns: the number of the attempt, for `remove(from:)`.
  func add() -> Int {
    state.withLock { state in
      state.count += 1
      return state.attempt
    }
  }

  /// Has no effect after another attempt has begun.
  func remove(from attempt: Int) {
    state.withLock { state in
      if state.attempt == attempt { state.count -= 1 }
    }
  }

  var isEmpty: Bool { state.withLock { $0.count == 0 } }

  func beginAttempt() {
    state.withLock { $0 = ($0.attempt + 1, 0) }
  }

  /// Whether a request that ended with `error` did not reach the server, or was turned away by it.
  static func isProof(_ error: any Error) -> Bool {
    switch error {
    case let error as NetworkError where error.code == .unacceptableStatus:
      error.statusCode == 429 || error.statusCode == 503
    case let error as URLError:
      [.cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet]
        .contains(error.code)
    default: false
    }
  }
}

/// A group whose children are attempts, which it may repeat.
protocol RepeatsRequests: GroupProcedure {
  var unrepeatableRequests: UnrepeatableRequests { get }
}

extension Procedure {
  /// Notes that a request begins, for each `NetworkProcedure` around this procedure, unless the
  /// request may be sent again in any case.
  ///
  /// - Returns: takes the note back.
  func note(_ request: URLRequest) -> @Sendable () -> Void {
    if request.isIdempotent { return {} }
    let notes = enclosingGroups.compactMap { group in
      (group as? any RepeatsRequests).map { group in
        (requests: group.unrepeatableRequests, attempt: group.unrepeatableRequests.add())
      }
    }
    return { for note in notes { note.requests.remove(from: note.attempt) } }
  }
}
