package import Foundation
package import Procedures
#if canImport(FoundationNetworking)
  package import FoundationNetworking
#endif

/// Receives the events of a transfer. All but `userSession` are called by one thread at a time;
/// only `redirectFollowed` may overlap the `taskEnded` of a cancel. On Linux that may be the thread
/// that reads for all sessions of the process, which must not wait.
package protocol TaskEvents: AnyObject, Sendable {
  /// The session that the user gave.
  var userSession: URLSession { get }
  func responseCame(_ response: URLResponse)
  func dataCame(_ data: Data)
  func bodyWasSent(_ count: Int64, of total: Int64)
  /// The following events belong to `request`, which a redirect asked for.
  func redirectFollowed(to request: URLRequest)
  /// - Parameter response: the last response, which Foundation on Linux may not have reported
  ///   before, for a redirect that leads nowhere.
  func taskEnded(_ error: (any Error)?, with response: URLResponse?)
}

/// A transfer. It keeps its `TaskEvents` until it has called `taskEnded`, which it does once, even
/// after a cancel.
package protocol CarriedTransfer: Sendable {
  /// Starts the transfer; called once.
  func resume()
  /// Ends the transfer soon, if it has not ended. May be called from any thread, but not from the
  /// events of a session.
  func cancel()
  /// Stops reading for now, if possible. Called in `dataCame`.
  func hold()
  /// Resumes reading. May be called from any thread.
  func release()
}

/// Answers the requests of a queue instead of the network. Its events come on threads of the queue
/// or of its clock's timers.
package protocol NetworkStandIn: StandIn {
  /// - Parameter procedure: the executing procedure of the transfer.
  func carry(
    _ request: URLRequest, sending body: UploadBody?, of procedure: Procedure,
    for events: some TaskEvents
  ) -> any CarriedTransfer
}
