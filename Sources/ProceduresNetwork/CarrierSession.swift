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
  final class CarrierSession: Sendable {
    let session: URLSession
    let delegate: TransferDelegate
    private let user: WeakSession

    private static let all = Locked<[ObjectIdentifier: CarrierSession]>([:])

    private init(for user: URLSession) {
      delegate = TransferDelegate()
      session = URLSession(
        configuration: Self.configuration(like: user.configuration), delegate: delegate,
        delegateQueue: CallingQueue())
      self.user = WeakSession(user)
    }

    /// Without a cache. While Foundation on Linux asks one, which it does before each data task, a cancel
    /// may come late, when the task has ended, and stops the program ("a task that in not in the registry").
    /// It stores no response by itself, so nothing is lost but what the user put there.
    private static func configuration(
      like other: URLSessionConfiguration
    ) -> URLSessionConfiguration {
      guard let copy = other.copy() as? URLSessionConfiguration else { return other }
      copy.urlCache = nil
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
  /// That is the session's own queue, which reads from the connection. So nothing more is read while a
  /// piece is written: pieces would pile up in memory otherwise, if the disk is slower than the network.
  private final class CallingQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  }
#endif
