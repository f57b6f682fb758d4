internal import Foundation
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// What a task of a session is followed by. Called by one thread at a time, but for `userSession`.
protocol TaskEvents: AnyObject, Sendable {
  /// The session that the user gave.
  var userSession: URLSession { get }
  func responseCame(_ response: URLResponse)
  func dataCame(_ data: Data)
  func bodyWasSent(_ count: Int64, of total: Int64)
  /// Nothing can answer the server's challenge: what it said with it is the response.
  func challengeStaysUnanswered()
  /// - Parameter response: the last one, of which Foundation on Linux may have said nothing: it does not for a
  ///   redirect that leads nowhere.
  func taskEnded(_ error: (any Error)?, with response: URLResponse?)
}
