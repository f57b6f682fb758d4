public import Foundation
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif
internal import ProcedurePrimitives

/// The answer of a `FakeServer` to one request: a response, its delay, and its end.
///
/// ```swift
/// let busy = FakeAnswer.status(429, header: ["Retry-After": "30"])
/// let slow = FakeAnswer.text("[]").after(.seconds(8))
/// let broken = FakeAnswer.data(archive)
///   .inPieces(of: 1_000, every: .seconds(1))
///   .failing(afterBytes: 5_000)
/// ```
///
/// All times are by the queue's clock, so they pass automatically in a `ProcedureSimulation`, and
/// when you advance a `TestClock`.
public struct FakeAnswer: Sendable {
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
  /// The number of body bytes before the end.
  var sentLength = Int.max
  var end = End.complete

  /// A response with a status, at once unless you call `after`.
  ///
  /// - Parameters:
  ///   - status: for example 503, or 307 with a `Location`, which is followed.
  ///   - header: the header fields by name. `Content-Length` is the length of `body` unless you set
  ///     it here: a shorter one cuts the body, and with a longer one the connection is lost after
  ///     it.
  ///   - body: its body, which is not sent to a HEAD, or with status 204 or 304.
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

  /// The server closes the connection instead of a response, perhaps after acting on the request:
  /// `URLError.Code.badServerResponse`, as a session on Linux reports it.
  public static var closed: FakeAnswer { failure(.badServerResponse) }

  /// A response whose head cannot be parsed: `URLError.Code.cannotParseResponse`.
  public static var unreadable: FakeAnswer { failure(.cannotParseResponse) }

  /// No response arrives: the transfer ends when it is cancelled, or when the request's
  /// `timeoutInterval`, 60 seconds unless you set it, has passed.
  public static var never: FakeAnswer { FakeAnswer(end: .stall) }

  /// This answer, later by `delay`.
  public func after(_ delay: Duration) -> FakeAnswer {
    var answer = self
    answer.delay = answer.delay.saturatingAdding(delay)
    return answer
  }

  /// This answer, with a body in pieces: the first comes with the response, and one more after each
  /// `interval`.
  ///
  /// - Parameters:
  ///   - length: the length of each piece, in bytes; the last may be shorter.
  ///   - interval: the time from one piece to the next; with zero or less all come at once.
  public func inPieces(of length: Int, every interval: Duration) -> FakeAnswer {
    var answer = self
    (answer.pieceLength, answer.pieceInterval) = (max(length, 1), interval)
    return answer
  }

  /// This answer until `count` bytes of the body have arrived: then it fails, by default as if the
  /// connection was lost.
  public func failing(
    _ code: URLError.Code = .networkConnectionLost, afterBytes count: Int
  ) -> FakeAnswer {
    var answer = self
    (answer.sentLength, answer.end) = (max(count, 0), .failure(code))
    return answer
  }

  /// This answer until `count` bytes of the body have arrived: then nothing more arrives, as with
  /// `never`.
  public func stalling(afterBytes count: Int) -> FakeAnswer {
    var answer = self
    (answer.sentLength, answer.end) = (max(count, 0), .stall)
    return answer
  }
}

extension FakeAnswer {
  /// An event of a transfer.
  enum Event: Sendable {
    /// The body of the request was sent.
    case sent(Int)
    case response(HTTPURLResponse)
    case piece(Data)
    case end((any Error)?)
  }

  /// The steps of the answer. The last is its end, unless it never ends.
  ///
  /// - Parameters:
  ///   - patience: the time-outs after which a session gives up.
  ///   - elapsed: the time since the beginning of the whole transfer.
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
    var (wait, end) = (delay, end)
    if let response = status.flatMap({ self.response($0, to: request.request) }) {
      add(.response(response), after: wait)
      wait = .zero
      // A session reads as many bytes as the header says, and none where HTTP has no body.
      let hasBody = response.mayHaveBody(after: request.request)
      let length = response.decodedLength < 0 ? body.count : Int(clamping: response.decodedLength)
      var rest = hasBody ? body.prefix(min(sentLength, length)) : Data()
      if hasBody, body.count < length, case .complete = end {
        end = .failure(.networkConnectionLost)
      }
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
