import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("The board", .hangLimit)
struct BoardTests {
  private let start = ContinuousClock.now
  private let plain = Style(isColoured: false)

  @Test("the table has step, outcome and duration of what failed; a line sums up all")
  func table() {
    var board = Board(["a", "long name", "c", "d", "e"], start: start)
    board.started("a", at: start)
    board.ended("a", .succeeded, after: .milliseconds(1250))
    board.started("long name", at: start)
    board.ended("long name", .failed("exited with status 3"), after: .seconds(75))
    board.ended("c", .skipped(after: "long name"), after: nil)
    board.ended("e", .timedOut(.seconds(2)), after: .seconds(2), attempts: 3)
    #expect(!board.allSucceeded)
    #expect(
      board.table(width: nil, style: plain) == [
        "Step       Outcome                                    Duration",
        "long name  failed: exited with status 3             1 min 15 s",
        "e          timed out: more than 2.00 s, 3 attempts      2.00 s",
      ])
    #expect(
      board.summary(at: start + .seconds(76))
        == "5 steps in 1 min 16 s: 1 succeeded, 1 failed, 1 timed out, 1 skipped, 1 not run")
  }

  @Test("a step that was not needed counts as a success, with a word of its own")
  func notNeeded() {
    var board = Board(["a", "b"], upToDateCount: 3, start: start)
    board.ended("a", .notNeeded(nil), after: nil)
    board.ended("b", .succeeded, after: .zero)
    #expect(board.allSucceeded)
    #expect(board.table(width: nil, style: plain).isEmpty)
    #expect(board.summary(at: start) == "5 steps in 0.00 s: 1 succeeded, 4 not needed")
  }

  @Test("names are cut so that the table fits a terminal")
  func narrowTable() {
    let name = Name(String(repeating: "x", count: 100))
    var board = Board([name], start: start)
    board.started(name, at: start)
    board.ended(name, .failed("no"), after: .zero)
    let lines = board.table(width: 40, style: plain)
    #expect(lines[1] == "xxxxxxxxxxxxxxxxx…  failed: no    0.00 s")
  }

  @Test("there is a live line for each running step with its time, and a bar with the whole")
  func live() {
    var board = Board(["a", "b", "c", "d"], start: start)
    board.started("a", at: start)
    board.ended("a", .succeeded, after: .zero)
    board.started("b", at: start)
    board.started("c", at: start + .seconds(1))
    board.stopping("c")
    let lines = board.liveLines(
      at: start + .seconds(2), width: 60, height: 24, style: plain)
    #expect(
      lines == [
        "⠋ b                                 2.00 s",
        "⠋ c, stopping                       1.00 s",
        "███████░░░░░░░░░░░░░░░░░░░░░░░ 1/4 steps, 2 running, 2.00 s",
      ])
  }

  @Test(
    "nothing drawn is wider or higher than the terminal, whatever the names and however small it is",
    arguments: [1, 2, 5, 12, 13, 14, 18, 30, 40, 80, 200], [1, 2, 3, 4, 10, 24])
  func bounds(width: Int, height: Int) {
    let names = (0..<50).map {
      ["step \($0)", "日本語の長い名前 \($0)", "👨‍👩‍👧 \($0)", "a\tb\u{1B}[2J\n\($0)", "e\u{301} \($0)"][$0 % 5]
        + String(repeating: "x", count: $0)
    }.map { Name($0) }
    for count in [1, 2, 5, 50] {
      var board = Board(names, start: start)
      for name in names.prefix(count) { board.started(name, at: start) }
      board.stopping(names[0])
      let lines = board.liveLines(
        at: start + .seconds(5), width: width, height: height, style: plain)
      #expect(lines.count < max(height, 2))
      for line in lines {
        #expect(line.columns <= max(width - 1, 1), "\(line)")
        #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
      }
    }
  }

  @Test("columns are padded and cut by the width that a terminal gives them")
  func widths() {
    #expect("日本".columns == 4 && "e\u{301}".columns == 1 && "😀".columns == 2 && "ab".columns == 2)
    #expect("日本語".cut(to: 5) == "日本…" && "日本語".cut(to: 4) == "日…" && "日本語".cut(to: 6) == "日本語")
    #expect("日本".rightPadded(to: 6) == "日本  " && "日本".leftPadded(to: 6) == "  日本")
    #expect("a\tb\u{1B}c\u{7F}\u{202E}".visible == "a␉b␛c␡\u{FFFD}")
    var board = Board(["日本", "abcde"], start: start)
    for name: Name in ["日本", "abcde"] { board.ended(name, .failed("no"), after: .zero) }
    let lines = board.table(width: nil, style: plain)
    #expect(lines[1] == "日本   failed: no    0.00 s" && lines[2] == "abcde  failed: no    0.00 s")
  }

  @Test("a line of output keeps its colours on a terminal, and nothing that moves the cursor")
  func terminalCommands() {
    let line = "\u{1B}[31mred\u{1B}[0m\u{1B}[2J\u{1B}[5A\u{7}a\tb"
    #expect(line.withoutTerminalCommands == "\u{1B}[31mred\u{1B}[0ma    b")
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
    board.ended("a", .succeeded, after: .zero)
    #expect(board.allSucceeded)
  }
}
