import Cancellation
import Dispatch
import Foundation
import ProceduresNetwork
import ProcedureTestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// listing: token-part
func firstLine(
  of load: @escaping @Sendable () async throws -> String, token: CancellationToken
) async throws -> String {
  let text = try await withTask(cancelledBy: token) { try await load() }
  return String(text.prefix { !$0.isNewline })
}
// end

// listing: token-from-task
func load(_ service: Service) async throws {
  try await withCancellationToken { token in
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      let request = service.start { error in
        continuation.resume(with: error.map(Result.failure) ?? .success(()))
      }
      token.onCancel { request.cancel() }  // at once, if the task already is cancelled
    }
  }
}
// end

// listing: token-scope
func receive(from channel: Channel, token: CancellationToken) async -> Bool {
  let (messages, continuation) = AsyncStream<Bool>.makeStream()
  let subscription = channel.subscribe { continuation.yield(true) }
  defer { subscription.end() }
  return await withCancellationHandler(for: token) {
    await messages.first { _ in true } ?? false
  } onCancel: {
    continuation.finish()
  }
}
// end

/// Stands for a disk.
final class Storage: Sendable {
  let discarded = Gate()

  func write(_ text: String) async throws { try await Task.sleep(for: .seconds(3_600)) }

  func discard() async {
    await Task.yield()
    if !Task.isCancelled { discarded.open() }
  }
}

// listing: token-shield
func save(_ text: String, to storage: Storage) async throws {
  do {
    try await storage.write(text)
  } catch {
    await withCancellationShield { await storage.discard() }  // also after a cancel
    throw error
  }
}
// end

// listing: token-store
@MainActor final class FeedModel {
  enum Work { case refresh, search }

  private let tasks = TaskStore<Work>()
  private(set) var items: [String] = []

  func refresh(_ fetch: @escaping @Sendable () async throws -> [String]) {
    tasks.addTask(id: .refresh, policy: .skipIfRunning) { [weak self] in
      let items = try await fetch()
      self?.items = items
    }
  }

  func cancelSearch() { tasks.cancel(.search) }
  func disappear() { tasks.cancelAll() }
}
// end

@Suite("Listings of the guide TokensAndTasks", .hangLimit)
struct TokenTaskListings {
  @Test func shield() async throws {
    let storage = Storage()
    let task = Task { try await save("a", to: storage) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(storage.discarded.isOpen)
  }

  @Test func fromTask() async throws {
    let service = Service()
    let task = Task { try await load(service) }
    await service.started.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func toTask() async throws {
    let source = CancellationTokenSource()
    let token = source.token
    // listing: token-to-task
    let task = Task(cancelledBy: token) {
      try await Task.sleep(for: .seconds(3_600))
    }
    // end
    source.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func part() async throws {
    #expect(try await firstLine(of: { "one\ntwo" }, token: .never) == "one")
    let (source, entered) = (CancellationTokenSource(), Gate())
    let token = source.token
    let task = Task {
      try await firstLine(
        of: {
          entered.open()
          try await Task.sleep(for: .seconds(3_600))
          return ""
        }, token: token)
    }
    await entered.wait()
    source.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func urls() async throws {
    let (session, token) = (URLSession(configuration: .ephemeral), CancellationToken.cancelled)
    let url = try #require(URL(string: "http://127.0.0.1:9/"))
    let output = Recorder<String>()
    func print(_ line: String) { output.note(line) }
    // listing: token-url
    do {
      let (data, _) = try await session.data(from: url, cancellationToken: token)
      print("\(data.count) bytes")
    } catch let error as URLError where error.code == .cancelled {
      print("cancelled, by the token or by the task")
    }
    // end
    #expect(output.events == ["cancelled, by the token or by the task"])
  }

  @Test func scope() async {
    let (source, channel) = (CancellationTokenSource(), Channel())
    async let received = receive(from: channel, token: source.token)
    await channel.subscribed.wait()
    source.cancel()
    #expect(await !received)
    #expect(channel.subscriberCount == 0)
  }

  @Test func awaiting() async {
    let source = CancellationTokenSource()
    let token = source.token
    source.cancel()
    // listing: token-await
    if await token.waitUntilCancelled() { print("cancelled") } else { print("never will be") }
    // end
  }

  @Test func sequences() async {
    let token = CancellationToken.cancelled
    let (messages, _) = AsyncStream<String>.makeStream()
    // listing: token-sequence
    for await message in messages.prefix(until: token) { print(message) }
    // end
  }

  @Test @MainActor func stores() async throws {
    let (model, gate) = (FeedModel(), Gate())
    model.refresh {
      gate.open()
      return ["item"]
    }
    await gate.wait()
    model.cancelSearch()
    model.disappear()
  }
}
