public import Foundation
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif
internal import ProcedurePrimitives

/// What a `FakeServer` answers to one request: a response, when it comes, and how it breaks off.
///
/// ```swift
/// let busy = FakeAnswer.status(429, header: ["Retry-After": "30"])
/// let slow = FakeAnswer.text("[]").after(.seconds(8))
/// let broken = FakeAnswer.data(archive).inPieces(of: 1_000, every: .seconds(1)).failing(afterBytes: 5_000)
/// ```
///
/// All times are of the clock of the queue, so they pass by themselves in a `ProcedureSimulation`, and when you say so
/// with a `TestClock`.
public struct FakeAnswer: Sendable {
  /// How it ends.
  enum End: Sendable {
    case complete
    case failure(URLError.Code)
    case stall
  }

  /// Nil if no response comes.
  var status: Int?
  var header: [String: String] = [:]
  var body = Data()
  var delay = Duration.zero
  var pieceLength = Int.max
  var pieceInterval = Duration.zero
  /// How many bytes come before the end.
  var sentLength = Int.max
  var end = End.complete

  /// A response with a status, at once unless you say `after`.
  ///
  /// - Parameters:
  ///   - status: for example 503, or 307 with a `Location`, which is followed.
  ///   - header: its header, by names. `Content-Length` is that of `body` unless it is in here.
  ///   - body: its body.
  public static func status(
    _ status: Int, header: [String: String] = [:], body: Data = Data()
  ) -> FakeAnswer {
    FakeAnswer(status: status, header: header, body: body)
  }

  /// A response with status 200 and a body.
  public static func data(_ body: Data, header: [String: String] = [:]) -> FakeAnswer {
    FakeAnswer(status: 200, header: header, body: body)
  }

  /// A response with status 200 and a body of UTF-8, for example of JSON.
  public static func text(_ body: String, header: [String: String] = [:]) -> FakeAnswer {
    FakeAnswer(status: 200, header: header, body: Data(body.utf8))
  }

  /// No response: the session ends the transfer with a `URLError`.
  ///
  /// ```swift
  /// let offline = FakeAnswer.failure(.notConnectedToInternet)
  /// ```
  public static func failure(_ code: URLError.Code) -> FakeAnswer {
    FakeAnswer(end: .failure(code))
  }

  /// The server resets the connection instead of a response: `URLError.Code.networkConnectionLost`.
  public static var reset: FakeAnswer { failure(.networkConnectionLost) }

  /// The server closes the connection instead of a response, perhaps after it has done what was asked:
  /// `URLError.Code.badServerResponse`, as a session on Linux says then.
  public static var closed: FakeAnswer { failure(.badServerResponse) }

  /// A response whose head cannot be read: `URLError.Code.cannotParseResponse`.
  public static var unreadable: FakeAnswer { failure(.cannotParseResponse) }

  /// Nothing comes: the transfer ends when it is cancelled, or when the request's `timeoutInterval`, 60 seconds unless
  /// you set it, is over.
  public static var never: FakeAnswer { FakeAnswer(end: .stall) }

  /// The same, so much later.
  public func after(_ delay: Duration) -> FakeAnswer {
    var answer = self
    answer.delay = answer.delay.saturatingAdding(delay)
    return answer
  }

  /// The same, with a body that comes in pieces: the first with the response, and one more each `interval`.
  ///
  /// - Parameters:
  ///   - length: of each piece, in bytes; the last may be shorter.
  ///   - interval: from one piece to the next; zero or less has all come at once.
  public func inPieces(of length: Int, every interval: Duration) -> FakeAnswer {
    var answer = self
    (answer.pieceLength, answer.pieceInterval) = (max(length, 1), interval)
    return answer
  }

  /// The same, until so many bytes of the body have come: then it fails, as if the connection was lost.
  public func failing(
    _ code: URLError.Code = .networkConnectionLost, afterBytes count: Int
  ) -> FakeAnswer {
    var answer = self
    (answer.sentLength, answer.end) = (max(count, 0), .failure(code))
    return answer
  }

  /// The same, until so many bytes of the body have come: then nothing more comes, as after `never`.
  public func stalling(afterBytes count: Int) -> FakeAnswer {
    var answer = self
    (answer.sentLength, answer.end) = (max(count, 0), .stall)
    return answer
  }
}

extension FakeAnswer {
  /// What a transfer meets.
  enum Event: Sendable {
    /// The body of the request.
    case sent(Int)
    case response(HTTPURLResponse)
    case piece(Data)
    case end((any Error)?)
  }

  /// The steps to its end, which is the last of them, unless it never comes.
  ///
  /// - Parameters:
  ///   - patience: a session gives up when it has met nothing for so long, or when all of it takes so long.
  ///   - elapsed: since the beginning of all of it.
  func steps(
    to request: FakeServer.Request, patience: Patience, elapsed: Duration
  ) -> [Playback<Event>.Step] {
    var steps: [Playback<Event>.Step] = []
    var isOver = false
    var left = patience.total < .longest ? patience.total - elapsed : .longest
    func add(_ event: Event?, after wait: Duration) {
      if isOver { return }
      let limit = min(patience.idle, left)
      isOver = event == nil || wait > limit
      if let event, !isOver {
        if left < .longest, wait > .zero { left -= wait }
        steps.append(.init(wait: wait, event: event))
      } else if limit < .longest {
        steps.append(.init(wait: limit, event: .end(URLError(.timedOut))))
      }
    }

    if !request.body.isEmpty { add(.sent(request.body.count), after: .zero) }
    var wait = delay
    if let response = status.flatMap({ self.response($0, to: request.request) }) {
      add(.response(response), after: wait)
      wait = .zero
      var rest = request.request.httpMethod == "HEAD" ? Data() : body.prefix(sentLength)
      while !rest.isEmpty, !isOver {
        add(.piece(Data(rest.prefix(pieceLength))), after: wait)
        rest = rest.dropFirst(pieceLength)
        wait = pieceInterval
      }
      wait = .zero
    }
    switch end {
    case .complete: add(.end(nil), after: wait)
    case .failure(let code): add(.end(URLError(code)), after: wait)
    case .stall: add(nil, after: wait)
    }
    return steps
  }

  private func response(_ status: Int, to request: URLRequest) -> HTTPURLResponse? {
    guard let url = request.url else { return nil }
    var header = header
    if !header.keys.contains(where: { $0.lowercased() == "content-length" }) {
      header["Content-Length"] = "\(body.count)"
    }
    return HTTPURLResponse(
      url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: header)
  }
}
