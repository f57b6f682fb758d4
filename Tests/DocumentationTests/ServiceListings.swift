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

  @Suite("Listings of the guide Services and pipelines", .timeLimit(.minutes(5)))
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

    @Test("Q2: what finds no room is refused")
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
  }
#endif
