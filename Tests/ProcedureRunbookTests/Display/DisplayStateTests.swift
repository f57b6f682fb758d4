import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// Where output is no terminal.
@Suite("The state of the display", .hangLimit)
struct DisplayStateTests {
  private let start = ContinuousClock.now

  private func state(_ names: [Name] = ["a"]) -> DisplayState {
    DisplayState(
      names, terminal: Terminal(isLive: false, hasColours: false), isQuiet: false, at: start)
  }

  private func text(_ frame: DisplayState.Frame) -> String {
    String(decoding: frame.bytes, as: UTF8.self)
  }

  @Test("an event is news once, and is in the next frame")
  func news() {
    var state = state()
    #expect(!state.hasNews)
    let hadWork = state.looks { $0.hasWork(whilePaused: false) }
    #expect(!hadWork)
    state.started("a", at: start)
    #expect(state.hasNews)
    let hasWork = state.looks { $0.hasWork(whilePaused: false) }
    #expect(hasWork)
    #expect(!state.hasNews)
    let frame = state.takeFrame(at: start)
    #expect(text(frame) == "started    a\n")
    #expect(!state.hasWork(whilePaused: false))
  }

  @Test("output beyond the capacity waits for the frame; a step's own messages do not")
  func room() {
    var state = state()
    let called = Counter()
    let line = String(repeating: "x", count: DisplayState.capacity)
    let hasRoom = state.print([Array(line.utf8)[...]], of: "a") { _ = called.increment() }
    #expect(!hasRoom)
    state.ended("a", .succeeded, after: nil)
    #expect(state.isUrgent)
    let frame = state.takeFrame(at: start)
    let (completions, isOver) = state.written(frame, isPaused: false)
    for completion in completions { completion() }
    #expect(called.value == 1 && !isOver)
    #expect(text(frame).hasSuffix("succeeded  a\n"))
    let hasRoomAgain = state.print([Array("y".utf8)[...]], of: "a") {}
    #expect(hasRoomAgain)
  }

  @Test("a pause is reported when its frame is written, and holds back all but the end")
  func pause() {
    var state = state()
    let called = Counter()
    state.pause { _ = called.increment() }
    #expect(state.hasWork(whilePaused: false) && state.hasWork(whilePaused: true))
    let frame = state.takeFrame(at: start)
    #expect(frame.isPaused && !frame.isLast)
    for completion in state.written(frame, isPaused: true).completions { completion() }
    #expect(called.value == 1)
    state.started("a", at: start)
    #expect(!state.hasWork(whilePaused: true))
    state.resume()
    #expect(state.hasWork(whilePaused: true))
    state.pause {}
    state.finish(failures: [], ["a note"], at: start)
    let last = state.takeFrame(at: start)
    #expect(last.isLast && !last.isPaused)
    #expect(text(last).contains("a note\n1 step in "))
    let isOver = state.written(last, isPaused: false).isOver
    #expect(isOver)
  }

  @Test(
    "the end says what failed, notes, the last output of that, and the sum; quiet, a success says nothing"
  )
  func end() {
    var state = state(["a", "b"])
    state.ended("a", .succeeded, after: .zero)
    state.ended("b", .failed("no"), after: .zero, attempts: 2)
    _ = state.takeFrame(at: start)
    state.finish(failures: [("b", ["why"])], ["a note"], at: start)
    #expect(
      text(state.takeFrame(at: start)) == """

        Step  Outcome                 Duration
        b     failed: no, 2 attempts    0.00 s

        a note

        last output of b:
          why

        2 steps in 0.00 s: 1 succeeded, 1 failed

        """)
    for (outcome, notes, said) in [
      (StepOutcome.succeeded, [], ""), (.upToDate, ["asked"], "asked\n"),
      (.cancelled, [], "1 step in 0.00 s: 1 cancelled\n"),
    ] as [(StepOutcome, [String], String)] {
      var quiet = DisplayState(
        ["a"], terminal: Terminal(isLive: false, hasColours: false), isQuiet: true, at: start)
      quiet.ended("a", outcome, after: .zero)
      quiet.finish(failures: [], notes, at: start)
      #expect(text(quiet.takeFrame(at: start)) == said)
    }
  }

  @Test("all waiting steps go on when nothing can be written any more")
  func failure() {
    var state = state()
    let line = String(repeating: "x", count: DisplayState.capacity)
    let hasRoom = state.print([Array(line.utf8)[...]], of: "a") {}
    #expect(!hasRoom)
    state.pause {}
    let frame = state.takeFrame(at: start)
    state.failed(.refused("No space left on device"))
    let completions = state.written(frame, isPaused: false).completions
    #expect(completions.count == 2)
    let goesOn = state.print([Array(line.utf8)[...]], of: "a") {}
    #expect(goesOn)
    let next = state.takeFrame(at: start)
    #expect(next.bytes.isEmpty)
  }

  @Test(
    "a reader that takes nothing is given up only when patience is lost, from its last progress on")
  func patience() {
    var state = state()
    func mayGoOn(_ hasProgressed: Bool, after seconds: Double) -> Bool {
      state.mayGoOn(hasProgressed: hasProgressed, at: start + .seconds(seconds))
    }
    #expect(mayGoOn(false, after: 1000))
    state.lose(patience: .seconds(2), at: start)
    #expect(mayGoOn(false, after: 1))
    #expect(mayGoOn(true, after: 1.5))
    #expect(mayGoOn(false, after: 3.4))
    #expect(!mayGoOn(false, after: 3.5))
  }
}
