internal import Foundation
internal import ProcedurePrimitives
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Passes the events of a session's tasks to their transfers.
final class TransferDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private let followers = Locked<[Int: SessionTransfer]>([:])

  /// Passes the events of `task` to `follower`, and keeps `follower` until the last of them.
  func follow(_ task: URLSessionTask, by follower: SessionTransfer) {
    followers.withLock { $0[task.taskIdentifier] = follower }
  }

  private func follower(of task: URLSessionTask) -> SessionTransfer? {
    followers.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    follower(of: dataTask)?.responseCame(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    follower(of: dataTask)?.dataCame(data)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64
  ) {
    follower(of: task)?.bodyWasSent(totalBytesSent, of: totalBytesExpectedToSend)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let follower = followers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    follower?.taskEnded(error, with: task.response)
  }

  /// The session never follows a redirect: the redirect becomes the response, and the transfer
  /// decides.
  ///
  /// Foundation on Linux would lose the body, keep the credentials, and reuse the connection.
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    #if canImport(FoundationNetworking)
      // Foundation on Linux stops the program if an answer comes after the task has ended. A cancel
      // is decided in one block of the session's own queue and carried out in a later one, and so
      // is this answer:
      //
      //   this queue │ cancel decided │ redirect │ cancel carried out │ answer: unexpected, stop
      //   this queue │ redirect       │ answer   │ cancel decided     │ cancel carried out
      //
      // So an answer that is given before a cancel is decided comes before the cancel is carried
      // out.
      guard task.state == .running || task.state == .suspended else { return }
    #endif
    completionHandler(nil)
  }

  #if canImport(FoundationNetworking)
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      follower(of: task)?.challengeCame(challenge, of: task)
    }

    /// Called for each task without a body, and when libcurl wants to send a body again.
    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
      completionHandler(nil)
    }
  #endif
}
