import Foundation
import ProceduresFoundation

/// Shows a run while it goes on: live lines on a terminal, plain lines elsewhere.
///
/// One thread of its own writes. What happens is counted, and text waits for that thread, at most as
/// much as `capacity`: then those who have output to show wait as well, so that a step is not faster
/// than the reader of all this. Live lines are drawn from the counters, ten times a second, however much happens.
///
/// 1. All state is guarded by `condition`. The thread writes, and calls completions, without holding
///    it.
/// 2. Only output waits for room. What a step says of itself, a line when it starts and one when it
///    ends, does not: of those there are no more than the plan has steps.
final class Display: @unchecked Sendable {
  private static let capacity = 1 << 18
  private static let frameDuration = 0.1

  private let condition = NSCondition()
  private let terminal: Terminal
  private let isQuiet: Bool
  private let style: Style
  private let writer = PatientWriter(STDOUT_FILENO)

  private var board: Board
  private var pending: [UInt8] = []
  private var liveLineCount = 0
  private var isCursorHidden = false
  private var pauses = 0
  private var whenPaused: [@Sendable () -> Void] = []
  private var whenRoom: [@Sendable () -> Void] = []
  private var isFinishing = false
  private var isFinished = false
  /// Set when nothing more can be written: from then on all is thrown away.
  private var failure: PatientWriter.Failure?
  /// For how long the reader may take nothing; nil for ever.
  private var patience: Duration?
  private var lastProgress = ContinuousClock.now

  init(_ names: [String], terminal: Terminal, isQuiet: Bool) {
    self.terminal = terminal
    self.isQuiet = isQuiet
    style = Style(isColoured: terminal.hasColours)
    board = Board(names, start: .now)
  }

  /// Starts the thread; false if the system has none to give.
  func start() -> Bool { BackgroundThread.start { self.run() } }

  // MARK: What happens

  func started(_ name: String, at instant: ContinuousClock.Instant) {
    condition.withLock {
      board.started(name, at: instant)
      if !isQuiet, !terminal.isLive { note("started    \(name.visible)") }
    }
  }

  func stopping(_ name: String) { condition.withLock { board.stopping(name) } }

  func ended(_ name: String, _ outcome: StepOutcome, after duration: Duration?) {
    condition.withLock {
      board.ended(name, outcome, after: duration)
      guard !isQuiet else { return }
      let word = style.colour(outcome, outcome.word.rightPadded(to: 10))
      let reason = outcome.reason.map { ": \($0)" } ?? ""
      let time = duration.map { style.faint(" (\($0.text))") } ?? ""
      note("\(word) \(name.visible)\(reason)\(time)")
    }
  }

  /// Shows lines of a step's output; `completion` is called when there is room for more.
  func print(_ lines: [String], of name: String, _ completion: @escaping @Sendable () -> Void) {
    let hasRoom = condition.withLock {
      show(lines, of: name)
      guard pending.count > Self.capacity, failure == nil else { return true }
      whenRoom.append(completion)
      condition.broadcast()
      return false
    }
    if hasRoom { completion() }
  }

  // MARK: Pauses

  /// Leaves the terminal to others; `completion` is called when nothing is drawn on it any more.
  func pause(_ completion: @escaping @Sendable () -> Void) {
    condition.withLock {
      pauses += 1
      whenPaused.append(completion)
      condition.broadcast()
    }
  }

  func resume() {
    condition.withLock {
      pauses -= 1
      condition.broadcast()
    }
  }

  // MARK: The end

  /// From now on a reader that takes nothing for so long is given up.
  func lose(patience: Duration) {
    condition.withLock {
      self.patience = patience
      lastProgress = .now
      condition.broadcast()
    }
  }

