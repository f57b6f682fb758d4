import Foundation
import ProcedurePrimitives
import ProcedureTestSupport
import ProceduresNetwork
import ProceduresTesting
import Testing

// listing: kit-sync
struct Note: Codable, Sendable {
  let id: Int
  let text: String
}

final class FetchNotes: GroupProcedure, OutputProcedure, @unchecked Sendable {
  typealias Output = [Note]

  init(from url: URL) {
    var resilience = NetworkResilience()
    resilience.maximumNumberOfAttempts = 3
    resilience.backoffStrategy = .exponential(period: .seconds(1), maximum: .seconds(30))
    resilience.requestTimeout = .seconds(8)
    let fetch = NetworkProcedure(resilience: resilience) { NetworkDataProcedure(url: url) }
    let decode = DecodeJSONProcedure([Note].self).injectPayload(fromNetwork: fetch)
    super.init(name: "fetch notes", children: [fetch, decode])
    bind(from: decode)
  }
}

final class SaveNotes: Procedure, InputProcedure, @unchecked Sendable {
  typealias Input = [Note]

  private let store: NoteStore
  private var transaction: NoteStore.Transaction?

  init(_ store: NoteStore) {
    self.store = store
    super.init()
    name = "save notes"
    add(condition: MutuallyExclusive<NoteStore>())
  }

  override func execute() {
    transaction = store.write(input ?? []) { error in self.finish(withError: error) }
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    transaction?.rollBack()  // which calls back, and so finishes it
  }
}

final class NoteSync: GroupProcedure, @unchecked Sendable {
  private let store: NoteStore

  init(with url: URL, store: NoteStore, service: NoteService) {
    self.store = store
    let fetch = FetchNotes(from: url)
    let save = SaveNotes(store)
    save.injectResult(from: fetch)
    let push = RetryProcedure(max: 4, wait: .constant(.seconds(2))) {
      AsyncProcedure(name: "push", .callback) { finish in
        let request = service.push(store.changes) { error in finish(error) }
        finish.cancellationToken.onCancel { request.cancel() }
      }
    } retry: { failure, next in
      failure.errors.first is ServiceBusy ? next : nil
    }
    push.add(dependency: save)
    push.add(condition: NoFailedDependencies())
    super.init(name: "sync", children: [fetch, save, push])
    add(condition: MutuallyExclusive<NoteSync>())
    add(
      condition: AnswerCondition { _, answer in
        service.check { isUp in answer(isUp ? .satisfied : .failed(ServiceDown())) }
      })
    add(observer: TimeoutObserver(by: .seconds(120)))
  }

  override func child(
    _ child: Procedure, willFinishWithErrors errors: [any Error]
  ) -> [any Error] {
    guard let conflict = errors.first as? NoteConflict else { return errors }
    add(child: BlockProcedure(name: "merge") { [store] in try store.merge(conflict.id) })
    return []
  }
}
// end

struct ServiceBusy: Error {}
struct ServiceDown: Error {}

struct NoteConflict: Error {
  let id: Int
}

/// Stands for a store with transactions, which end when the test says so, or are rolled back.
final class NoteStore: Sendable {
  final class Transaction: Sendable {
    fileprivate let completion: @Sendable ((any Error)?) -> Void

    fileprivate init(_ completion: @escaping @Sendable ((any Error)?) -> Void) {
      self.completion = completion
    }

    func rollBack() { completion(CancellationError()) }
  }

  let began = Gate()
  let log = Recorder<String>()
  private let error: (any Error)?
  private let isHeld: Bool

  init(error: (any Error)? = nil, isHeld: Bool = false) {
    self.error = error
    self.isHeld = isHeld
  }

  var changes: [Note] { [Note(id: 3, text: "mine")] }

  func write(
    _ notes: [Note], _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) -> Transaction {
    log.note("wrote \(notes.map(\.id))")
    defer { began.open() }
    if !isHeld { completion(error) }
    return Transaction(completion)
  }

  func merge(_ id: Int) throws { log.note("merged \(id)") }
}

