public import Cancellation
public import Foundation
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// A URL task can be registered on a token: `token.register(task)` cancels it with the token.
///
/// The cancel is Foundation's own. On Linux it stops the program at some moments: while a session
/// queries its cache, before each data task ("a task that in not in the registry"), and while the
/// delegate of a session decides about a redirect ("Received callback for HTTP redirection") or a
/// credential. There use `data(from:cancellationToken:)` or `NetworkDataProcedure`, whose cancels
/// avoid these moments, or a session without a delegate whose `configuration.urlCache` is nil. With
/// such a session, too, a cancel at the very moment at which the task ends may stop the program.
extension URLSessionTask: Cancelable {}

/// Loads that a token cancels.
extension URLSession {
  /// Loads the contents of a URL, until `cancellationToken` is cancelled.
  ///
  /// When it is, the connection ends and `completion` is called with `URLError.cancelled`; with a
  /// token that is already cancelled, nothing is sent. The token does not keep the task alive.
  ///
  /// On Linux, where Foundation stops the program for a cancel at the wrong moment, a second
  /// session carries the task, as with `NetworkTaskProcedure`. It has the same configuration except
  /// for the cache, and asks this session's delegate about redirects and credentials. So
  /// `invalidateAndCancel()` of this session does not end the task, and `getAllTasks` does not list
  /// it: cancel the token.
  ///
  /// ```swift
  /// session.data(from: url, cancellationToken: token) { result in
  ///   guard case .success((let data, _)) = result else { return }
  ///   show(data)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - url: the URL to load.
  ///   - cancellationToken: cancels the load.
  ///   - completion: called once, on the session's delegate queue. A response with an HTTP error
  ///     status is a success here: check its status.
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

  /// Loads the contents of a URL, until `cancellationToken` or the current task is cancelled.
  ///
  /// ```swift
  /// let (data, response) = try await session.data(from: url, cancellationToken: token)
  /// ```
  ///
  /// - Throws: `URLError.cancelled` if either was cancelled, even before the call; otherwise the
  ///   session's error. An HTTP error status does not throw: check the response.
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

  /// Loads the contents of a URL, until a token of couchdeveloper's protocol is cancelled.
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

  /// Loads the contents of a URL, until a token of couchdeveloper's protocol is cancelled.
  @discardableResult @_disfavoredOverload
  public func data(
    from url: URL,
    cancellationToken: any CancellationTokenType,
    completion: @escaping @Sendable (Result<(Data, URLResponse), any Error>) -> Void
  ) -> URLSessionDataTask {
    data(
      from: url, cancellationToken: cancellationToken.cancellationToken, completion: completion)
  }

  /// Loads the contents of a URL, until a token of couchdeveloper's protocol is cancelled.
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
