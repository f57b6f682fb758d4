public import Foundation
internal import ProcedurePrimitives
public import ProceduresNetwork
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Answers the requests of network procedures in a test, without a connection, in the time of their
/// queue.
///
/// ```swift
/// let server = FakeServer(.status(429, header: ["Retry-After": "30"]), .text("[]"))
/// try ProcedureSimulation(seed: 1).run { simulation in
///   let queue = simulation.makeQueue()
///   queue.replaceNetwork(with: server)
///   queue.add(NetworkProcedure { NetworkDataProcedure(url: url) })
/// }
/// print(server.requests[1].instant - server.requests[0].instant)  // 30.0 seconds
/// ```
///
/// Code under test needs no parameter for it: give it a queue with the server, as you give it a
/// queue with a `TestClock` or of a `ProcedureSimulation`.
///
/// ## Like a session
/// Statuses, errors, progress, sinks, files, and cancels: the procedures are the same, and only the
/// session's events come from here. Redirects follow the same rules, and their requests come here,
/// too. A transfer without an event for the request's `timeoutInterval` (or the configuration's, if
/// that is 60 seconds, the default) fails with `URLError.Code.timedOut`, and so does a transfer
/// that takes longer than the configuration's `timeoutIntervalForResource`. Requests include the
/// header of the session's configuration.
///
/// ## Unlike a session
/// The session's delegate is called neither for redirects nor for credentials, and there are
/// neither cookies nor caches. `URLSession.data(from:cancellationToken:)` has no queue, and uses
/// the network.
///
/// ## Threads
/// Answers are made, and events come, on threads of the queue or of its clock's timers: in a
/// simulation on its thread, with a `TestClock` inside `advance(by:)` if they had to wait. One
/// server may serve many queues.
public final class FakeServer: Sendable {
  /// A request that has arrived.
  public struct Request: Sendable {
    /// The request, with the header of its session.
    public let request: URLRequest
    /// The body of the upload or of the request, read from its file or stream if necessary.
    public let body: Data
    /// The number of the request among requests with its method and URL: 1 for the first.
    public let number: Int
    /// The time of its arrival, by the queue's clock.
    public let instant: ContinuousClock.Instant

    /// The path of its URL, for example `/releases`.
    public var path: String { request.url?.path() ?? "" }
    /// For example `GET`.
    public var method: String { request.httpMethod ?? "GET" }
  }

  private struct State: Sendable {
    var requests: [Request] = []
    var openCount = 0
    var counts: [String: Int] = [:]
  }

  private let answer: @Sendable (Request) -> FakeAnswer
  private let state = Locked(State())

  /// Makes a server that answers each request by calling `answer`.
  ///
  /// ```swift
  /// let server = FakeServer { request in
  ///   switch (request.path, request.number) {
  ///   case ("/token", _): .text("abc")
  ///   case ("/releases", 1): .reset
  ///   case ("/releases", _): .text("[]").after(.seconds(2))
  ///   default: .status(404)
  ///   }
  /// }
  /// ```
  ///
  /// - Parameter answer: called once for each request, when it arrives, perhaps on several threads
  ///   at once.
  public init(_ answer: @escaping @Sendable (Request) -> FakeAnswer) {
    self.answer = answer
  }

  /// Makes a server that gives these answers, one after the other, and the last one to all further
  /// requests.
  public convenience init(_ first: FakeAnswer, _ others: FakeAnswer...) {
    let answers = [first] + others
    let count = Locked(0)
    self.init { _ in
      let place = count.withLock { count in
        defer { count += 1 }
        return count
      }
      return answers[min(place, answers.count - 1)]
    }
  }

  /// The requests, in the order of their arrival.
  ///
  /// May be read from any thread. A request that was cancelled before it was sent is not among
  /// them.
  public var requests: [Request] { state.withLock { $0.requests } }

  /// The number of requests without a complete answer, a failure or a cancel yet.
  public var openCount: Int { state.withLock { $0.openCount } }

  /// Records a request, and makes its answer.
  func note(
    _ request: URLRequest, _ body: Data, at instant: ContinuousClock.Instant
  ) -> (Request, FakeAnswer) {
    let key = "\(request.httpMethod ?? "GET") \(request.url?.absoluteString ?? "")"
    let noted = state.withLock { state in
      let number = state.counts[key, default: 0] + 1
      state.counts[key] = number
      let noted = Request(request: request, body: body, number: number, instant: instant)
      state.requests.append(noted)
      state.openCount += 1
      return noted
    }
    return (noted, answer(noted))
  }

  func noteEnd() { state.withLock { $0.openCount -= 1 } }
}

extension FakeServer: NetworkStandIn {
  package func carry(
    _ request: URLRequest, sending body: UploadBody?, of procedure: Procedure,
    for events: some TaskEvents
  ) -> any CarriedTransfer {
    FakeTransfer(request, body, by: self, of: procedure, for: events)
  }
}

/// A server of a test instead of the network.
extension ProcedureQueue {
  /// Makes `server` answer the network procedures of this queue, and of groups on it, that execute
  /// from now on.
  ///
  /// It replaces an earlier server. The queue keeps it.
  public func replaceNetwork(with server: FakeServer) { use(server) }
}
