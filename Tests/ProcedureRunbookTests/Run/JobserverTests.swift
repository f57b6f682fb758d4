import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("A jobserver", .hangLimit)
struct JobserverTests {
  private final class Log: Sendable {
    private let entries = Locked<[String]>([])
    func note(_ entry: String) { entries.withLock { $0.append(entry) } }
    var all: [String] { entries.withLock { $0 } }
  }

  @Test("steps get tokens in their order, as many as they use processors")
  func order() async throws {
    let server = try #require(Jobserver(jobs: 3))
    let log = Log()
    _ = server.take(1) { log.note("a \($0)") }
    _ = server.take(2) { log.note("b \($0)") }
    _ = server.take(2) { log.note("c \($0)") }
    _ = server.take(1) { log.note("d \($0)") }
    #expect(log.all == ["a true", "b true"])
    server.giveBack(1)
    #expect(log.all.count == 2)
    // The thread that watches the pipe may be the one that begins a step.
    server.giveBack(1)
    #expect(await eventually { log.all == ["a true", "b true", "c true"] })
    server.giveBack(1)
    #expect(await eventually { log.all == ["a true", "b true", "c true", "d true"] })
    server.giveBack(2)
    server.giveBack(1)
    // All is there again, and what wants more than there is gets all.
    _ = server.take(7) { log.note("e \($0)") }
    #expect(await eventually { log.all.last == "e true" })
  }

  @Test(
    "a step that is cancelled while it waits begins without tokens, and gives back those it had")
  func abandon() async throws {
    let server = try #require(Jobserver(jobs: 2))
    let log = Log()
    _ = server.take(1) { log.note("a \($0)") }
    let number = server.take(2) { log.note("b \($0)") }
    _ = server.take(1) { log.note("c \($0)") }
    #expect(log.all == ["a true"])
    server.abandon(number)
    // The thread that watches the pipe may be the one that begins the third.
    #expect(await eventually { log.all == ["a true", "b false", "c true"] })
    server.abandon(number)
    #expect(log.all.count == 3)
  }
}
