import Cancellation
import Dispatch
import ProcedureTestSupport
import Testing

/// A request that is cancelled by the caller, as couchdeveloper's Cancellation is used.
@Suite(.hangLimit) struct CouchdeveloperTests {
  final class Connection: Cancelable {
    let closed = Gate()
    func cancel() { closed.open() }
  }

  /// An asynchronous function that takes a token, or none.
  func fetch(
    _ connection: Connection,
    cancellationToken: any CancellationTokenType = CancellationTokenNone(),
    completion: @escaping @Sendable (String) -> Void
  ) {
    if cancellationToken.isCancellationRequested { return completion("cancelled before") }
    cancellationToken.register(cancelable: connection)
    cancellationToken.onCancel { completion("cancelled") }
  }

  @Test("K1: a request cancels what its token was given to")
  func request() {
    let (connection, recorder) = (Connection(), Recorder<String>())
    let request = CancellationRequest()
    fetch(connection, cancellationToken: request.token) { recorder.note($0) }
    #expect(!request.isCancellationRequested && !connection.closed.isOpen)
    request.cancel()
    #expect(request.isCancellationRequested && connection.closed.isOpen)
    fetch(connection, cancellationToken: request.token) { recorder.note($0) }
    #expect(recorder.events == ["cancelled", "cancelled before"])
  }

  @Test("K2: without a token nothing is registered")
  func none() {
    let connection = Connection()
    fetch(connection) { _ in Issue.record("called") }
    #expect(!CancellationTokenNone().isCancellationRequested && !connection.closed.isOpen)
  }

  @Test("K3: register(cancelable:queue:) cancels on that queue")
  func queue() {
    let queue = DispatchQueue(label: "cancelling")
    let (connection, request) = (Connection(), CancellationRequest())
    let handled = Counter()
    queue.suspend()
    request.token.register(cancelable: connection, queue: queue)
    request.token.onCancel(queue: queue) { handled.increment() }
    request.cancel()
    #expect(!connection.closed.isOpen && handled.value == 0)
    queue.resume()
    queue.sync {}
    #expect(connection.closed.isOpen && handled.value == 1)
  }

  @Test("K14: onCancel(on:) and onComplete(on:) of any token call on that queue")
  func onQueue() {
    let queue = DispatchQueue(label: "cancelling")
    let request = CancellationRequest()
    let token: any CancellationTokenType = request.token
    let ends = Recorder<Bool>()
    queue.suspend()
    token.onCancel(on: queue) { ends.note(true) }
    token.onComplete(on: queue) { cancelled in ends.note(cancelled) }
    CancellationTokenNone().onComplete(on: queue) { cancelled in ends.note(cancelled) }
    request.cancel()
    #expect(ends.events.isEmpty)
    queue.resume()
    queue.sync {}
    #expect(ends.events.filter { $0 }.count == 2 && ends.events.count == 3)
  }

  @Test("K14: onComplete(queue:) calls on that queue, for either end and for no token")
  func completionQueue() {
    let queue = DispatchQueue(label: "completing")
    let (request, ends) = (CancellationRequest(), Recorder<Bool>())
    queue.suspend()
    request.token.onComplete(queue: queue) { cancelled in ends.note(cancelled) }
    CancellationRequest().token.onComplete(queue: queue) { cancelled in ends.note(cancelled) }
    CancellationTokenNone().onComplete(queue: queue) { cancelled in ends.note(cancelled) }
    let removed = request.token.onComplete(queue: queue) { _ in Issue.record("called") }
    #expect(removed.remove())
    request.cancel()
    #expect(ends.events.isEmpty)
    queue.resume()
    queue.sync {}
    #expect(ends.events == [false, false, true])
  }

  @Test("K1: assigning a new request drops the handlers of the old one")
  func reassigned() {
    var request = CancellationRequest()
    let probe = Probe()
    request.token.onCancel { [instance = probe.instance()] in
      _ = instance
      Issue.record("called")
    }
    request = CancellationRequest()
    request.cancel()
    #expect(probe.living == 0)
  }
}
