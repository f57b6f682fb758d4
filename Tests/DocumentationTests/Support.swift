import ProcedurePrimitives
import Procedures
import ProcedureTestSupport

/// Stands for a socket: reading blocks until it is closed.
final class Connection: Sendable {
  private let closed = Gate()

  var isClosed: Bool { closed.isOpen }

  func readToEnd() { closed.block() }
  func close() { closed.open() }
}

/// Stands for a client library with a completion handler.
final class Service: Sendable {
  let started = Gate()
  private let current = Locked<Request?>(nil)

  var request: Request? { current.withLock { $0 } }

  func start(_ completion: @escaping @Sendable ((any Error)?) -> Void) -> Request {
    let request = Request(completion)
    current.withLock { $0 = request }
    started.open()
    return request
  }
}

/// Calls the completion handler when it ends, also when it is cancelled.
final class Request: Sendable {
  private let completion: @Sendable ((any Error)?) -> Void

  init(_ completion: @escaping @Sendable ((any Error)?) -> Void) { self.completion = completion }

  func end(_ error: (any Error)?) { completion(error) }
  func cancel() { completion(CancellationError()) }
}

/// Stands for something to listen to. Who ends a subscription hears nothing more.
final class Channel: Sendable {
  struct Subscription: Sendable {
    fileprivate let channel: Channel
    fileprivate let identifier: Int

    func end() {
      _ = channel.state.withLock { $0.subscribers.removeValue(forKey: identifier) }
    }
  }

  private struct State: Sendable {
    var subscribers: [Int: @Sendable () -> Void] = [:]
    var last = 0
  }

  let subscribed = Gate()
  private let state = Locked(State())

  var subscriberCount: Int { state.withLock { $0.subscribers.count } }

  func subscribe(_ receive: @escaping @Sendable () -> Void) -> Subscription {
    let identifier = state.withLock { state in
      state.last += 1
      state.subscribers[state.last] = receive
      return state.last
    }
    subscribed.open()
    return Subscription(channel: self, identifier: identifier)
  }

  func send() {
    let subscribers = state.withLock { Array($0.subscribers.values) }
    for receive in subscribers { receive() }
  }
}

/// Executes until it is cancelled.
final class Endless: Procedure, @unchecked Sendable {
  override func execute() {}
  override func procedureDidCancel(withErrors errors: [any Error]) { finish() }
}
