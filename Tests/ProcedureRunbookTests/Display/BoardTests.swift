import Testing

@testable import ProcedureRunbook

@Suite("The board")
struct BoardTests {
  private let start = ContinuousClock.now
  private let plain = Style(isColoured: false)

  @Test("the table has step, outcome and duration of every step, and a line that sums up")
  func table() {
    var board = Board(["a", "long name", "c", "d"], start: start)
    board.started("a", at: start)
    board.ended("a", .succeeded, at: start + .milliseconds(1250))
    board.started("long name", at: start)
    board.ended("long name", .failed("exited with status 3"), at: start + .seconds(75))
    board.ended("c", .skipped(after: "long name"), at: start + .seconds(75))
    #expect(!board.allSucceeded)
    #expect(
      board.table(at: start + .seconds(76), width: nil, style: plain) == [
        "Step       Outcome                                 Duration",
        "a          succeeded                                 1.25 s",
        "long name  failed: exited with status 3          1 min 15 s",
        "c          skipped: 'long name' did not succeed           –",
        "d          not run                                        –",
        "",
        "4 steps in 1 min 16 s: 1 succeeded, 1 failed, 1 skipped, 1 not run",
      ])
  }

  @Test("what was not needed counts as a success, with a word of its own")
  func notNeeded() {
    var board = Board(["a", "b"], start: start)
    board.ended("a", .notNeeded, at: start)
    board.ended("b", .succeeded, at: start)
    #expect(board.allSucceeded)
    let lines = board.table(at: start, width: nil, style: plain)
    #expect(lines[1] == "a     not needed         –")
    #expect(lines.last == "2 steps in 0.00 s: 1 succeeded, 1 not needed")
  }

  @Test("names are cut so that the table fits a terminal")
  func narrowTable() {
    var board = Board([String(repeating: "x", count: 100)], start: start)
    board.started(String(repeating: "x", count: 100), at: start)
    board.ended(String(repeating: "x", count: 100), .succeeded, at: start)
    let lines = board.table(at: start, width: 40, style: plain)
    #expect(lines[1] == "xxxxxxxxxxxxxxxxxx…  succeeded    0.00 s")
  }

  @Test("there is a live line for each running step with its time, and a bar with the whole")
  func live() {
    var board = Board(["a", "b", "c", "d"], start: start)
    board.started("a", at: start)
    board.ended("a", .succeeded, at: start)
    board.started("b", at: start)
    board.started("c", at: start + .seconds(1))
    board.stopping("c")
    let lines = board.liveLines(
      at: start + .seconds(2), fraction: 0.25, width: 60, height: 24, style: plain)
    #expect(
      lines == [
        "⠋ b                                 2.00 s",
        "⠋ c, stopping                       1.00 s",
        "███████░░░░░░░░░░░░░░░░░░░░░░░ 1/4 steps, 2 running, 2.00 s",
      ])
  }

  @Test("no live line is wider than the terminal, and there are never more than fit")
  func bounds() {
    let names = (0..<50).map { "step \($0) " + String(repeating: "x", count: 100) }
    for width in [1, 10, 40, 80, 200] {
      var board = Board(names, start: start)
      for name in names { board.started(name, at: start) }
      let lines = board.liveLines(
        at: start + .seconds(5), fraction: 0.5, width: width, height: 10, style: plain)
      #expect(lines.count <= 9)
      if width >= 40 { #expect(lines.allSatisfy { $0.count <= width }) }
    }
  }

  @Test("durations are as precise as a reader wants them")
  func durations() {
    #expect(Duration.milliseconds(1).text == "0.00 s")
    #expect(Duration.milliseconds(1054).text == "1.05 s")
    #expect(Duration.milliseconds(12_345).text == "12.3 s")
    #expect(Duration.seconds(125).text == "2 min 05 s")
  }

  @Test("all succeeded only when every step did")
  func allSucceeded() {
    var board = Board(["a"], start: start)
    #expect(!board.allSucceeded)
    board.ended("a", .succeeded, at: start)
    #expect(board.allSucceeded)
  }
}
