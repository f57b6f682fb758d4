#if canImport(FoundationNetworking)
  internal import Foundation
  internal import FoundationNetworking
  internal import ProcedurePrimitives

  /// The session that carries the transfers of a user's session, with the same configuration.
  ///
  /// Foundation on Linux notifies only the delegate of a session, not that of a task, and the
  /// user's session has the user's delegate. A task with a completion handler reports no progress
  /// there, never ends when no credential answers a 401, and leaves its temporary file behind when
  /// it is cancelled.
  ///
  /// 1. There is one for each user's session while that lives, so that connections are reused.
  /// 2. A cancel never meets a task that has left its session: a task ends on the session's own
  ///    queue, on which the cancel is decided too, and no cache delays that queue in between.
  /// 3. It is invalidated by the next `carrying(for:)` after the user's session was deallocated.
  ///    Transfers keep their user's session alive, so it has none then.
  /// 4. No time-out of Foundation ends its tasks: see `SessionTransfer`.
  /// 5. It requests uncompressed bodies, unless the user's headers say otherwise. libcurl accepts a
  ///    truncated compressed body as complete, and its length is not the decoded length.
  final class CarrierSession: Sendable {
    let session: URLSession
    let delegate: TransferDelegate
    /// The places of requests in `session`, which share its connections.
    let sharedPlaces: ConnectionPlaces
    /// The places of requests that have connections of their own.
    let ownPlaces: ConnectionPlaces
    private let user: WeakSession

    private static let all = Locked<[ObjectIdentifier: CarrierSession]>([:])

    private init(for user: URLSession) {
      (session, delegate) = Self.makeSession(like: user)
      let limit = user.configuration.httpMaximumConnectionsPerHost
      sharedPlaces = ConnectionPlaces(limit: limit, sharesConnections: true)
      ownPlaces = ConnectionPlaces(limit: limit, sharesConnections: false)
      self.user = WeakSession(user)
    }

    /// Makes a session for one task, with a fresh connection.
    ///
    /// On a used connection libcurl sends the request again if the server closes it without an
    /// answer.
    static func makeSession(like user: URLSession) -> (URLSession, TransferDelegate) {
      let delegate = TransferDelegate()
      let session = URLSession(
        configuration: configuration(like: user.configuration), delegate: delegate,
        delegateQueue: CallingQueue())
      return (session, delegate)
    }

    /// The copy has no cache. Foundation on Linux queries the cache before each data task; a cancel
    /// meanwhile may act after the task has ended, and stops the program ("a task that in not in
    /// the registry"). Foundation stores no response there itself, so only entries of the user are
    /// lost.
    private static func configuration(
      like other: URLSessionConfiguration
    ) -> URLSessionConfiguration {
      guard let copy = other.copy() as? URLSessionConfiguration else { return other }
      copy.urlCache = nil
      copy.timeoutIntervalForRequest = Patience.longestInterval
      var header = copy.httpAdditionalHeaders ?? [:]
      if !header.keys.contains(where: { "\($0)".lowercased() == "accept-encoding" }) {
        header["Accept-Encoding"] = "identity"
      }
      copy.httpAdditionalHeaders = header
      return copy
    }

    static func carrying(for user: URLSession) -> CarrierSession {
      let key = ObjectIdentifier(user)
      let (found, ended) = all.withLock { all in
        let ended = all.filter { $0.value.user.session == nil }
        for key in ended.keys { all[key] = nil }
        return (all[key], ended)
      }
      for carrier in ended.values { carrier.session.finishTasksAndInvalidate() }
      if let found { return found }
      let new = CarrierSession(for: user)
      let kept = all.withLock { all in
        let kept = all[key] ?? new
        all[key] = kept
        return kept
      }
      if kept !== new { new.session.finishTasksAndInvalidate() }
      return kept
    }

    /// The number of carrier sessions, for tests.
    static var count: Int { all.withLock { $0.count } }
  }

  private final class WeakSession: @unchecked Sendable {
    // Set once; a weak reference may be read from any thread.
    @safe weak var session: URLSession?

    init(_ session: URLSession) { self.session = session }
  }

  /// Runs each added block at once, on the adding thread.
  ///
  /// That is the sessions' own queue, which reads from the connections of all sessions of the
  /// process. So a block must not wait there; it may hold its connection back (`HeldConnection`).
  private final class CallingQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  }
#endif
