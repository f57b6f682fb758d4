import Foundation
import ProcedureTestSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A user's delegate, that notes what it is asked, and on which queue.
final class SessionDelegate: NSObject, URLSessionTaskDelegate, Sendable {
  enum Answer: Sendable { case credential, nothing, cancel }

  let notes = Recorder<String>()
  private let answer: Answer
  private let followsRedirects: Bool

  init(answering answer: Answer = .credential, followsRedirects: Bool = true) {
    self.answer = answer
    self.followsRedirects = followsRedirects
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    let isOnQueue = OperationQueue.current === session.delegateQueue
    notes.note("redirect \(response.statusCode) on its queue: \(isOnQueue)")
    completionHandler(followsRedirects ? request : nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    let isOnQueue = OperationQueue.current === session.delegateQueue
    notes.note("challenge on its queue: \(isOnQueue)")
    switch answer {
    case .credential:
      completionHandler(
        .useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    case .nothing: completionHandler(.performDefaultHandling, nil)
    case .cancel: completionHandler(.cancelAuthenticationChallenge, nil)
    }
  }
}