  /// Ends the live lines, prints the last output of failed steps and the table.
  ///
  /// Returns why not all could be written, if that is so.
  func finish(failures: [(name: String, output: [String])]) -> PatientWriter.Failure? {
    condition.withLock {
      var lines: [String] = []
      for (name, output) in failures {
        let name = name.visible
        let head = output.isEmpty ? "\(name) wrote nothing" : "last output of \(name):"
        lines += ["", style.red(head)]
        lines += output.map { "  \(terminal.isLive ? $0.withoutTerminalCommands : $0)" }
      }
      lines += isQuiet && failures.isEmpty ? [] : [""]
      lines += board.table(
        at: .now, width: terminal.isLive ? terminal.size.width : nil, style: style)
      for line in lines { note(line) }
      isFinishing = true
      condition.broadcast()
      while !isFinished { condition.wait() }
      return failure
    }
  }

  // MARK: With the lock held

  private func show(_ lines: [String], of name: String) {
    guard !isQuiet, !lines.isEmpty else { return }
    let prefix = style.faint("\(name.visible.cut(to: 30)) |")
    for line in lines {
      note("\(prefix) \(terminal.isLive ? line.withoutTerminalCommands : line)")
    }
  }

  private func note(_ line: String) {
    guard failure == nil else { return }
    pending += line.utf8
    pending.append(0x0A)
    // Live lines are drawn at their own pace.
    if !isLive { condition.broadcast() }
  }

  private var isLive: Bool { terminal.isLive && !isQuiet }

  /// What is to be written next: lines above the live ones, and these anew, so that nothing flickers.
  private func takeFrame() -> [UInt8] {
    var bytes = Array(erasure.utf8) + pending
    pending = []
    liveLineCount = 0
    let isDrawing = isLive && pauses == 0 && !isFinishing
    if isDrawing {
      let (width, height) = terminal.size
      let lines = board.liveLines(at: .now, width: width, height: height, style: style)
      for line in lines { bytes += "\(line)\n".utf8 }
      liveLineCount = lines.count
    }
    if isDrawing != isCursorHidden {
      bytes += (isDrawing ? "\u{1B}[?25l" : "\u{1B}[?25h").utf8
      isCursorHidden = isDrawing
    }
    return bytes
  }

  private var erasure: String { liveLineCount == 0 ? "" : "\u{1B}[\(liveLineCount)A\r\u{1B}[J" }

  // MARK: The thread

  private func run() {
    var isPaused = false
    while true {
      condition.lock()
      // Paused, it shows nothing; but what ends must end.
      while !isFinishing, isPaused ? pauses > 0 && whenPaused.isEmpty : !hasSomethingToShow {
        condition.wait()
      }
      isPaused = pauses > 0 && !isFinishing
      let bytes = takeFrame()
      let isLast = isFinishing
      condition.unlock()

      if !write(bytes) { isPaused = false }

      condition.lock()
      var completions = isPaused || failure != nil || isLast ? whenPaused : []
      whenPaused.removeFirst(completions.count)
      if pending.count <= Self.capacity {
        completions += whenRoom
        whenRoom = []
      }
      if isLast, pending.isEmpty { isFinished = true }
      let isOver = isFinished
      if isOver { condition.broadcast() }
      condition.unlock()
      for completion in completions { completion() }
      if isOver { return }

      guard isLive, !isPaused else { continue }
      condition.withLock {
        let next = Date(timeIntervalSinceNow: Self.frameDuration)
        while !isFinishing, whenPaused.isEmpty, pending.count <= Self.capacity,
          condition.wait(until: next)
        {}
      }
    }
  }

  private var hasSomethingToShow: Bool {
    isLive || !pending.isEmpty || !whenPaused.isEmpty
  }

  /// False when it is not written, and nothing will be from now on.
  private func write(_ bytes: [UInt8]) -> Bool {
    guard condition.withLock({ failure == nil }) else { return false }
    do throws(PatientWriter.Failure) {
      try writer.write(bytes, mayGoOn: mayGoOn)
      return true
    } catch {
      condition.withLock {
        failure = error
        pending = []
      }
      return false
    }
  }

  private func mayGoOn(hasProgressed: Bool) -> Bool {
    condition.withLock {
      let now = ContinuousClock.now
      if hasProgressed { lastProgress = now }
      guard let patience else { return true }
      return now - lastProgress < patience
    }
  }
}
