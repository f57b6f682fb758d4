package import Foundation
package import Procedures
#if canImport(FoundationNetworking)
  package import FoundationNetworking
#endif

/// What a task of a session is followed by. Called by one thread at a time, but for `userSession`.
package protocol TaskEvents: AnyObject, Sendable {
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

/// A transfer that follows a `TaskEvents`, which it keeps until `taskEnded` was called: once, also after a cancel.
package protocol CarriedTransfer: Sendable {
  /// Starts it; called once.
  func resume()
  /// Ends it soon, if it has not ended. May be called from any thread, and from the events.
  func cancel()
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

/// A task of a session, or of that which carries it.
struct SessionTransfer: CarriedTransfer, @unchecked Sendable {
  let task: URLSessionTask
  let delegate: TransferDelegate

  init(_ transfer: (task: URLSessionTask, delegate: TransferDelegate)) {
    (task, delegate) = transfer
  }

  func resume() { task.resume() }
  func cancel() { delegate.cancel(task) }
}
