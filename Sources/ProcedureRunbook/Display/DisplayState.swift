/// The lines that are shown, the text that is still to be written, and the callers that wait for
/// it.
///
/// It knows neither threads nor descriptors: `Display` asks it what to write next.
struct DisplayState: Sendable {
  /// How much text may wait to be written before callers that have more of it wait as well.
  static let capacity = 1 << 18

  private let terminal: Terminal
  private let isQuiet: Bool
  private let style: Style
  private var board: Board
  private var pending: [UInt8] = []
  private var liveLineCount = 0
  private var isCursorHidden = false
  private var pauses = 0
  private var whenPaused: [@Sendable () -> Void] = []
  private var whenRoom: [@Sendable () -> Void] = []
  private(set) var isFinishing = false
  /// Set when nothing more can be written: from then on all is thrown away.
  private(set) var failure: PatientWriter.Failure?
  /// For how long the reader may take nothing; nil for ever.
  private var patience: Duration?
  private var lastProgress: ContinuousClock.Instant
  /// Whether something happened since the thread looked last.
  private(set) var hasNews = false

  init(
    _ names: [Name], upToDateCount: Int = 0, terminal: Terminal, isQuiet: Bool,
    at instant: ContinuousClock.Instant
  ) {
    self.terminal = terminal
    self.isQuiet = isQuiet
    style = Style(isColoured: terminal.hasColours)
    board = Board(names, upToDateCount: upToDateCount, start: instant)
    lastProgress = instant
  }

  // MARK: What happens

  mutating func started(_ name: Name, at instant: ContinuousClock.Instant) {
    board.started(name, at: instant)
    if !isQuiet, !terminal.isLive { note("started    \(name.visible)") }
  }

  mutating func ready(_ name: Name, after duration: Duration) {
    guard !isQuiet else { return }
    let word = style.green("ready".rightPadded(to: 10))
    note("\(word) \(name.visible)\(style.faint(" (\(duration.text))"))")
  }

  mutating func stopping(_ name: Name) { board.stopping(name) }

  mutating func ended(
    _ name: Name, _ outcome: StepOutcome, after duration: Duration?, attempts: Int = 1
  ) {
    board.ended(name, outcome, after: duration, attempts: attempts)
    // What is up to date is only counted.
    guard !isQuiet, outcome != .upToDate else { return }
    let word = style.colour(outcome, outcome.word.rightPadded(to: 10))
    let reason = outcome.reason.map { ": \($0)" } ?? ""
    let tries = attempts > 1 ? ", in attempt \(attempts)" : ""
    let time = duration.map { style.faint(" (\($0.text))") } ?? ""
    note("\(word) \(name.visible)\(reason)\(tries)\(time)")
  }

  mutating func again(_ name: Name, because reason: String) {
    guard !isQuiet else { return }
    note("\(style.yellow("again".rightPadded(to: 10))) \(name.visible): \(reason)")
  }

  mutating func say(_ line: String) { note(style.yellow(line.visible)) }

  /// Takes lines of a step's output; false if `completion` is kept until there is room for more.
  mutating func print(
    _ lines: [OutputLines.Line], of name: Name, isComplaint: Bool = false,
    _ completion: @escaping @Sendable () -> Void
  ) -> Bool {
    if !isQuiet || isComplaint { show(lines, of: name) }
    guard pending.count > Self.capacity, failure == nil else { return true }
    whenRoom.append(completion)
    hasNews = true
    return false
  }

  mutating func pause(_ completion: @escaping @Sendable () -> Void) {
    pauses += 1
    whenPaused.append(completion)
    hasNews = true
  }

  mutating func resume() {
    pauses -= 1
    hasNews = true
  }

  mutating func lose(patience: Duration, at instant: ContinuousClock.Instant) {
    self.patience = patience
    lastProgress = instant
  }

  /// Ends the live lines, and adds what there is to say of the whole run.
  ///
  /// In this order, so that a reader finds the reason at the end: the table of failed steps, notes, the last
  /// output of failed steps, and a line that sums up. Quiet, a success says only what was asked for.
  mutating func finish(
    failures: [(name: Name, output: [String])], _ notes: [String],
    at instant: ContinuousClock.Instant
  ) {
    isFinishing = true
    hasNews = true
    let width = terminal.isLive ? terminal.size.width : nil
    let cutNotes = notes.map { note in width.map { note.cut(to: $0) } ?? note }
    if isQuiet, board.allSucceeded {
      for line in cutNotes { note(line) }
      return
    }
    if !isQuiet { note("") }
    let outputs = failures.map { name, output in
      let head =
        output.isEmpty ? "\(name.visible) wrote nothing" : "last output of \(name.visible):"
      let shown = output.map { "  \(terminal.isLive ? $0.withoutTerminalCommands : $0)" }
      return [style.bold(style.red(head))] + shown
    }
    for part in [board.table(width: width, style: style), cutNotes] + outputs where !part.isEmpty {
      for line in part { note(line) }
      if !outputs.isEmpty { note("") }
    }
    note(board.summary(at: instant))
  }

