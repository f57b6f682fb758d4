import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import ProcedureBenchmarks

/// One at a time: the tally is that of the process.
@Suite(.serialized, .hangLimit) struct ContestTests {
  @Test("each contest does its work, and finds a cost for both sides", arguments: Contest.all)
  func work(contest: Contest) async {
    // A side that leaves out an item stops the program.
    let finding = await contest.run(rounds: 1, divisor: 1_000)
    #expect((1...3).contains(finding.ours.count) && finding.ours.count == finding.theirs.count)
    // Bytes are those of the process, in which other tests run.
    guard contest.unit == .nanoseconds else {
      #expect(finding.processorTimes.isEmpty)
      return
    }
    #expect(finding.processorTimes.count == finding.ours.count)
    #expect((finding.ours + finding.theirs).allSatisfy { $0.isFinite && $0 > 0 })
  }

  @Test("no two contests have the same name")
  func names() {
    #expect(Set(Contest.all.map(\.name)).count == Contest.all.count)
  }

  @Test("both sides do their work once, and then take turns in coming first")
  func order() async {
    let log = Log()
    // Too few to decide: they go on.
    let finding = await log.contest().run(rounds: 1)
    #expect(log.text == "ab" + "ab" + "ba" + "ab")
    #expect(finding.answers == [0.5, 0.5, 0.5])
  }

  @Test("rounds go on until they decide, to three times as many; a long contest has fewer")
  func patience() async {
    let clear = Log()
    #expect(await clear.contest().run(rounds: 8).verdict == .met)
    #expect(clear.text.count == 2 + 2 * 8)
    let unclear = Log()
    #expect(await unclear.contest { $0 % 2 == 0 ? 1 : 9 }.run(rounds: 8).verdict == .tooNoisy)
    #expect(unclear.text.count == 2 + 2 * 24)
    let long = Log()
    _ = await long.contest(mostRounds: 6).run(rounds: 8)
    #expect(long.text.count == 2 + 2 * 6)
  }
}

/// In what order the sides of a contest did their work.
private final class Log: Sendable {
  private let notes = Locked("")

  var text: String { notes.withLock { $0 } }

  /// Two sides that only note it; the first costs what `cost` says, the second always 2.
  func contest(
    mostRounds: Int = .max, cost: @escaping @Sendable (_ time: Int) -> Double = { _ in 1 }
  ) -> Contest {
    Contest(
      name: "contest", ceiling: 1, mostRounds: mostRounds,
      ours: Side(measuring: "a", tally: 0) { [self] _ in
        notes.withLock { $0 += "a" }
        return cost(text.count { $0 == "a" })
      },
      theirs: Side(measuring: "b", tally: 0) { [self] _ in
        notes.withLock { $0 += "b" }
        return 2
      })
  }
}
