public import Foundation
internal import ProcedurePrimitives
public import ProceduresNetwork
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Answers the requests of network procedures in a test, without a connection, in the time of their queue.
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
/// Code under test needs no parameter for it: give it a queue that has the server, as you give it one that has a
/// `TestClock` or is of a `ProcedureSimulation`.
///
/// ## What is as with a session
/// Statuses, errors, progress, sinks, files, and cancels: the procedures are the same, and only what a session would
/// say comes from here. Redirects are followed by the same rules, and their requests come here, too. A transfer that
/// meets nothing for the request's `timeoutInterval` (that of the session's configuration if it is 60 seconds, as by
/// default) fails with `URLError.Code.timedOut`, and so does one that takes longer than the configuration's
/// `timeoutIntervalForResource`. The header of the session's configuration is part of the requests.
///
/// ## What is not
/// The session's delegate is not asked, neither for redirects nor for credentials, and there are neither cookies nor
/// caches. `URLSession.data(from:cancellationToken:)` has no queue, and goes to the network.
///
/// ## Threads
/// Answers are made, and events come, where the queue's procedures run or its clock's timers: in a simulation on its
/// thread, with a `TestClock` inside `advance(by:)` if they had to wait. One server may have many queues.
public final class FakeServer: Sendable {
  /// A request that has come.
  public struct Request: Sendable {
    /// The request, with the header of its session.
    public let request: URLRequest
    /// The body of an upload, also from a file, or that of the request, also from a stream.
    public let body: Data
    /// Which one it is of those with its method and its URL: 1 for the first.
    public let number: Int
    /// When it came, by the clock of the queue.
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

  /// Makes a server that answers each request with what `answer` returns.
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
  /// - Parameter answer: called once for each request, when it comes; several at once if queues run at once.
  public init(_ answer: @escaping @Sendable (Request) -> FakeAnswer) {
    self.answer = answer
  }

  /// Makes a server that gives these answers, one after the other, and the last one to all further requests.
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

  /// The requests that have come, in this order.
  ///
  /// May be read from any thread. One that is cancelled before it was sent is not among them.
  public var requests: [Request] { state.withLock { $0.requests } }

  /// How many of them have not ended: no complete answer, no failure, no cancel yet.
  public var openCount: Int { state.withLock { $0.openCount } }

  /// A request has come.
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

  /// A request that has come has ended.
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
  /// Has a server of a test answer the network procedures of this queue, and of groups on it, that execute from now on.
  ///
  /// It replaces the one before. The queue keeps it.
  public func replaceNetwork(with server: FakeServer) { use(server) }
}
