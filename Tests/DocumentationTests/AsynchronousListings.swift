import Procedures
import ProcedureTestSupport
import Testing

// listing: async-request
final class Fetch: Procedure, @unchecked Sendable {
  private let service: Service
  private var request: Request?

  init(_ service: Service) { self.service = service }

  override func execute() {
    request = service.start { error in
      self.finish(withError: self.isCancelled ? nil : error)
    }
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    request?.cancel()
  }
}
// end

// listing: async-subscription
final class WaitForMessage: Procedure, @unchecked Sendable {
  private let channel: Channel
  private var subscription: Channel.Subscription?

  init(_ channel: Channel) { self.channel = channel }

  override func execute() {
    subscription = channel.subscribe { self.finish() }
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    finish()
  }

  override func procedureWillFinish(withErrors errors: [any Error]) {
    subscription?.end()
  }
}
// end

@Suite("Listings of the guide AsynchronousProcedures", .hangLimit)
struct AsynchronousListings {
  private let queue = ProcedureQueue()

  @Test("a request reports its end", arguments: [nil, TestError("no answer")])
  func request(error: TestError?) async {
    let service = Service()
    let fetch = Fetch(service)
    queue.add(fetch)
    await service.started.wait()
    service.request?.end(error)
    #expect(await fetch.waitUntilFinished() == (error.map { .failed([$0]) } ?? .succeeded))
  }

  @Test("a request is cancelled while it runs, and before it starts")
  func cancelledRequest() async {
    let service = Service()
    let fetch = Fetch(service)
    queue.add(fetch)
    await service.started.wait()
    fetch.cancel()
    #expect(await fetch.waitUntilFinished() == .cancelled([]))
    let second = Fetch(Service())
    queue.isSuspended = true
    queue.add(second)
    second.cancel()
    #expect(await second.waitUntilFinished() == .cancelled([]))
  }

  @Test("a subscription times out when it falls silent")
  func subscription() async {
    let channel = Channel()
    let (received, cancelled) = (WaitForMessage(channel), WaitForMessage(channel))
    queue.add(received)
    await channel.subscribed.wait()
    channel.send()
    #expect(await received.waitUntilFinished() == .succeeded)
    #expect(channel.subscriberCount == 0)
    queue.add(cancelled)
    cancelled.cancel()
    #expect(await cancelled.waitUntilFinished() == .cancelled([]))
    #expect(channel.subscriberCount == 0)
  }
}
