package import Foundation
package import Procedures
#if canImport(FoundationNetworking)
  package import FoundationNetworking
#endif

/// Follows a transfer. Called by one thread at a time, but for `userSession`; on Linux that may be the one thread that
/// reads for all sessions of the process, which must not be kept waiting.
package protocol TaskEvents: AnyObject, Sendable {
  /// The session that the user gave.
  var userSession: URLSession { get }
  func responseCame(_ response: URLResponse)
  func dataCame(_ data: Data)
  func bodyWasSent(_ count: Int64, of total: Int64)
  /// - Parameter response: the last one, of which Foundation on Linux may have said nothing: it does not for a
  ///   redirect that leads nowhere.
  func taskEnded(_ error: (any Error)?, with response: URLResponse?)
}

/// A transfer that follows a `TaskEvents`, which it keeps until `taskEnded` was called: once, also after a cancel.
package protocol CarriedTransfer: Sendable {
  /// Starts it; called once.
  func resume()
  /// Ends it soon, if it has not ended. May be called from any thread, but not from the events of a session.
  func cancel()
  /// Reads nothing more for now, if it can. Called in `dataCame`.
  func hold()
  /// Reads again. May be called from any thread.
  func release()
}

/// Answers the requests of a queue instead of the network. Its events come where the queue's procedures run, or its
/// clock's timers.
package protocol NetworkStandIn: StandIn {
  /// - Parameter procedure: whose transfer it is, which executes.
  func carry(
    _ request: URLRequest, sending body: UploadBody?, of procedure: Procedure,
    for events: some TaskEvents
  ) -> any CarriedTransfer
}