  private mutating func show(_ lines: [OutputLines.Line], of name: Name) {
    guard !lines.isEmpty, failure == nil else { return }
    let prefix = Array("\(style.faint("\(name.visible.cut(to: 30)) |")) ".utf8)
    pending += Self.joined(terminal.isLive ? lines.map(Self.withoutCommands) : lines, prefix)
    // Live lines are drawn at their own pace.
    if !isLive { hasNews = true }
  }

  private static func withoutCommands(_ line: OutputLines.Line) -> OutputLines.Line {
    guard line.contains(where: { !(0x20..<0x7F).contains($0) }) else { return line }
    return Array(String(decoding: line, as: UTF8.self).withoutTerminalCommands.utf8)[...]
  }

  /// The prefix before each line, and its end behind it: in memory that is there once.
  private static func joined(_ lines: [OutputLines.Line], _ prefix: [UInt8]) -> [UInt8] {
    let size = lines.reduce(0) { $0 + prefix.count + $1.count + 1 }
    return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      for line in lines {
        count = unsafe buffer[count...].initialize(fromContentsOf: prefix)
        count = unsafe buffer[count...].initialize(fromContentsOf: line)
        unsafe buffer.initializeElement(at: count, to: 0x0A)
        count += 1
      }
    }
  }

  private mutating func note(_ line: String) {
    guard failure == nil else { return }
    pending += line.utf8
    pending.append(0x0A)
    // Live lines are drawn at their own pace.
    if !isLive { hasNews = true }
  }

  // MARK: For the thread

  /// Whether lines are drawn over.
  var isLive: Bool { terminal.isLive && !isQuiet }

  /// The thread looks: all that happens from now on is news.
  mutating func looks(_ question: (Self) -> Bool) -> Bool {
    hasNews = false
    return question(self)
  }

  /// Whether it has something to do. Paused, it shows nothing; but what ends must end.
  func hasWork(whilePaused isPaused: Bool) -> Bool {
    if isFinishing { return true }
    if isPaused { return pauses == 0 || !whenPaused.isEmpty }
    return isLive || !pending.isEmpty || !whenPaused.isEmpty
  }

  /// Whether it must not wait until it is time for the next frame.
  var isUrgent: Bool { isFinishing || !whenPaused.isEmpty || pending.count > Self.capacity }

  struct Frame: Sendable {
    var bytes: [UInt8]
    let isPaused: Bool
    /// Whether there will be no other.
    let isLast: Bool
  }

  /// The next text to write: lines above the live ones, and these anew, so that nothing flickers.
  mutating func takeFrame(at instant: ContinuousClock.Instant) -> Frame {
    let erasure = liveLineCount == 0 ? "" : "\u{1B}[\(liveLineCount)A\r\u{1B}[J"
    var bytes = Array(erasure.utf8) + pending
    pending = []
    liveLineCount = 0
    let isDrawing = isLive && pauses == 0 && !isFinishing
    if isDrawing {
      let (width, height) = terminal.size
      let lines = board.liveLines(at: instant, width: width, height: height, style: style)
      for line in lines { bytes += "\(line)\n".utf8 }
      liveLineCount = lines.count
    }
    if isDrawing != isCursorHidden {
      bytes += (isDrawing ? "\u{1B}[?25l" : "\u{1B}[?25h").utf8
      isCursorHidden = isDrawing
    }
    return Frame(bytes: bytes, isPaused: pauses > 0 && !isFinishing, isLast: isFinishing)
  }

  /// Called when a frame is written, or cannot be.
  ///
  /// - Returns: the completions to call now, and whether that was the last frame.
  mutating func written(
    _ frame: Frame, isPaused: Bool
  ) -> (completions: [@Sendable () -> Void], isOver: Bool) {
    var completions = isPaused || failure != nil || frame.isLast ? whenPaused : []
    whenPaused.removeFirst(completions.count)
    if pending.count <= Self.capacity {
      completions += whenRoom
      whenRoom = []
    }
    return (completions, frame.isLast && pending.isEmpty)
  }

  mutating func failed(_ failure: PatientWriter.Failure) {
    self.failure = failure
    pending = []
  }

  /// Whether to go on with a reader that takes nothing, or took something just now.
  mutating func mayGoOn(hasProgressed: Bool, at instant: ContinuousClock.Instant) -> Bool {
    if hasProgressed { lastProgress = instant }
    guard let patience else { return true }
    return instant - lastProgress < patience
  }
}
