// listing: async-procedure
import Procedures
// end
import ProcedureTestSupport
import Testing

// listing: async-procedure
/// Stands for a client that is called with `async`, and with a completion handler.
nonisolated struct Client: Sendable {
  func load(_ path: String) async throws -> String { path }

  func load(_ path: String, completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
    completion(.success(path))
  }
}

let client = Client()
// end

// listing: async-main-actor
@MainActor final class Label {
  var text = ""
}
// end

// listing: async-isolated
@MainActor final class Jukebox {
  private(set) var played = 0

  func play(_ song: String, on queue: ProcedureQueue) -> AsyncProcedure {
    let play = AsyncProcedure {
      _ = try await client.load(song)
      played += 1
    }
    queue.add(play)
    return play
  }
}
// end

@Suite("Listings of the guide Asynchronous closures", .hangLimit)
struct AsyncListings {
  private let queue = ProcedureQueue()

  @Test("an async closure is a procedure")
  func tasks() async throws {
    // listing: async-procedure
    let queue = ProcedureQueue()
    let page = AsyncResultProcedure { try await client.load("/index.html") }
    let length = AsyncTransformProcedure<String, Int> { text in
      await Task.yield()
      return text.count
    }
    length.injectResult(from: page)
    let ping = AsyncProcedure { _ = try await client.load("/ping") }
    queue.add(page, length, ping)
    // end
    #expect(try await length.value == 11)
    #expect(await ping.waitUntilFinished() == .succeeded)
  }

  @Test("a body runs on the actor that it is written on")
  func isolated() async {
    let player = Jukebox()
    let play = await player.play("song", on: queue)
    #expect(await play.waitUntilFinished() == .succeeded)
    #expect(await player.played == 1)
  }

  @Test("a completion handler ends the procedure")
  func handles() async throws {
    // listing: async-handle
    let home = AsyncResultProcedure<String>(.callback) { finish in
      client.load("/index.html") { result in finish(result) }
    }
    // end
    #expect(try await queue.value(of: home) == "/index.html")
  }

  @Test("a closure on the main actor runs there")
  @MainActor func mainActor() async throws {
    let page = AsyncResultProcedure { "text" }
    // listing: async-main-actor
    let label = Label()
    let show = MainActorProcedure { label.text = "loaded" }
    show.add(dependency: page)
    let title = AsyncResultProcedure { @MainActor in label.text }
    title.add(dependency: show)
    queue.add(show, title)
    // end
    queue.add(page)
    #expect(try await title.value == "loaded")
  }

  @Test("a structured queue waits for all that it got")
  func structured() async throws {
    let output = Recorder<String>()
    func print(_ item: Any) { output.note("\(item)") }
    // listing: async-structured
    let total = try await withProcedureQueue(maxConcurrentProcedureCount: 4) { queue in
      let pages = ["/a", "/b"].map { path in
        AsyncResultProcedure { try await client.load(path) }
      }
      queue.add(pages)
      let texts = try await queue.value(of: pages.gathered())
      return texts.reduce(0) { sum, text in sum + text.count }
    }
    print(total)
    // end
    #expect(output.events == ["4"])
  }

  @Test("the events of a procedure are a sequence")
  func events() async {
    let output = Recorder<String>()
    func print(_ item: Any) { output.note("\(item)") }
    // listing: async-events
    let save = BlockProcedure(name: "save") {}
    let events = save.events
    queue.add(save)
    for await event in events {
      if case .didFinish(let errors) = event { print("\(errors.count) errors") }
    }
    // end
    #expect(output.events == ["0 errors"])
  }
}
