internal import Foundation
internal import ProcedurePrimitives
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Hands what a session says of its tasks to those that follow them.
final class TransferDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private let followers = Locked<[Int: any TaskEvents]>([:])
  /// Taken to cancel a task, and to answer a challenge, and never on the session's own queue, for which both
  /// wait.
  private let challengeOrCancel = Locked(())

  /// Makes a task whose events `follower` receives, and which the delegate that comes with it cancels.
  static func makeTask<Task: URLSessionTask>(
    for follower: some TaskEvents, in session: URLSession, _ make: (URLSession) -> Task
  ) -> (task: Task, delegate: TransferDelegate) {
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
    return (task, delegate)
  }

  /// Ends the task, if it has not ended.
  func cancel(_ task: URLSessionTask) { challengeOrCancel.withLock { _ in task.cancel() } }

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
    let follower = followers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    follower?.taskEnded(error, with: task.response)
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
      let isAsked = asked(about: task) { delegate, userSession in
        delegate.urlSession(
          userSession, task: task, willPerformHTTPRedirection: response, newRequest: request
        ) { answer in
          // Back to the session's own queue, which calls this.
          session.getAllTasks { _ in
            self.redirect(task, after: response, to: answer, completionHandler)
          }
        }
      }
      if !isAsked { redirect(task, after: response, to: request, completionHandler) }
    }

    /// Answers a redirect, unless the task does not wait for it any more. On the session's own queue.
    ///
    /// Foundation on Linux stops the program for an answer that comes when the task has ended. A cancel is
    /// decided in one block of this queue and carried out in a later one, and so is an answer:
    ///
    /// ```
    /// this queue │ cancel decided │ redirect │ cancel carried out │ answer: not waited for, stop
    /// this queue │ redirect       │ answer   │ cancel decided     │ cancel carried out
    /// ```
    ///
    /// So one that is given while no cancel has been decided comes before each that will be.
    private func redirect(
      _ task: URLSessionTask, after response: HTTPURLResponse, to request: URLRequest?,
      _ completionHandler: (URLRequest?) -> Void
    ) {
      guard Self.goesOn(task) else { return }
      // Only a timeout of the session, which ends the wait without a word, makes this the response.
      guard task.response !== response else {
        let follower = followers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        follower?.taskEnded(URLError(.timedOut), with: nil)
        WorkLine.shared(.default).submit { self.cancel(task) }
        return
      }
      completionHandler(request)
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
          self.cancel(task)
        case (.useCredential, let credential?) where isBasic:
          self.answer(task, with: credential, completionHandler)
        case (.performDefaultHandling, _) where isBasic && proposal != nil:
          if let proposal { self.answer(task, with: proposal, completionHandler) }
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

    /// Foundation on Linux suspends and resumes the task, and stops the program for a cancel in between.
    private func answer(
      _ task: URLSessionTask, with credential: URLCredential,
      _ completionHandler: (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      challengeOrCancel.withLock { _ in
        if Self.goesOn(task) { completionHandler(.useCredential, credential) }
      }
    }

    /// Whether no cancel has been decided, and it has not ended.
    private static func goesOn(_ task: URLSessionTask) -> Bool {
      task.state == .running || task.state == .suspended
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
