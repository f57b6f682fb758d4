#if canImport(FoundationNetworking)
  internal import Foundation
  internal import FoundationNetworking
  internal import ProcedurePrimitives

  /// The session that carries the transfers of a user's session, with the same configuration.
  ///
  /// Foundation on Linux tells only the delegate of a session what comes, not that of a task, and the
  /// user's session has the user's delegate. A task with a completion handler instead says nothing of
  /// its progress there, never ends when no credential answers a 401, and leaves its temporary file
  /// behind when it is cancelled.
  ///
  /// 1. There is one for each user's session while that lives, so that connections are used again.
  /// 2. A cancel never meets a task that has left its session: ends are noted on the session's own queue, on
  ///    which the cancel is decided too, and which no cache holds up in between.
  /// 3. It ends when it is found, on the next look, that the user's session is gone. Transfers keep
  ///    their user's session alive, so it has none then.
  /// 4. No time-out ends its tasks: see `SessionTransfer`.
  /// 5. It asks for bodies that are not compressed, unless the user's headers say otherwise. libcurl takes a compressed
  ///    body that was cut for a whole one, and its length is not that of what comes out.
  final class CarrierSession: Sendable {
    let session: URLSession
    let delegate: TransferDelegate
    /// For the requests that have connections of their own.
    let places: ConnectionPlaces
    private let user: WeakSession

    private static let all = Locked<[ObjectIdentifier: CarrierSession]>([:])

    private init(for user: URLSession) {
      (session, delegate) = Self.makeSession(like: user)
      places = ConnectionPlaces(limit: user.configuration.httpMaximumConnectionsPerHost)
      self.user = WeakSession(user)
    }

    /// Makes a session for one task, whose connections nothing has used before.
    ///
    /// On one that was, libcurl sends the request again if the server closes it without an answer.
    static func makeSession(like user: URLSession) -> (URLSession, TransferDelegate) {
      let delegate = TransferDelegate()
      let session = URLSession(
        configuration: configuration(like: user.configuration), delegate: delegate,
        delegateQueue: CallingQueue())
      return (session, delegate)
    }

    /// Without a cache. While Foundation on Linux asks one, which it does before each data task, a cancel
    /// may come late, when the task has ended, and stops the program ("a task that in not in the registry").
    /// It stores no response by itself, so nothing is lost but what the user put there.
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

    /// How many there are, for tests.
    static var count: Int { all.withLock { $0.count } }
  }

  private final class WeakSession: @unchecked Sendable {
    // Set once; a weak reference may be read from any thread.
    @safe weak var session: URLSession?

    init(_ session: URLSession) { self.session = session }
  }

  /// Calls what is added at once, on the thread that adds it.
  ///
  /// That is the session's own queue, which reads from the connections of all sessions of the process. So what is
  /// called there must not wait. But it may hold its connection back: see `HeldConnection`.
  private final class CallingQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  }
#endif
