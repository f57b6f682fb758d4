public import Cancellation
public import Foundation
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// A URL task can be registered on a token: `token.register(task)` cancels it with the token.
///
/// The cancel is Foundation's own. On Linux that stops the program at some moments: while a session with a cache
/// asks that, as it does before each data task ("a task that in not in the registry"), and while the delegate of
/// a session is asked for a redirect ("Received callback for HTTP redirection") or a credential. There use
/// `data(from:cancellationToken:)` or `NetworkDataProcedure`, whose cancels keep out of these moments, or a
/// session without a delegate whose `configuration.urlCache` is nil. Even there a cancel at the very moment at which the
/// task ends may stop the program.
extension URLSessionTask: Cancelable {}

/// Loads that a token cancels.
extension URLSession {
  /// Loads the contents of a URL, until `cancellationToken` is cancelled.
  ///
  /// When it is, the connection ends and `completion` is called with `URLError.cancelled`; with a
  /// token that is already cancelled, nothing is sent. The token does not keep the task.
  ///
  /// On Linux, where Foundation stops the program for a cancel at the wrong moment, a second session carries
  /// the task, as with `NetworkTaskProcedure`. It has the same configuration but for the cache, and asks this
  /// session's delegate for redirects and credentials. So `invalidateAndCancel()` of this session does not end
  /// it, and `getAllTasks` does not name it: cancel the token.
  ///
  /// ```swift
  /// session.data(from: url, cancellationToken: token) { result in
  ///   guard case .success((let data, _)) = result else { return }
  ///   show(data)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - url: what to load.
  ///   - cancellationToken: what cancels it.
  ///   - completion: called once, on the session's delegate queue. An HTTP status that tells of an
  ///     error is a success here: look at the response.
  /// - Returns: the task, already resumed.
  @discardableResult
  public func data(
    from url: URL,
    cancellationToken: CancellationToken,
    completion: @escaping @Sendable (Result<(Data, URLResponse), any Error>) -> Void
  ) -> URLSessionDataTask {
    data(from: url, cancellationToken: cancellationToken) { data, response, error in
      if let data, let response, error == nil {
        completion(.success((data, response)))
      } else {
        completion(.failure(error ?? URLError(.unknown)))
      }
    }
  }

  /// Loads the contents of a URL, until `cancellationToken` is cancelled, or the current task.
  ///
  /// ```swift
  /// let (data, response) = try await session.data(from: url, cancellationToken: token)
  /// ```
  ///
  /// - Throws: `URLError.cancelled` if either was cancelled, also before; otherwise what the session says.
  ///   An HTTP status that tells of an error is none here: look at the response.
  public func data(
    from url: URL, cancellationToken: CancellationToken
  ) async throws -> (Data, URLResponse) {
    try await withCancellationToken { current in
      try await withCheckedThrowingContinuation { continuation in
        data(from: url, cancellationToken: cancellationToken || current) { result in
          continuation.resume(with: result)
        }
      }
    }
  }

  /// The same, until a token of couchdeveloper's protocol is cancelled.
  @_disfavoredOverload
  public func data(
    from url: URL, cancellationToken: any CancellationTokenType
  ) async throws -> (Data, URLResponse) {
    try await data(from: url, cancellationToken: cancellationToken.cancellationToken)
  }

  /// Loads the contents of a URL; the completion is that of `dataTask(with:completionHandler:)`.
  @discardableResult
  public func data(
    from url: URL,
    cancellationToken: CancellationToken,
    completion: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    #if canImport(FoundationNetworking)
      return CarriedLoad.start(url, in: self, until: cancellationToken, completion: completion)
    #else
      let task = dataTask(with: url, completionHandler: completion)
      cancellationToken.register(task)
      task.resume()
      return task
    #endif
  }

  /// The same, until a token of couchdeveloper's protocol is cancelled.
  @discardableResult @_disfavoredOverload
  public func data(
    from url: URL,
    cancellationToken: any CancellationTokenType,
    completion: @escaping @Sendable (Result<(Data, URLResponse), any Error>) -> Void
  ) -> URLSessionDataTask {
    data(
      from: url, cancellationToken: cancellationToken.cancellationToken, completion: completion)
  }

  /// The same, until a token of couchdeveloper's protocol is cancelled.
  @discardableResult @_disfavoredOverload
  public func data(
    from url: URL,
    cancellationToken: any CancellationTokenType,
    completion: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    data(
      from: url, cancellationToken: cancellationToken.cancellationToken, completion: completion)
  }
}
