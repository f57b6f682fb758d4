internal import Foundation
internal import ProcedurePrimitives
internal import Procedures
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One task of a session, from its start to what came of it.
///
/// 1. `completion` is called exactly once after `start()`, on a thread of Dispatch's pool, or a spare one; where a
///    stand-in for the network calls, if there is one.
/// 2. The sink is used by the task's events, which come one at a time, and after the last of them.
/// 3. No method of the task is called from its events: on Linux these come on the session's own
///    queue, which such a method waits for.
final class NetworkTransfer<Sink: BodySink>: TaskEvents, @unchecked Sendable {
  typealias Completion =
    @Sendable (Result<HTTPPayloadResponse<Sink.Payload>, any Error>) -> Void

  let userSession: URLSession
  /// Instead of the session.
  private let standIn: (any NetworkStandIn)?
  private let request: URLRequest
  private let body: UploadBody?
  private let sink: Sink
  /// Never waited for: what uses the sink comes one at a time. It says so to ThreadSanitizer, which sees no
  /// order in what Dispatch calls.
  private let sinkOrder = Locked(())
  private let report: @Sendable (Double) -> Void
  private let state: Locked<State>

  private struct State: @unchecked Sendable {
    var machine: TransferStateMachine
    var transfer: (any CarriedTransfer)?
    var completion: Completion?
    var reported = 0
  }

  init(
    _ request: URLRequest, body: UploadBody?, in session: URLSession,
    standIn: (any NetworkStandIn)?,
    accepting acceptedStatusCodes: Set<Int>, into sink: Sink,
    report: @escaping @Sendable (Double) -> Void, completion: @escaping Completion
  ) {
    self.standIn = standIn
    self.request = request
    self.body = body
    self.sink = sink
    self.report = report
    userSession = session
    state = Locked(
      State(
        machine: TransferStateMachine(
          request: request, acceptedStatusCodes: acceptedStatusCodes),
        completion: completion))
  }

  /// Starts the task; called once, when `procedure` executes.
  func start(of procedure: Procedure) {
    let transfer =
      standIn?.carry(request, sending: body, of: procedure, for: self)
      ?? SessionTransfer(makeTask())
    state.withLock { $0.transfer = transfer }
    transfer.resume()
  }

  private func makeTask() -> (task: URLSessionTask, delegate: TransferDelegate) {
    TransferDelegate.makeTask(for: self, in: userSession) { session -> URLSessionTask in
      switch body {
      case nil: session.dataTask(with: request)
      case .data(let data): session.uploadTask(with: request, from: data)
      case .file(let url): session.uploadTask(with: request, fromFile: url)
      }
    }
  }

  /// Ends the task, if it has not ended; `completion` is called all the same.
  func cancel() { state.withLock({ $0.transfer })?.cancel() }

  // MARK: Events of the task

  func responseCame(_ response: URLResponse) {
    let action = state.withLock { $0.machine.take(response) }
    guard case .begin(let response) = action else { return }
    attempt { sink in try sink.begin(response) }
  }

  func dataCame(_ data: Data) {
    let (isWanted, fraction) = state.withLock { state in
      (state.machine.take(data), state.machine.fractionReceived)
    }
    guard isWanted else { return }
    attempt { sink in try sink.receive(data) }
    if body == nil, let fraction { note(fraction) }
  }

  func bodyWasSent(_ count: Int64, of total: Int64) {
    if body != nil, total > 0 { note(min(Double(count) / Double(total), 1)) }
  }

  func challengeStaysUnanswered() {
    state.withLock { $0.machine.closeWithPresentResponse() }
    cancelLater()
  }

  func taskEnded(_ error: (any Error)?, with response: URLResponse?) {
    if error == nil, let response, state.withLock({ $0.machine.isWaiting }) {
      responseCame(response)
    }
    // Closing a file and what a procedure releases are not for the session's own queue.
    offSession { self.finish(error) }
  }

  // MARK: -

  /// In steps that can be seen: each report takes the procedure's lock.
  private func note(_ fraction: Double) {
    let step = Int(fraction * 1_000)
    let isNew = state.withLock { state in
      defer { state.reported = step }
      return state.reported != step
    }
    if isNew { report(fraction) }
  }

  /// What cannot be written ends the task.
  private func attempt(_ body: (Sink) throws -> Void) {
    do {
      try sinkOrder.withLock { _ in try body(sink) }
    } catch {
      state.withLock { $0.machine.fail(error) }
      cancelLater()
    }
  }

  private func cancelLater() { offSession { self.cancel() } }

  /// Not on the session's own queue. A stand-in has none, and nothing of it runs on a thread of its own.
  private func offSession(_ work: @escaping @Sendable () -> Void) {
    if standIn == nil { WorkLine.shared(.default).submit(work) } else { work() }
  }

  private func finish(_ error: (any Error)?) {
    let (ending, completion, transfer) = state.withLock { state in
      (state.machine.ending(error), state.completion.take(), state.transfer.take())
    }
    _ = transfer
    guard let completion else { return }
    do {
      switch ending {
      case .take(let response):
        completion(
          .success(
            HTTPPayloadResponse(
              payload: try sinkOrder.withLock { _ in try sink.end() }, response: response)))
      case .fail(let error): throw error
      }
    } catch {
      sinkOrder.withLock { _ in sink.discard(after: error) }
      completion(.failure(error))
    }
  }
}