/// Stands for a client library with completion handlers.
final class NoteService: Sendable {
  struct Request: Sendable {
    fileprivate let completion: @Sendable ((any Error)?) -> Void

    func cancel() { completion(CancellationError()) }
  }

  let wasBusy = Gate()
  let pushes = Counter()
  private let isUp: Bool
  private let busyCount: Int

  init(isUp: Bool = true, busyCount: Int = 0) {
    self.isUp = isUp
    self.busyCount = busyCount
  }

  func check(_ completion: @escaping @Sendable (Bool) -> Void) { completion(isUp) }

  func push(
    _ notes: [Note], _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) -> Request {
    let isBusy = pushes.increment() <= busyCount
    completion(isBusy ? ServiceBusy() : nil)
    if isBusy { wasBusy.open() }
    return Request(completion: completion)
  }
}

@MainActor private final class SyncBadge {
  var text = ""
}

@Suite("Listings of the guide ComingFromProcedureKit", .hangLimit)
struct ComingFromProcedureKitListings {
  private func serving() throws -> LoopbackServer {
    try LoopbackServer { _, connection in
      connection.send(body: #"[{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]"#)
    }
  }

  @Test(
    "the sync of some size does what it did: it retries on the queue's clock, and shows its end")
  @MainActor func syncing() async throws {
    let server = try serving()
    defer { server.stop() }
    let clock = TestClock()
    let queue = ProcedureQueue(clock: clock.clock)
    let output = Recorder<String>()
    let log: @Sendable (String) -> Void = { output.note($0) }
    let (store, service) = (NoteStore(), NoteService(busyCount: 1))
    let (url, badge) = (server.url("/notes"), SyncBadge())
    // listing: kit-sync-use
    let sync = NoteSync(with: url, store: store, service: service)
    sync.addDidCancelBlockObserver { sync, errors in log("\(sync.name) gave up: \(errors)") }
    sync.addDidFinishBlockObserver { @MainActor sync, errors in
      badge.text = errors.isEmpty ? "up to date" : "\(errors[0])"
    }
    queue.add(sync)
    // end
    await service.wasBusy.wait()
    // The whole has a limit of time, and the second attempt waits.
    while clock.pendingCount < 2 { await Task.yield() }
    clock.advance(by: .seconds(2))
    #expect(await sync.waitUntilFinished() == .succeeded)
    #expect(badge.text == "up to date" && output.events.isEmpty)
    #expect(store.log.events == ["wrote [1, 2]"] && service.pushes.value == 2)
  }

  @Test("a conflict is dealt with by a child that is added; what depends on success does not run")
  func conflict() async throws {
    let server = try serving()
    defer { server.stop() }
    let (store, service) = (NoteStore(error: NoteConflict(id: 2)), NoteService())
    let sync = NoteSync(with: server.url("/notes"), store: store, service: service)
    let outcome = await ProcedureQueue().run(sync)
    #expect(store.log.events == ["wrote [1, 2]", "merged 2"] && service.pushes.value == 0)
    // What did not run because of it is no error of its own.
    #expect(outcome == .succeeded)
  }

  @Test(
    "a sync that is cancelled while it writes rolls back, and one without the service runs nothing")
  func ends() async throws {
    let server = try serving()
    defer { server.stop() }
    let (store, service) = (NoteStore(isHeld: true), NoteService())
    let sync = NoteSync(with: server.url("/notes"), store: store, service: service)
    let queue = ProcedureQueue()
    queue.add(sync)
    await store.began.wait()
    sync.cancel()
    #expect(await sync.waitUntilFinished().isCancelled && service.pushes.value == 0)

    let (idle, down) = (NoteStore(), NoteService(isUp: false))
    let none = NoteSync(with: server.url("/notes"), store: idle, service: down)
    let outcome = await queue.run(none)
    #expect(outcome.isCancelled && outcome.errors.first is ServiceDown)
    #expect(idle.log.events.isEmpty && server.requests.value == 1)
  }
}
