internal import Foundation
internal import ProcedurePrimitives
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Hands what a session says of its tasks to those that follow them.
final class TransferDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private let followers = Locked<[Int: any TaskEvents]>([:])

  /// Makes a task whose events `follower` receives.
  static func makeTask<Task: URLSessionTask>(
    for follower: some TaskEvents, in session: URLSession, _ make: (URLSession) -> Task
  ) -> Task {
    #if canImport(FoundationNetworking)
      let carrier = CarrierSession.carrying(for: session)
      let task = make(carrier.session)
      let delegate = carrier.delegate
    #else
      // What this does not implement is asked of the session's own delegate.
      let task = make(session)
      let delegate = TransferDelegate()
      task.delegate = delegate
    #endif
    delegate.followers.withLock { $0[task.taskIdentifier] = follower }
    return task
  }

  private func follower(of task: URLSessionTask) -> (any TaskEvents)? {
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
    followers.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.taskEnded(error)
  }

  #if canImport(FoundationNetworking)
    /// Calls the delegate of the user's session where that is to be called; false if it has none.
    private func asked(
      about task: URLSessionTask,
      _ body: @escaping @Sendable (any URLSessionTaskDelegate, URLSession) -> Void
    ) -> Bool {
      guard let session = follower(of: task)?.userSession,
        let delegate = session.delegate as? any URLSessionTaskDelegate
      else { return false }
      session.delegateQueue.addOperation { body(delegate, session) }
      return true
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      let isAsked = asked(about: task) { delegate, session in
        delegate.urlSession(
          session, task: task, willPerformHTTPRedirection: response, newRequest: request,
          completionHandler: completionHandler)
      }
      if !isAsked { completionHandler(request) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let follower = follower(of: task)
      // Foundation on Linux stops the program for what is not Basic, and for a proposal that was not
      // made does nothing at all, for ever.
      let isBasic =
        challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
      let proposal = challenge.previousFailureCount == 0 ? challenge.proposedCredential : nil
      let answer: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void = {
        disposition, credential in
        switch (disposition, credential ?? proposal) {
        case (.cancelAuthenticationChallenge, _), (.rejectProtectionSpace, _):
          completionHandler(disposition, nil)
        case (.useCredential, let credential?) where isBasic:
          completionHandler(.useCredential, credential)
        case (.performDefaultHandling, _) where isBasic && proposal != nil:
          completionHandler(.useCredential, proposal)
        default: follower?.challengeStaysUnanswered()
        }
      }
      let isAsked = asked(about: task) { delegate, session in
        delegate.urlSession(
          session, task: task, didReceive: challenge, completionHandler: answer)
      }
      if isAsked { return }
      // Not here: an answer waits for the queue that this runs on.
      follower?.userSession.delegateQueue.addOperation { answer(.performDefaultHandling, nil) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
      let isAsked = asked(about: task) { delegate, session in
        delegate.urlSession(session, task: task, needNewBodyStream: completionHandler)
      }
      if !isAsked { completionHandler(nil) }
    }
  #endif
}
