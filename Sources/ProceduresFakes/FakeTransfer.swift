internal import Foundation
internal import ProcedurePrimitives
internal import ProceduresNetwork
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One transfer of a `FakeServer`.
///
/// A cancel replaces what is left of the answer by `URLError.Code.cancelled`, which is what a session says then.
final class FakeTransfer: CarriedTransfer {
  private struct State: Sendable {
    /// Whether the server has the request.
    var hasArrived = false
    var response: HTTPURLResponse?
  }

  private let request: URLRequest
  private let body: UploadBody?
  private let server: FakeServer
  private let events: any TaskEvents
  private let playback: Playback<FakeAnswer.Event>
  private let state = Locked(State())

  init(
    _ request: URLRequest, _ body: UploadBody?, by server: FakeServer, of procedure: Procedure,
    for events: some TaskEvents
  ) {
    self.request = request
    self.body = body
    self.server = server
    self.events = events
    playback = Playback(of: procedure)
  }

  func resume() {
    playback.prepare { event in self.happen(event) }
    playback.start(arrive)
  }

  func cancel() { playback.replace(with: [.init(wait: .zero, event: .end(URLError(.cancelled)))]) }

  /// The steps of the server's answer.
  private func arrive() -> [Playback<FakeAnswer.Event>.Step] {
    let configuration = events.userSession.configuration
    var request = request
    for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
      guard let name = name as? String, request.value(forHTTPHeaderField: name) == nil else {
        continue
      }
      request.setValue("\(value)", forHTTPHeaderField: name)
    }
    do {
      let body = try self.body?.read() ?? request.httpBody ?? Data()
      state.withLock { $0.hasArrived = true }
      let (noted, answer) = server.note(request, body, at: playback.clock.now)
      return answer.steps(to: noted, patience: request.patience(in: configuration))
    } catch {
      return [.init(wait: .zero, event: .end(error))]
    }
  }

  private func happen(_ event: FakeAnswer.Event) {
    switch event {
    case .sent(let count):
      events.bodyWasSent(Int64(count), of: Int64(count))
    case .response(let response):
      state.withLock { $0.response = response }
      events.responseCame(response)
    case .piece(let data):
      events.dataCame(data)
    case .end(let error):
      playback.stop()
      let (hasArrived, response) = state.withLock { ($0.hasArrived, $0.response) }
      if hasArrived { server.noteEnd() }
      events.taskEnded(error, with: response)
    }
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
  /// How long a session waits for the next byte: as the request says, unless it says nothing.
  fileprivate func patience(in configuration: URLSessionConfiguration) -> Duration {
    let seconds = timeoutInterval == 60 ? configuration.timeoutIntervalForRequest : timeoutInterval
    return seconds > 0 && seconds < 1e9 ? .seconds(seconds) : .longest
  }
}
