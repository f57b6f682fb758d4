internal import Foundation
internal import ProcedurePrimitives
internal import Procedures
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One transfer of a session, from its start to its result.
///
/// 1. `completion` is called exactly once after `start()`, on a thread of `sinkThreads`, or on the
///    thread of a stand-in for the network.
/// 2. The sink is used on a line of its own, one call at a time, or on the thread of a stand-in. It
///    ends only after the procedure's finish is claimed: a cancel comes before that, and the body
///    is discarded, or is too late.
final class NetworkTransfer<Sink: BodySink>: TaskEvents, @unchecked Sendable {
  /// Called with nil if the finish could not be claimed.
  typealias Completion =
    @Sendable (Result<HTTPPayloadResponse<Sink.Payload>, any Error>?) -> Void

  let userSession: URLSession
  private let standIn: (any NetworkStandIn)?
  private let request: URLRequest
  private let body: UploadBody?
  private let sink: Sink
  private let sinkThreads: WorkLine
  /// Never contended, since uses of the sink do not overlap. It shows that to ThreadSanitizer,
  /// which sees no order between Dispatch's blocks.
  private let sinkOrder = Locked(())
  private let report: @Sendable (Double) -> Void
  private let proveInaction: @Sendable () -> Void
  private let claimFinish: @Sendable (_ isCommitting: Bool) -> Bool
  private let state: Locked<State>

  private struct State: @unchecked Sendable {
    var machine: TransferStateMachine
    var transfer: (any CarriedTransfer)?
    var completion: Completion?
    var reported = 0
    /// Nil with a stand-in.
    var line: SinkLine?
  }

  /// - Parameter proveInaction: called before `completion` if the server cannot have acted on the
  ///   request.
  init(
    _ request: URLRequest, body: UploadBody?, in session: URLSession,
    standIn: (any NetworkStandIn)?,
    accepting acceptedStatusCodes: Set<Int>, into sink: Sink, on sinkThreads: WorkLine,
    report: @escaping @Sendable (Double) -> Void, proveInaction: @escaping @Sendable () -> Void,
    claimFinish: @escaping @Sendable (_ isCommitting: Bool) -> Bool,
    completion: @escaping Completion
  ) {
    self.standIn = standIn
    self.request = request
    self.body = body
    self.sink = sink
    self.sinkThreads = sinkThreads
    self.report = report
    self.proveInaction = proveInaction
    self.claimFinish = claimFinish
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
      ?? SessionTransfer(request, sending: body, for: self)
    let line = standIn == nil ? SinkLine(on: sinkThreads) { transfer.release() } : nil
    let isCancelled = state.withLock { state in
      (state.transfer, state.line) = (transfer, line)
      return state.machine.isBroken
    }
    // An earlier cancel has found no transfer.
    if isCancelled { transfer.cancel() }
    transfer.resume()
  }

  /// Ends the task, if it has not ended. `completion` is still called.
  func cancel() {
    let transfer = state.withLock { state in
      state.machine.fail(URLError(.cancelled))
      return state.transfer
    }
    transfer?.cancel()
  }

  // MARK: Events of the task

  func responseCame(_ response: URLResponse) {
    switch state.withLock({ $0.machine.take(response) }) {
    case .begin(let response): call { self.attempt { sink in try sink.begin(response) } }
    case .stop: call { self.state.withLock({ $0.transfer })?.cancel() }
    case .none: break
    }
  }

  func dataCame(_ data: Data) {
    let (isWanted, fraction) = state.withLock { state in
      (state.machine.take(data), state.machine.fractionReceived)
    }
    guard isWanted else { return }
    call(size: data.count) {
      self.attempt { sink in try sink.receive(data) }
      if self.body == nil, let fraction { self.note(fraction) }
    }
  }

  func bodyWasSent(_ count: Int64, of total: Int64) {
    guard body != nil, total > 0 else { return }
    call { self.note(min(Double(count) / Double(total), 1)) }
  }

  func redirectFollowed(to request: URLRequest) {
    state.withLock { $0.machine.follow(request) }
  }

  func taskEnded(_ error: (any Error)?, with response: URLResponse?) {
    if error == nil, let response, state.withLock({ $0.machine.isWaiting }) {
      responseCame(response)
    }
    call { self.finish(error) }
  }

  // MARK: -

  /// Runs `work` after earlier calls, on the sink's line: the thread that reads for all sessions
  /// must not run it.
  private func call(size: Int = 0, _ work: @escaping @Sendable () -> Void) {
    guard let line = state.withLock({ $0.line }) else { return work() }
    if line.add(size: size, work) { state.withLock({ $0.transfer })?.hold() }
  }

  /// Reports in steps of a thousandth, since each report acquires the procedure's lock.
  private func note(_ fraction: Double) {
    let step = Int(fraction * 1_000)
    let isNew = state.withLock { state in
      defer { state.reported = step }
      return state.reported != step
    }
    if isNew { report(fraction) }
  }

  /// Calls the sink, unless an error or a cancel came before. An error of the sink ends the task.
  private func attempt(_ body: (Sink) throws -> Void) {
    if state.withLock({ $0.machine.isBroken }) { return }
    do {
      try sinkOrder.withLock { _ in try body(sink) }
    } catch {
      state.withLock { $0.machine.fail(error) }
      state.withLock({ $0.transfer })?.cancel()
    }
  }

  private func finish(_ error: (any Error)?) {
    let (ending, mayHaveActed, completion, transfer, line) = state.withLock { state in
      (
        state.machine.ending(error), state.machine.mayHaveActed(error), state.completion.take(),
        state.transfer.take(), state.line.take()
      )
    }
    _ = (transfer, line)
    guard let completion else { return }
    if !mayHaveActed { proveInaction() }
    guard claimFinish(ending.isSuccess) else {
      sinkOrder.withLock { _ in sink.discard(after: URLError(.cancelled)) }
      return completion(nil)
    }
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
