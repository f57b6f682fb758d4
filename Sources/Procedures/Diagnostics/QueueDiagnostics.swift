internal import ProcedurePrimitives

/// What a queue reports, to which handler, and after how long; and the search for waits that never end.
final class QueueDiagnostics: QueueSupervisor, @unchecked Sendable {
  typealias Handler = @Sendable (ProcedureDiagnostic) -> Void

  private struct Settings: Sendable {
    var queueName = "ProcedureQueue"
    var handler: Handler?
    var refusalRecorder: Handler?
    var gracePeriod: Duration?
    var waitReportDelay: Duration? = .seconds(10)
  }

  private let settings = Locked(Settings())

  let watch: WaitWatch
  /// That of the queue.
  let clock: TimerClock

  init(scheduler: any Scheduler, clock: TimerClock) {
    watch = WaitWatch(scheduler: scheduler)
    self.clock = clock
    super.init(stuckNote: watch.note)
  }

  var handler: Handler? {
    get { settings.withLock { $0.handler } }
    set {
      if newValue != nil { Supervision.wantsReports.store(1) }
      // What is replaced is released after the lock.
      let replaced = settings.withLock { settings in
        defer { settings.handler = newValue }
        return settings.handler
      }
      _ = replaced
    }
  }

  /// Called with each refusal, beside the handler.
  var refusalRecorder: Handler? {
    get { settings.withLock { $0.refusalRecorder } }
    set {
      let replaced = settings.withLock { settings in
        defer { settings.refusalRecorder = newValue }
        return settings.refusalRecorder
      }
      _ = replaced
    }
  }

  override var queueName: String {
    get { settings.withLock { $0.queueName } }
    set { settings.withLock { $0.queueName = newValue } }
  }

  var gracePeriod: Duration? {
    get { settings.withLock { $0.gracePeriod } }
    set {
      if newValue != nil { Supervision.wantsCancels.store(1) }
      settings.withLock { $0.gracePeriod = newValue }
    }
  }

  var waitReportDelay: Duration? {
    get { settings.withLock { $0.waitReportDelay } }
    set { settings.withLock { $0.waitReportDelay = newValue } }
  }

  /// After how long a wait is to be reported; nil if there is no handler.
  var overdueDelay: Duration? {
    settings.withLock { $0.handler == nil ? nil : $0.waitReportDelay }
  }

  override var hearsOfWaits: Bool { overdueDelay != nil }

  override func reportRefusal(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) {
    let (handler, recorder) = settings.withLock { ($0.handler, $0.refusalRecorder) }
    guard handler != nil || recorder != nil else { return }
    let diagnostic = diagnostic()
    recorder?(diagnostic)
    handler?(diagnostic)
  }

  @discardableResult
  override func report(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) -> Bool {
    guard let handler else { return false }
    handler(diagnostic())
    return true
  }

  override func noteStuck(_ list: ReadyList) { watch.noteStuck(in: list) }

  // MARK: What goes on for too long

  override func noteCancel(of procedure: Procedure) {
    guard let period = gracePeriod else { return }
    report(procedure, after: period) { procedure, age in
      procedure.isFinished ? nil : .lingering(procedure, age: age)
    }
  }

  override func noteHold(of procedure: Procedure) {
    guard let delay = overdueDelay, let event = procedure.read({ $0.machine.awaitedHold })
    else { return }
    report(procedure, after: delay) { procedure, age in
      let isHeld = procedure.read { $0.machine.awaitedHold == event }
      return isHeld ? .eventHeld(event, of: procedure, age: age) : nil
    }
  }

  override func noteCall(_ call: ObserverCall, of procedure: Procedure) {
    guard let delay = overdueDelay else { return }
    report(procedure, after: delay) { procedure, age in
      let isAwaited = procedure.read { $0.pending?.suspendedDelivery?.awaitedCall == call }
      return isAwaited ? .observerAwaited(call.entry.place, by: procedure, age: age) : nil
    }
  }

  override func noteQuestion(_ condition: String, _ serial: UInt64, of procedure: Procedure) {
    guard let delay = overdueDelay else { return }
    report(procedure, after: delay) { procedure, age in
      let isAwaited = procedure.read {
        $0.requirements?.conditions?.awaitedSerial == serial
      }
      return isAwaited ? .conditionUnanswered(condition, of: procedure, age: age) : nil
    }
  }

  override func noteMissingDependency(of procedure: Procedure) {
    guard let delay = overdueDelay, procedure.setLooksForMissing(true) else { return }
    report(procedure, after: delay) { procedure, age in
      if let missing = procedure.missingDependency {
        return .dependencyNotAdded(missing, of: procedure, age: age)
      }
      procedure.setLooksForMissing(false)
      return nil
    }
  }

  private func report(
    _ procedure: Procedure, after delay: Duration, _ look: @escaping OverdueTimer.Look
  ) {
    let now = clock.now
    procedure.schedule(
      OverdueTimer(procedure, since: now, for: self, look), at: now.saturatingAdvanced(by: delay),
      on: clock)
  }
}

extension Procedure {
  /// One that it waits for, and that is on no queue. O(dependencies).
  final var missingDependency: Procedure? {
    switch obstacle {
    case .dependencies(let others), .prerequisites(_, let others):
      others.first(where: \.isOnNoQueue)
    default: nil
    }
  }

  /// Notes whether a look is scheduled, or has found something.
  ///
  /// - Returns: whether that is new.
  @discardableResult
  fileprivate final func setLooksForMissing(_ looks: Bool) -> Bool {
    read { core in
      guard !core.machine.isRetired else { return false }
      return core.attachments.with(OuterLinks.self) { exchange(&$0.looksForMissing, with: looks) }
        != looks
    }
  }
}
