internal import Foundation
internal import ProcedurePrimitives
internal import ProceduresNetwork
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One transfer of a `FakeServer`, including its redirects.
///
/// A cancel replaces the rest of the answer by `URLError.Code.cancelled`, like that of a session.
///
/// 1. `Redirect` decides about redirects, as for a session. A redirect response and its body are
///    not reported.
final class FakeTransfer: CarriedTransfer {
  private struct State: @unchecked Sendable {
    /// The next request, without the header of the session.
    var request: URLRequest
    var body: UploadBody?
    /// The arrival of the first request.
    var start: ContinuousClock.Instant?
    /// Whether the server has a request that has not ended.
    var isOpen = false
    var response: HTTPURLResponse?
    var redirect: Redirect?
    var redirectCount = 0
  }

  private let server: FakeServer
  private let events: any TaskEvents
  private let playback: Playback<FakeAnswer.Event>
  private let state: Locked<State>

  init(
    _ request: URLRequest, _ body: UploadBody?, by server: FakeServer, of procedure: Procedure,
    for events: some TaskEvents
  ) {
    self.server = server
    self.events = events
    playback = Playback(of: procedure)
    state = Locked(State(request: request, body: body))
  }

  func resume() {
    playback.prepare { event in self.happen(event) }
    playback.start { self.arrive(at: self.playback.clock.now) }
  }

  func cancel() { playback.replace(with: [.init(wait: .zero, event: .end(URLError(.cancelled)))]) }

  /// Does nothing: events come on the thread that calls the sink, so that blocks them itself.
  func hold() {}
  func release() {}

  /// The steps of the server's answer to the next request.
  private func arrive(at instant: ContinuousClock.Instant) -> [Playback<FakeAnswer.Event>.Step] {
    let (request, body, start) = state.withLock { state in
      let start = state.start ?? instant
      state.start = start
      return (state.request, state.body, start)
    }
    do {
      let body = try request.checkedBody(body)
      let configuration = events.userSession.configuration
      let sent = request.asSent.adding(configuration.httpAdditionalHeaders ?? [:])
      let bytes = try body?.read() ?? request.readBody()
      let (noted, answer) = server.note(sent, bytes, at: instant)
      state.withLock { $0.isOpen = true }
      return answer.steps(
        to: noted, patience: Patience(of: request, in: configuration),
        elapsed: start.duration(to: instant))
    } catch {
      return [.init(wait: .zero, event: .end(error))]
    }
  }

  private func happen(_ event: FakeAnswer.Event) {
    switch event {
    case .sent(let count): events.bodyWasSent(Int64(count), of: Int64(count))
    case .response(let response):
      let isRedirect = state.withLock { state in
        state.response = response
        state.redirect = Redirect(after: response, to: state.request)
        return state.redirect != nil
      }
      if !isRedirect { events.responseCame(response) }
    case .piece(let data):
      if state.withLock({ $0.redirect == nil }) { events.dataCame(data) }
    case .end(let error): end(with: error)
    }
  }

  private func end(with error: (any Error)?) {
    let (wasOpen, redirect, count, response) = state.withLock { state in
      if state.redirect != nil { state.redirectCount += 1 }
      defer { state.isOpen = false }
      return (state.isOpen, state.redirect.take(), state.redirectCount, state.response)
    }
    if wasOpen { server.noteEnd() }
    guard error == nil, let redirect, count <= Redirect.limit else {
      playback.stop()
      let tooMany = redirect.map { _ in URLError(.httpTooManyRedirects) }
      return events.taskEnded(error ?? tooMany, with: response)
    }
    state.withLock { state in
      state.request = redirect.request
      if !redirect.keepsBody { state.body = nil }
    }
    events.redirectFollowed(to: redirect.request)
    playback.follow { self.arrive(at: $0) }
  }
}

extension UploadBody {
  fileprivate func read() throws -> Data {
    switch self {
    case .data(let data): data
    case .file(let url): try Data(contentsOf: url)
    }
  }
}

extension URLRequest {
  /// Adds fields of a session's header; the request's own fields take precedence.
  fileprivate func adding(_ header: [AnyHashable: Any]) -> URLRequest {
    var request = self
    for (name, value) in header {
      guard let name = name as? String, request.value(forHTTPHeaderField: name) == nil else {
        continue
      }
      request.setValue("\(value)", forHTTPHeaderField: name)
    }
    return request
  }

  /// Reads the body. A stream is read to its end, and cannot be sent again.
  fileprivate func readBody() throws -> Data {
    guard let stream = httpBodyStream else { return httpBody ?? Data() }
    try openBodyStream()
    defer { stream.close() }
    var body = Data()
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe stream.read(&piece, maxLength: piece.count)
      if count < 0 { throw stream.streamError ?? URLError(.requestBodyStreamExhausted) }
      if count == 0 { return body }
      body.append(contentsOf: piece[..<count])
    }
  }
}
