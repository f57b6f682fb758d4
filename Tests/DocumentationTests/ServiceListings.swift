#if os(macOS) || os(Linux)
  import ProceduresProcess
  import ProcedureTestSupport
  import Testing

  private final class Thumbnail: Procedure, @unchecked Sendable {
    static let count = Counter()

    init(_ picture: Int) { super.init() }

    override func execute() {
      Self.count.increment()
      finish()
    }
  }

  private final class Store: Procedure, @unchecked Sendable {
    let upload: Message

    init(_ upload: Message) {
      self.upload = upload
      super.init()
    }

    override func execute() {
      upload.answers.increment()
      finish()
    }
  }

  private final class Answer: Procedure, @unchecked Sendable {
    let request: Message

    init(_ request: Message) {
      self.request = request
      super.init()
    }

    override func execute() {
      request.answers.increment()
      finish()
    }
  }

  private struct Message: Sendable {
    let answers: Counter
    let refusals: Counter

    func refuse() { refusals.increment() }
  }

  private final class Preview: Procedure, @unchecked Sendable {
    init(_ path: String) { super.init() }
    override func execute() { finish() }
  }

  private typealias Save = Preview

  private typealias Cell = Int

  /// Each cell is one more than the one before it.
  private final class Sheet: Sendable {
    private let numbers = Recorder<[Cell: Int]>()
    private let count: Int

    init(_ count: Int) { self.count = count }

    func number(in cell: Cell) -> Int {
      numbers.events.last { $0[cell] != nil }?[cell] ?? 0
    }

    func set(_ cell: Cell, to number: Int) { numbers.note([cell: number]) }
    func cells(affectedBy cell: Cell) -> Range<Cell> { (cell + 1)..<count }
    func sources(of cell: Cell) -> [Cell] { [cell - 1] }
    func recalculate(_ cell: Cell) { set(cell, to: number(in: cell - 1) + 1) }
  }

  struct Picture: Sendable, Equatable {
    let path: String
  }

  final class LoadPicture: Procedure, OutputProcedure, @unchecked Sendable {
    typealias Output = Picture
    static let executions = Recorder<String>()
    static let gate = Gate()

    private let path: String

    init(_ path: String) {
      self.path = path
      super.init()
    }

    override func execute() {
      Self.executions.note("begin \(path)")
      Self.gate.block()
      Self.executions.note("end \(path)")
      finish(withResult: .success(Picture(path: path)))
    }
  }

  private struct Throttled: Error {
    let retryAfter: Duration
  }

  private final class Searching: Sendable {
    let calls = Counter()

    func search(_ text: String) throws -> [String] {
      calls.increment()
      if text.isEmpty { throw TestError("down") }
      return [text]
    }
  }

  // listing: service-cell
  @MainActor final class PictureCell {
    private var loading: Task<Void, Never>?
    private(set) var picture: Picture?

    func show(_ path: String, from pictures: ProcedureStore<String>) {
      prepareForReuse()
      loading = Task {
        let loaded = try? await pictures.value(for: path) { LoadPicture(path) }
        if !Task.isCancelled { picture = loaded }
      }
    }

    func prepareForReuse() {
      loading?.cancel()  // this cell does not want it any more
      picture = nil
    }
  }
  // end

  // listing: service-screen
  @MainActor final class SearchScreen {
    private let searches: ProcedureStore<String>
    private var wanted: Procedure?
    private(set) var shown = ""

    init(_ queue: ProcedureQueue) { searches = ProcedureStore(on: queue) }

    func textDidChange(_ text: String) {
      let search = ResultProcedure { "results of \(text)" }
      wanted = search
      search.addDidFinishBlockObserver { @MainActor [weak self] search, _ in
        guard let self, self.wanted === search else { return }
        if let results = try? search.output?.get() { self.shown = results }
      }
      searches.add(search, for: "search", policy: .cancelPrevious)
    }

    func disappear() {
      wanted = nil
      searches.cancelAll()
    }
  }
  // end

  /// Stands for swift-service-lifecycle, whose names these are.
  private enum Lifecycle {
    protocol Service: Sendable {
      func run() async throws
    }

    /// Called when the group is to end.
    @TaskLocal static var shutdown = CancellationToken.never

    static func withGracefulShutdownHandler<Value: Sendable>(
      operation: () async throws -> Value,
      onGracefulShutdown handler: @escaping @Sendable () -> Void
    ) async rethrows -> Value {
      let registration = shutdown.onCancel { handler() }
      defer { registration.remove() }
      return try await operation()
    }

    // listing: service-lifecycle
    struct AnswerService: Service {
      let requests: AsyncStream<Message>

      func run() async throws {
        let (queue, stop) = (ProcedureQueue(name: "answers"), CancellationTokenSource())
        try? await withGracefulShutdownHandler {
          try await withTask(cancelledBy: stop.token) {
            await queue.add(requests.map { Answer($0) }, atMost: 100)
          }
        } onGracefulShutdown: {
          stop.cancel()
        }
        await queue.drain(grace: .seconds(20))
      }
    }
    // end
  }

  @Suite("Listings of the guide Services and pipelines", .hangLimit)
  struct ServiceListings {
    private let message = Message(answers: Counter(), refusals: Counter())

    private func messages(_ count: Int) -> AsyncStream<Message> {
      let (messages, input) = AsyncStream.makeStream(of: Message.self)
      for _ in 0..<count { input.yield(message) }
      input.finish()
      return messages
    }

    @Test("Q2: a sequence is fed to a queue")
    func feeding() async {
      let (pictures, queue) = (0..<100, ProcedureQueue())
      // listing: service-feed
      await queue.add(pictures.lazy.map { Thumbnail($0) }, atMost: 16)
      // end
      // listing: service-feed-all
      let thumbnails = AsyncProcedure {
        await withProcedureQueue(maxConcurrentProcedureCount: 4) { queue in
          await queue.add(pictures.lazy.map { Thumbnail($0) }, atMost: 16)
        }
      }
      // end
      await queue.waitUntilAllFinished()
      #expect(await queue.run(thumbnails) == .succeeded)
      #expect(Thumbnail.count.value == 200)
    }

    @Test("Q2: an asynchronous sequence is fed to a queue")
    func feedingAsynchronously() async throws {
      let (uploads, input) = AsyncThrowingStream.makeStream(of: Message.self)
      for _ in 0..<100 { input.yield(message) }
      input.finish()
      let queue = ProcedureQueue()
      // listing: service-feed-async
      try await queue.add(uploads.map { Store($0) }, atMost: 8)
      // end
      await queue.waitUntilAllFinished()
      #expect(message.answers.value == 100)
    }

    @Test("Q2: a procedure that finds no room is refused")
    func refusing() async {
      let (requests, queue) = (messages(1_500), ProcedureQueue())
      queue.isSuspended = true
      // listing: service-refuse
      let jobs = ProcedureFeed(into: queue, atMost: 1_000)
      for await request in requests {
        if !jobs.addIfRoom(Answer(request)) { request.refuse() }
      }
      // end
      queue.isSuspended = false
      await queue.waitUntilAllFinished()
      #expect(message.answers.value == 1_000 && message.refusals.value == 500)
    }

    @Test("K13: the latest of a key wins, or they run one after another")
    func keys() async {
      let (queue, path) = (ProcedureQueue(), "a.txt")
      // listing: service-keys
      let previews = ProcedureStore<String>(on: queue)
      previews.add(Preview(path), for: path, policy: .cancelPrevious)

      let saves = ProcedureStore<String>(on: queue)
      saves.add(Save(path), for: path, policy: .inOrder)
      // end
      await queue.waitUntilAllFinished()
      #expect(previews.count + saves.count == 0)
    }

    @Test("K13: a result that comes to the main actor late is not shown") @MainActor
    func screens() async {
      let queue = ProcedureQueue()
      let screen = SearchScreen(queue)
      screen.textDidChange("a")
      // The main actor is busy while the search finishes.
      while queue.procedures.contains(where: { !$0.isFinished }) {}
      screen.disappear()
      await queue.waitUntilAllFinished()
      #expect(screen.shown == "")
      screen.textDidChange("a")
      while queue.procedures.contains(where: { !$0.isFinished }) {}
      queue.isSuspended = true
      screen.textDidChange("b")
      // The result of "a" comes to the main actor, and leaves.
      #expect(await eventually { queue.count == 1 })
      #expect(screen.shown == "")
      queue.isSuspended = false
      await queue.waitUntilAllFinished()
      #expect(screen.shown == "results of b")
    }

    @Test("K13: an edit cancels what became stale, and adds what is affected")
    func spreadsheet() async {
      let (queue, sheet) = (ProcedureQueue(), Sheet(20))
      // listing: service-spreadsheet
      let recalculations = ProcedureStore<Cell>(on: queue)
      func edit(_ edited: Cell, to number: Int) {
        sheet.set(edited, to: number)
        for cell in sheet.cells(affectedBy: edited) {  // each after those that it reads
          let recalculation = BlockProcedure { sheet.recalculate(cell) }
          for source in sheet.sources(of: cell) {
            if let pending = recalculations.latest(source) {
              recalculation.add(dependency: pending)
            }
          }
          recalculations.add(recalculation, for: cell, policy: .cancelPrevious)
        }
      }
      // end
      for number in 1...50 { edit(0, to: number) }
      await queue.waitUntilAllFinished()
      #expect((0..<20).map { sheet.number(in: $0) } == Array(50..<70))
      #expect(recalculations.count == 0)
    }

    @Test("K16: several cells of one picture never have two loads of it at once") @MainActor
    func cells() async {
      let (queue, screen, path) = (ProcedureQueue(), Recorder<Picture>(), "a.png")
      let pictures = ProcedureStore<String>(on: queue)
      let cells = (0..<3).map { _ in PictureCell() }
      for cell in cells { cell.show(path, from: pictures) }
      #expect(await eventually { LoadPicture.executions.events == ["begin a.png"] })
      cells[0].show("b.png", from: pictures)
      // listing: service-join
      let show = TransformProcedure<Picture, Void> { picture in screen.note(picture) }
      show.injectResult(
        from: pictures.join(path, until: show.cancellationToken) { LoadPicture(path) })
      queue.add(show)
      // end
      LoadPicture.gate.open()
      #expect(await eventually { cells.allSatisfy { $0.picture != nil } })
      await queue.waitUntilAllFinished()
      #expect(cells.map(\.picture?.path) == ["b.png", path, path])
      // A cell that came after the first had left, or after the load, has another load.
      let loads = LoadPicture.executions.events.filter { $0.hasSuffix(path) }
      let inTurn = Array(repeating: ["begin a.png", "end a.png"], count: loads.count / 2)
      #expect(loads == inTurn.flatMap(\.self))
      #expect(screen.events == [Picture(path: path)])
    }

    @Test("a rate is paused when the server says so")
    func pausing() async {
      let calls = Counter()
      @Sendable func placeOrder() async throws(Throttled) {
        if calls.increment() == 1 { throw Throttled(retryAfter: .milliseconds(1)) }
      }
      let queue = ProcedureQueue()
      // listing: service-pause
      let host = ExclusionCategory(named: "api.example")
      let rate = RateLimit(10, per: .seconds(1), of: host)
      let order = AsyncProcedure {
        do throws(Throttled) { try await placeOrder() } catch {
          rate.pause(for: error.retryAfter)  // for all that are limited by it
          throw error
        }
      }
      order.add(condition: rate)
      queue.add(order)
      // end
      #expect(await order.waitUntilFinished().isFailure)
    }

    @Test("D6: a service that is down is left alone")
    func breaking() async {
      let (queue, service) = (ProcedureQueue(), Searching())
      // listing: service-breaker
      let breaker = CircuitBreaker(named: "search", after: 5, pause: .seconds(30))

      @Sendable func results(for text: String) async -> [String] {
        let search = ResultProcedure { try service.search(text) }.timeout(after: .seconds(2))
        search.add(condition: breaker)
        do {
          return try await queue.value(of: search)
        } catch ProcedureError.Code.circuitOpen {
          return ["Search is not available. Try again later."]
        } catch {
          return ["No results: \(error)"]
        }
      }
      // end
      #expect(await results(for: "a") == ["a"])
      for _ in 0..<5 { #expect(await results(for: "") == ["No results: down"]) }
      #expect(await results(for: "a") == ["Search is not available. Try again later."])
      #expect(service.calls.value == 6)
    }

    @Test("Q3: a queue stands still for a moment")
    func standingStill() async {
      let (queue, database) = (ProcedureQueue(), Recorder<String>())
      let count = Counter()
      queue.add((0..<100).map { _ in BlockProcedure { count.increment() } })
      // listing: service-suspend
      await queue.suspendAndWait()
      database.note("backed up")  // nothing of the queue runs
      queue.isSuspended = false
      // end
      await queue.waitUntilAllFinished()
      #expect(count.value == 100 && database.events.count == 1)
    }

    @Test("Q8: a service ends in order")
    func ending() async {
      let requests = messages(100)
      // listing: service-end
      let queue = ProcedureQueue(name: "service")
      let stop = CancellationToken.signals(.interrupt, .terminate)
      try? await withTask(cancelledBy: stop) {
        await queue.add(requests.map { Answer($0) }, atMost: 100)
      }
      await queue.drain(grace: .seconds(20))
      // end
      #expect(message.answers.value == 100)
    }

    @Test("Q8: a service of a group that shuts down takes no more, and ends in order")
    func shuttingDown() async throws {
      let (requests, input) = AsyncStream.makeStream(of: Message.self)
      let shutdown = CancellationTokenSource()
      let service = Lifecycle.AnswerService(requests: requests)
      let running = Task {
        try await Lifecycle.$shutdown.withValue(shutdown.token) { try await service.run() }
      }
      for _ in 0..<10 { input.yield(message) }
      // The stream does not end: only the shutdown ends the feed.
      #expect(await eventually { message.answers.value == 10 })
      shutdown.cancel()
      try await running.value
      input.yield(message)
      #expect(message.answers.value == 10)
    }

    @Test("Q2: a procedure that a full feed refused is used up, and another one is not")
    func refusedIsUsedUp() async {
      let (queue, gate) = (ProcedureQueue(), Gate())
      let feed = ProcedureFeed(into: queue, atMost: 1)
      let first = AsyncProcedure { await gate.wait() }
      #expect(feed.addIfRoom(first))
      let refused = Answer(message)
      #expect(!feed.addIfRoom(refused))
      #expect(await refused.waitUntilFinished().isCancelled)
      #expect("\(refused.errors[0])".contains("or offer a new procedure later"))
      gate.open()
      await first.waitUntilFinished()
      #expect(await eventually { feed.addIfRoom(Answer(message)) })
      await queue.waitUntilAllFinished()
      #expect(message.answers.value == 1)
    }
  }
#endif
