import Dispatch
import Foundation

/// Shows a run while it goes on: live lines on a terminal, plain lines elsewhere.
///
/// All state is confined to `queue`, because steps report from many threads.
final class Display: @unchecked Sendable {
  private let queue = DispatchQueue(label: "display")
  private let terminal: Terminal
  private let isQuiet: Bool
  private let style: Style
  private var board: Board
  private var outputs: [String: OutputLines] = [:]
  private var failures: [String] = []
  private var timer: (any DispatchSourceTimer)?
  private var liveLineCount = 0
  private var fraction: @Sendable () -> Double = { 0 }

  init(_ names: [String], terminal: Terminal, isQuiet: Bool) {
    self.terminal = terminal
    self.isQuiet = isQuiet
    style = Style(isColoured: terminal.hasColours)
    board = Board(names, start: .now)
  }

  /// Starts the live lines, on a terminal.
  func start() {
    guard terminal.isLive, !isQuiet else { return }
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler { @Sendable [weak self] in self?.print([]) }
    timer.schedule(deadline: .now(), repeating: .milliseconds(100))
    queue.sync { self.timer = timer }
    terminal.write("\u{1B}[?25l")
    timer.activate()
  }

  /// Sets what says how much of the plan is done; asked whenever the live lines are drawn.
  func showProgress(_ fraction: @escaping @Sendable () -> Double) {
    queue.async { self.fraction = fraction }
  }

  func started(_ name: String) {
    queue.async { [self] in
      board.started(name, at: .now)
      if !isQuiet, !terminal.isLive { print(["started    \(name)"]) }
    }
  }

  func stopping(_ name: String) { queue.async { self.board.stopping(name) } }

  /// Returns when the output is written: a step is not faster than whoever reads it.
  func output(_ data: Data, of name: String) {
    queue.sync {
      let lines = outputs[name, default: OutputLines()].append(data)
      printOutput(lines, of: name)
    }
  }

  func ended(_ name: String, _ outcome: StepOutcome) {
    queue.async { [self] in
      let lines = outputs[name]?.end() ?? []
      printOutput(lines, of: name)
      let duration = board.ended(name, outcome, at: .now)
      if outcome.isFailure { failures.append(name) } else { outputs[name] = nil }
      guard !isQuiet else { return }
      let word = style.colour(outcome, outcome.word.rightPadded(to: 10))
      let reason = outcome.reason.map { ": \($0)" } ?? ""
      let time = duration.map { style.faint(" (\($0.text))") } ?? ""
      print(["\(word) \(name)\(reason)\(time)"])
    }
  }

  /// Ends the live lines, prints the last output of failed steps and the table.
  ///
  /// Returns whether all steps succeeded.
  func finish() -> Bool {
    queue.sync {
      timer?.cancel()
      if timer != nil { erase(showingCursor: true) }
      timer = nil
      var lines: [String] = []
      for name in failures {
        let output = outputs[name]?.last ?? []
        lines += [
          "", style.red(output.isEmpty ? "\(name) wrote nothing" : "last output of \(name):"),
        ]
        lines += output.map { "  \($0)" }
      }
      lines += isQuiet && failures.isEmpty ? [] : [""]
      lines += board.table(
        at: .now, width: terminal.isLive ? terminal.size.width : nil, style: style)
      terminal.write(lines.map { $0 + "\n" }.joined())
      return board.allSucceeded
    }
  }

  // MARK: On the queue

  private func printOutput(_ lines: [String], of name: String) {
    guard !isQuiet, !lines.isEmpty else { return }
    let prefix = style.faint("\(name.cut(to: 30)) |")
    print(lines.map { "\(prefix) \($0)" })
  }

  /// Prints lines above the live ones, and these anew, in one write: nothing flickers.
  private func print(_ lines: [String]) {
    var text = lines.map { $0 + "\n" }.joined()
    if timer != nil {
      let (width, height) = terminal.size
      let live = board.liveLines(
        at: .now, fraction: fraction(), width: width, height: height, style: style)
      text = erasure + text + live.map { $0 + "\n" }.joined()
      liveLineCount = live.count
    }
    terminal.write(text)
  }

  private func erase(showingCursor: Bool) {
    terminal.write(erasure + (showingCursor ? "\u{1B}[?25h" : ""))
    liveLineCount = 0
  }

  private var erasure: String { liveLineCount == 0 ? "" : "\u{1B}[\(liveLineCount)A\r\u{1B}[J" }
}
