internal import ProcedurePrimitives
public import Procedures
#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// The common part of the network procedures: one transfer of a session, whose response is the output.
///
/// **Success** is a response with one of `acceptedStatusCodes`. Any other status is a `NetworkError`
/// with the response and the beginning of its body. What keeps a response from coming, or breaks it
/// off, is the session's `URLError`.
///
/// **Cancelling** ends the transfer; that the session calls this an error is no error of the procedure.
///
/// **The session** does the rest: authentication, cookies, caches, TLS. Its delegate is asked for redirects and
/// credentials, on its delegate queue, as for tasks of its own. A redirect sends the body again, or is an error, and
/// takes no credentials to another origin. On Linux sessions of ours with the same configuration carry the transfers,
/// so invalidating yours does not end them: cancel the procedures. A challenge that no credential answers is a
/// response there, with its status.
///
/// **Once.** On Linux a request with a body, or whose method is not idempotent, has a connection of its own, since
/// libcurl repeats what meets a connection that its server has just closed. The guide has a table of all this.
///
/// **Threads.** No thread waits. **Progress** is reported where the length is known: of what comes, and of
/// an upload what is sent. **Values:** a new transfer is made each time that one of these executes; to try
/// again make a new one, or have `NetworkProcedure` do so.
nonisolated open class NetworkTaskProcedure<Payload: Sendable>: Procedure, EndsByItself,
  OutputProcedure,
  @unchecked Sendable
{
  /// The response, with its payload.
  public typealias Output = HTTPPayloadResponse<Payload>

  /// The session whose transfer it is.
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
  /// - Parameter sinkThreads: those that call `sink`, which may wait if it is the user's.
  final func load<Sink: BodySink>(
    _ request: URLRequest, sending body: UploadBody? = nil, into sink: Sink,
    on sinkThreads: WorkLine = .shared(.default)
  ) where Sink.Payload == Payload {
    let transfer = NetworkTransfer(
      request, body: body, in: session, standIn: standIn(), accepting: acceptedStatusCodes,
      into: sink, on: sinkThreads,
      report: { self.report(fractionCompleted: $0) },
      claimFinish: { self.claimFinish(isCommitting: $0) },
      completion: { result in self.transferEnded(with: result) })
    cancelTransfer.withLock { $0 = { transfer.cancel() } }
    transfer.start(of: self)
  }

  private func transferEnded(with result: Result<Output, any Error>?) {
    // Replaced under the lock, but released after it.
    let released = cancelTransfer.withLock { $0.take() }
    _ = released
    // Without a result it was cancelled, and ended the way it was asked to.
    if let result { finish(claimedWith: result) } else { finish() }
  }

  final func failForLackOfInput() {
    finish(withError: ProcedureError(.requirementNotSatisfied, procedure: name))
  }
}

/// The statuses of success, 200 to 299: what network procedures accept unless you say otherwise.
public let successfulStatusCodes = Set(200..<300)

extension URLRequest {
  /// Method, host and path, for the name of a procedure: names go into logs, and a query may be secret.
  var summary: String {
    "\(httpMethod ?? "GET") \(url?.host() ?? "")\(url?.path() ?? "")"
  }
}
