internal import ProcedurePrimitives
public import Procedures
#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// The common part of the network procedures: one transfer of a session, whose response is the
/// output.
///
/// **Success** is a response with one of `acceptedStatusCodes`. Any other status is a
/// `NetworkError` with the response and the beginning of its body. If no response arrives, or it
/// breaks off, the error is the session's `URLError`.
///
/// **Cancelling** ends the transfer; the session's error for that is not an error of the procedure.
///
/// **The session** does the rest: authentication, cookies, caches, TLS. Its delegate decides about
/// redirects and credentials, on its delegate queue, as for its own tasks. A redirect sends the
/// body again, or is an error, and takes no credentials to another origin. On Linux internal
/// sessions with the same configuration carry the transfers, so invalidating yours does not end
/// them: cancel the procedures. There a challenge that no credential answers ends with its response
/// and status.
///
/// **Once.** On Linux a request with a body, or whose method is not idempotent, has a connection of
/// its own, since libcurl repeats a request if the server has just closed the connection. The guide
/// has a table of all this.
///
/// **Threads.** No thread waits. **Progress** is reported if the length is known: of the received
/// body, or of the sent body of an upload. **Values:** a procedure makes one transfer; to try again
/// make a new procedure, or use `NetworkProcedure`.
nonisolated open class NetworkTaskProcedure<Payload: Sendable>: Procedure, EndsByItself,
  OutputProcedure,
  @unchecked Sendable
{
  /// The response, with its payload.
  public typealias Output = HTTPPayloadResponse<Payload>

  /// The session of the transfer.
  public final let session: URLSession
  /// The statuses that count as success.
  public final let acceptedStatusCodes: Set<Int>

  private let cancelTransfer = Locked<(@Sendable () -> Void)?>(nil)

  init(name: String?, session: URLSession, accepting: Set<Int>) {
    self.session = session
    acceptedStatusCodes = accepting
    super.init()
    if let name { self.name = name }
  }

  /// Ends the transfer. An override calls `super.procedureDidCancel`.
  open override func procedureDidCancel(withErrors errors: [any Error]) {
    cancelTransfer.withLock { $0 }?()
  }

  /// Starts the transfer; called by `execute()`.
  ///
  /// - Parameter sinkThreads: the threads that call `sink`. A user's sink may wait there.
  final func load<Sink: BodySink>(
    _ request: URLRequest, sending body: UploadBody? = nil, into sink: Sink,
    on sinkThreads: WorkLine = .shared(.default)
  ) where Sink.Payload == Payload {
    let proveInaction = note(request)
    let transfer = NetworkTransfer(
      request, body: body, in: session, standIn: standIn(), accepting: acceptedStatusCodes,
      into: sink, on: sinkThreads,
      report: { self.report(fractionCompleted: $0) }, proveInaction: proveInaction,
      claimFinish: { self.claimFinish(isCommitting: $0) },
      completion: { result in self.transferEnded(with: result) })
    cancelTransfer.withLock { $0 = { transfer.cancel() } }
    transfer.start(of: self)
  }

  private func transferEnded(with result: Result<Output, any Error>?) {
    // Taken under the lock, but released after it.
    let released = cancelTransfer.withLock { $0.take() }
    _ = released
    // No result: the transfer was cancelled, and ended because of that.
    if let result { finish(claimedWith: result) } else { finish() }
  }

  final func failForLackOfInput() {
    finish(withError: ProcedureError(.requirementNotSatisfied, procedure: name))
  }
}

/// The statuses of success, 200 to 299, which network procedures accept by default.
public let successfulStatusCodes = Set(200..<300)

extension URLRequest {
  /// Method, host and path, for the name of a procedure: names go into logs, and a query may be
  /// secret.
  var summary: String {
    "\(httpMethod ?? "GET") \(url?.host() ?? "")\(url?.path() ?? "")"
  }
}
