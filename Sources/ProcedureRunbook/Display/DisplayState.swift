/// The lines that are shown, the text that must still be written, and the callers that wait for it.
///
/// It knows neither threads nor descriptors: `Display` asks it for the next bytes to write.
struct DisplayState: Sendable {
  /// How many bytes may wait to be written before callers with more output wait too.
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
  /// Set when nothing more can be written: later text is dropped.
  private(set) var failure: PatientWriter.Failure?
  /// How long the reader may take nothing; nil for no limit.
  private var patience: Duration?
  private var lastProgress: ContinuousClock.Instant
  /// Whether something has happened since the thread last looked.
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
    // Steps that are up to date are only counted.
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

  /// Appends lines of a step's output; false if `completion` is kept until there is room for more.
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

  /// Ends the live lines, and appends the result of the whole run.
  ///
  /// The order puts the reason at the end, where a reader looks: the table of failed steps, notes,
  /// the last output of failed steps, and the summary line. In quiet mode a success shows only the
  /// notes.
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
    // The thread draws live lines at its own pace.
    if !isLive { hasNews = true }
  }

  private static func withoutCommands(_ line: OutputLines.Line) -> OutputLines.Line {
    guard line.contains(where: { !(0x20..<0x7F).contains($0) }) else { return line }
    return Array(String(decoding: line, as: UTF8.self).withoutTerminalCommands.utf8)[...]
  }

  /// Joins the prefix, each line and a line feed, in memory that is allocated once.
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
    // The thread draws live lines at its own pace.
    if !isLive { hasNews = true }
  }

  // MARK: For the thread

  /// Whether lines are overwritten.
  var isLive: Bool { terminal.isLive && !isQuiet }

  /// The thread looks: later events are news again.
  mutating func looks(_ question: (Self) -> Bool) -> Bool {
    hasNews = false
    return question(self)
  }

  /// Whether the thread has something to do. It shows nothing in a pause, but it must notice the
  /// end.
  func hasWork(whilePaused isPaused: Bool) -> Bool {
    if isFinishing { return true }
    if isPaused { return pauses == 0 || !whenPaused.isEmpty }
    return isLive || !pending.isEmpty || !whenPaused.isEmpty
  }

  /// Whether the thread must not wait until the next frame is due.
  var isUrgent: Bool { isFinishing || !whenPaused.isEmpty || pending.count > Self.capacity }

  struct Frame: Sendable {
    var bytes: [UInt8]
    let isPaused: Bool
    let isLast: Bool
  }

  /// Returns the next bytes to write: new lines above the live lines, which are drawn again in the
  /// same write, so that nothing flickers.
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

  /// Called when a frame was written, or could not be.
  ///
  /// - Returns: the completions that must be called now, and whether that was the last frame.
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

  /// Whether to keep writing to a reader that takes nothing, or has taken something just now.
  mutating func mayGoOn(hasProgressed: Bool, at instant: ContinuousClock.Instant) -> Bool {
    if hasProgressed { lastProgress = instant }
    guard let patience else { return true }
    return instant - lastProgress < patience
  }
}
