import Procedures
import ProcedureTestSupport
import Testing

/// Stands for a client that is called with `async`, and with a completion handler.
private struct Client: Sendable {
  func load(_ path: String) async throws -> String { path }

  func load(_ path: String, completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
    completion(.success(path))
  }
}

@MainActor private final class Label {
  var text = ""
}

private let client = Client()

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

@Suite("Listings of the guide Asynchronous closures")
struct AsyncListings {
  private let queue = ProcedureQueue()
  private let client = Client()

  @Test("an async closure as a procedure")
  func tasks() async throws {
    let client = client
    // listing: async-procedure
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

  @Test("a body on the actor that it is written on")
  func isolated() async {
    let player = Jukebox()
    let play = await player.play("song", on: queue)
    #expect(await play.waitUntilFinished() == .succeeded)
    #expect(await player.played == 1)
  }

  @Test("a completion handler")
  func handles() async throws {
    let client = client
    // listing: async-handle
    let page = AsyncResultProcedure<String>(.callback) { finish in
      client.load("/index.html") { result in finish(result) }
    }
    // end
    #expect(try await queue.value(of: page) == "/index.html")
  }

  @Test("the main actor")
  func mainActor() async {
    let label = Label()
    let page = AsyncResultProcedure { "text" }
    // listing: async-main-actor
    let show = MainActorProcedure { label.text = "loaded" }
    show.add(dependency: page)
    let title = AsyncResultProcedure { @MainActor in label.text }
    title.add(dependency: show)
    // end
    queue.add(page, show, title)
    #expect(try! await title.value == "loaded")
  }

  @Test("a structured queue")
  func structured() async throws {
    let output = Recorder<String>()
    func print(_ item: Any) { output.note("\(item)") }
    let client = client
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

  @Test("events")
  func events() async {
    let output = Recorder<String>()
    func print(_ item: Any) { output.note("\(item)") }
    let procedure = BlockProcedure {}
    // listing: async-events
    let events = procedure.events
    queue.add(procedure)
    for await event in events {
      if case .didFinish(let errors) = event { print("\(errors.count) errors") }
    }
    // end
    #expect(output.events == ["0 errors"])
  }
}
