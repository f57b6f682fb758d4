#if canImport(FoundationNetworking)
  internal import Cancellation
  internal import Foundation
  internal import FoundationNetworking
  internal import ProcedurePrimitives

  /// A data task of the session that carries those of a user's session, for a completion handler as
  /// Foundation's own tasks have one.
  ///
  /// Foundation on Linux stops the program for a cancel of a task of the user's session that comes at the
  /// wrong moment: see `CarrierSession`, where a task ends on the queue that its cancel runs on.
  ///
  /// 1. `completion` is called once, on the delegate queue of the user's session.
  /// 2. No method of the task is called from its events: these come on the session's own queue, which such a
  ///    method waits for.
  final class CarriedLoad: TaskEvents, Cancelable {
    typealias Completion = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

    let userSession: URLSession
    private let state: Locked<State>

    private struct State: @unchecked Sendable {
      var carried: (task: URLSessionDataTask, delegate: TransferDelegate)?
      var response: URLResponse?
      var data = Data()
      var completion: Completion?
      /// The rest is known: an error of the task is only our own cancel of it.
      var isOver = false
    }

    private init(in session: URLSession, _ completion: @escaping Completion) {
      userSession = session
      state = Locked(State(completion: completion))
    }

    /// Starts the load, until `token` is cancelled.
    static func start(
      _ url: URL, in session: URLSession, until token: CancellationToken,
      completion: @escaping Completion
    ) -> URLSessionDataTask {
      let load = CarriedLoad(in: session, completion)
      let carried = TransferDelegate.makeTask(for: load, in: session) { $0.dataTask(with: url) }
      load.state.withLock { $0.carried = carried }
      token.register(load)
      carried.task.resume()
      return carried.task
    }

    func cancel() {
      if let (task, delegate) = state.withLock({ $0.carried }) { delegate.cancel(task) }
    }

    func responseCame(_ response: URLResponse) {
      // It replaces the one before: a 401 whose challenge was answered.
      state.withLock { state in
        state.response = response
        state.data = Data()
      }
    }

    func dataCame(_ data: Data) { state.withLock { $0.data.append(data) } }

    func bodyWasSent(_ count: Int64, of total: Int64) {}

    func challengeStaysUnanswered() {
      state.withLock { $0.isOver = true }
      WorkLine.shared(.default).submit { self.cancel() }
    }

    func taskEnded(_ error: (any Error)?, with response: URLResponse?) {
      let end = state.withLock { state in
        defer { state = State() }
        if state.response == nil { state.response = response }
        return state
      }
      guard let completion = end.completion else { return }
      userSession.delegateQueue.addOperation {
        if let error, !end.isOver || end.response == nil {
          completion(nil, nil, error)
        } else {
          completion(end.data, end.response, nil)
        }
      }
    }
  }
#endif
