import Cancellation
import Dispatch
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

// listing: search-service
protocol SearchService: Sendable {
  /// Calls `completion` from any thread, or not at all once `token` is cancelled.
  func search(
    _ text: String, token: CancellationToken,
    completion: @escaping @Sendable ([String]) -> Void)
}
// end

// listing: search-model
@MainActor final class SearchModel {
  private let service: any SearchService
  private let latest = SerialCancellation()
  private let show: @MainActor ([String]) -> Void

  init(_ service: any SearchService, show: @escaping @MainActor ([String]) -> Void) {
    self.service = service
    self.show = show
  }

  /// Called for each key that is typed.
  func textDidChange(_ text: String) {
    let token = latest.renew()  // cancels the search before
    service.search(text, token: token) { [show] result in
      Task { @MainActor in
        // Where keys come in, and results are shown: nothing comes between question and answer.
        if !token.isCancelled { show(result) }
      }
    }
  }
}
// end

// listing: search-async
@MainActor final class AsyncSearchModel {
  nonisolated enum Work { case search }

  private let tasks = TaskStore<Work>()
  private(set) var results: [String] = []

  func textDidChange(
    _ text: String, search: @escaping @Sendable (String) async throws -> [String]
  ) {
    tasks.addTask(id: .search, policy: .cancelPrevious) { [weak self] in
      let results = try await search(text)
      try Task.checkCancellation()  // after the last await, before it is shown
      self?.results = results
    }
  }
}
// end

@Suite("Listings of the guide SearchAsYouType", .hangLimit)
struct SearchAsYouTypeListings {
  /// Answers when the test says so, in any order, also searches that were cancelled meanwhile.
  private final class LateService: SearchService {
    private let waiting = Locked<[@Sendable () -> Void]>([])
    let cancelled = Counter()

    func search(
      _ text: String, token: CancellationToken,
      completion: @escaping @Sendable ([String]) -> Void
    ) {
      token.onCancel { [cancelled] in cancelled.increment() }
      waiting.withLock { $0.append { completion([text]) } }
    }

    /// Answers up to `count` searches, from several threads.
    func answer(_ count: Int, using random: inout SimulationGenerator) {
      let chosen = waiting.withLock { waiting -> [@Sendable () -> Void] in
        // A copy of nothing shares its buffer, which ThreadSanitizer takes for a race
        // (Reliability).
        if count == 0 || waiting.isEmpty { return [] }
        waiting.shuffle(using: &random)
        let chosen = Array(waiting.suffix(count))
        waiting.removeLast(chosen.count)
        return chosen
      }
      DispatchQueue.concurrentPerform(iterations: chosen.count) { chosen[$0]() }
    }
  }

  @Test("K13: an old result never lands after a newer one, in 1,000 random schedules")
  @MainActor func schedules() async {
    for seed in 0..<1_000 as Range<UInt64> {
      var random = SimulationGenerator(seed: seed)
      let (service, shown) = (LateService(), Recorder<Int>())
      let model = SearchModel(service) { shown.note(Int($0[0])!) }
      for key in 0..<8 {
        model.textDidChange("\(key)")
        if Bool.random(using: &random) { await Task.yield() }
        service.answer(Int.random(in: 0...2, using: &random), using: &random)
        if Bool.random(using: &random) { await Task.yield() }
      }
      service.answer(.max, using: &random)
      // The last is shown whenever it was answered, and once; all others were cancelled.
      #expect(await eventually { shown.events.last == 7 }, "seed \(seed)")
      let results = shown.events
      #expect(results == results.sorted(), "seed \(seed)")
      #expect(Set(results).count == results.count, "seed \(seed)")
      #expect(service.cancelled.value == 7)
    }
  }

  @Test("K13: a result that came while the main actor was busy is not shown after a newer key")
  @MainActor func busyMainActor() async {
    var random = SimulationGenerator(seed: 1)
    let (service, shown) = (LateService(), Recorder<String>())
    let model = SearchModel(service) { shown.note($0[0]) }
    model.textDidChange("a")
    // Between these two lines nothing else runs on the main actor.
    service.answer(.max, using: &random)
    model.textDidChange("ab")
    for _ in 0..<100 { await Task.yield() }
    #expect(shown.events.isEmpty)
    service.answer(.max, using: &random)
    #expect(await eventually { !shown.events.isEmpty })
    #expect(shown.events == ["ab"])
  }

  @Test("K13: an old result that comes after a newer one, from an async service, is not shown")
  @MainActor func asyncService() async {
    let model = AsyncSearchModel()
    let (old, asked, ended) = (Gate(), Gate(), Gate())
    model.textDidChange("a") { text in
      asked.open()
      await old.wait()  // looks at no cancel
      defer { ended.open() }
      return [text]
    }
    await asked.wait()
    model.textDidChange("ab") { text in [text] }
    #expect(await eventually { !model.results.isEmpty })
    #expect(model.results == ["ab"])
    old.open()
    await ended.wait()
    for _ in 0..<100 { await Task.yield() }
    #expect(model.results == ["ab"])
  }

  @Test("K13: the search in flight is cancelled when the model goes")
  @MainActor func modelGoes() {
    let service = LateService()
    var model: SearchModel? = SearchModel(service) { _ in }
    model?.textDidChange("a")
    model = nil
    #expect(service.cancelled.value == 1)
  }
}
