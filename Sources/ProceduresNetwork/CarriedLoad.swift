#if canImport(FoundationNetworking)
  internal import Cancellation
  internal import Foundation
  internal import FoundationNetworking
  internal import ProcedurePrimitives

  /// A data task on the `CarrierSession` of a user's session, with a completion handler like that
  /// of Foundation's own tasks.
  ///
  /// Foundation on Linux stops the program if a task of the user's session is cancelled at the
  /// wrong moment. A task of a `CarrierSession` ends on the queue on which its cancel runs.
  ///
  /// 1. `completion` is called once, on the delegate queue of the user's session.
  final class CarriedLoad: TaskEvents, Cancelable {
    typealias Completion = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

    let userSession: URLSession
    private let state: Locked<State>

    private struct State: @unchecked Sendable {
      var transfer: SessionTransfer?
      var response: URLResponse?
      var data = Data()
      var completion: Completion?
    }

    private init(in session: URLSession, _ completion: @escaping Completion) {
      userSession = session
      state = Locked(State(completion: completion))
    }

    /// Starts the load; a cancel of `token` ends it.
    static func start(
      _ url: URL, in session: URLSession, until token: CancellationToken,
      completion: @escaping Completion
    ) -> URLSessionDataTask {
      let load = CarriedLoad(in: session, completion)
      let made = Locked<URLSessionDataTask?>(nil)
      let transfer = SessionTransfer(URLRequest(url: url), sending: nil, for: load) { task in
        made.withLock { $0 = task as? URLSessionDataTask }
        token.register(load)
      }
      load.state.withLock { $0.transfer = transfer }
      transfer.resume()
      // The task of a GET exists before it has a place among the connections.
      guard let task = made.withLock({ $0 }) else { preconditionFailure("a load has no task") }
      return task
    }

    func cancel() { state.withLock({ $0.transfer })?.cancel() }

    func responseCame(_ response: URLResponse) {
      // It replaces an earlier response, such as a 401 whose challenge was answered.
      state.withLock { state in
        state.response = response
        state.data = Data()
      }
    }

    func dataCame(_ data: Data) { state.withLock { $0.data.append(data) } }

    func bodyWasSent(_ count: Int64, of total: Int64) {}

    func redirectFollowed(to request: URLRequest) {}

    func taskEnded(_ error: (any Error)?, with response: URLResponse?) {
      let end = state.withLock { state in
        defer { state = State() }
        if state.response == nil { state.response = response }
        return state
      }
      guard let completion = end.completion else { return }
      userSession.delegateQueue.addOperation {
        if let error {
          completion(nil, nil, error)
        } else {
          completion(end.data, end.response, nil)
        }
      }
    }
  }
#endif
