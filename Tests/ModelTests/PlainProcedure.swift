#if MODEL
  @testable import Procedures

  /// Notes its own events without a lock; finishes by itself, or when the test finishes or cancels
  /// it.
  final class PlainProcedure: Procedure, PauseOfAttempts, @unchecked Sendable {
    var needsNoSlot = false
    private let log = PlainLog<String>()
    private let finishesItself: Bool
    private let running: PlainCounter
    private let isRunning = Plain(false)

    /// - Parameter running: counts those that execute and have not finished.
    init(finishesItself: Bool = true, running: PlainCounter = PlainCounter()) {
      self.finishesItself = finishesItself
      self.running = running
    }

    /// One that executes until the test finishes it, or it is cancelled.
    static func lasting(running: PlainCounter = PlainCounter()) -> PlainProcedure {
      PlainProcedure(finishesItself: false, running: running)
    }

    var hasExecuted: Bool { log.events.contains("execute") }

    override func execute() {
      log.events.append("execute")
      isRunning.value = true
      running.value += 1
      if finishesItself { finish() }
    }
    override func procedureDidCancel(withErrors errors: [any Error]) {
      log.events.append("didCancel")
      if isExecuting { finish() }
    }
    override func procedureWillFinish(withErrors errors: [any Error]) {
      log.events.append("willFinish")
    }
    override func procedureDidFinish(withErrors errors: [any Error]) {
      log.events.append("didFinish")
      if isRunning.value { running.value -= 1 }
    }

    /// That it has finished, once, after everything else, and was called for a cancel if there was
    /// one.
    func checkLife() throws {
      let events = log.events
      try require(isFinished, "not finished: \(events)")
      try require(events.filter { $0 == "didFinish" }.count == 1, "\(events)")
      try require(events.suffix(2) == ["willFinish", "didFinish"], "\(events)")
      try require(isCancelled == events.contains("didCancel"), "\(events)")
      try require(isCancelled || events.first == "execute", "\(events)")
    }
  }

  func checkLives(_ procedures: PlainProcedure...) throws {
    for procedure in procedures { try procedure.checkLife() }
  }
#endif
