internal import ProcedurePrimitives

/// The reports of a queue: handler and delays; the looks for waits that last, and the search for waits
/// that never end.
final class QueueDiagnostics: QueueSupervisor, @unchecked Sendable {
  typealias Handler = @Sendable (ProcedureDiagnostic) -> Void

  private struct Settings: Sendable {
    var queueName = "ProcedureQueue"
    var handler: Handler?
    var refusalRecorder: Handler?
    var gracePeriod: Duration?
    var waitReportDelay = MissingReport.delay
    var standIns: [any StandIn] = []

    var rules: WaitLooks.Rules {
      WaitLooks.Rules(
        waitDelay: waitReportDelay, gracePeriod: gracePeriod, hasHandler: handler != nil)
    }
  }

  private let settings = Locked(Settings())
  /// Reports that the handler has received, and receives once: a class that does not finish, no worker comes.
  private let reportedOnce = Locked(Set<String>())

  let watch: WaitWatch
  let looks: WaitLooks
  /// That of the queue.
  let clock: TimerClock

  init(scheduler: any Scheduler, clock: TimerClock) {
    watch = WaitWatch(scheduler: scheduler)
    looks = WaitLooks(clock: clock)
    self.clock = clock
    super.init(stuckNote: watch.note, lookNote: looks.note)
    looks.rulesChanged(rules)
  }

  var rules: WaitLooks.Rules { settings.withLock { $0.rules } }

  var handler: Handler? {
    get { settings.withLock { $0.handler } }
    set {
      if newValue != nil { Supervision.wantsReports.store(1) }
      // The old value is released after the lock.
      let replaced = settings.withLock { settings in
        defer { settings.handler = newValue }
        return settings.handler
      }
      _ = replaced
      looks.rulesChanged(rules)
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

  override var standIns: [any StandIn] { settings.withLock { $0.standIns } }

  func setStandIn(_ standIn: any StandIn) {
    // Those that it replaces are released after the lock.
    let replaced = settings.withLock { settings in
      defer {
        settings.standIns =
          settings.standIns.filter { type(of: $0) != type(of: standIn) } + [standIn]
      }
      return settings.standIns
    }
    _ = replaced
  }

  var gracePeriod: Duration? {
    get { settings.withLock { $0.gracePeriod } }
    set {
      if newValue != nil { Supervision.wantsCancels.store(1) }
      settings.withLock { $0.gracePeriod = newValue }
      looks.rulesChanged(rules)
    }
  }

  var waitReportDelay: Duration? {
    get { settings.withLock { $0.waitReportDelay } }
    set {
      settings.withLock { $0.waitReportDelay = newValue }
      looks.rulesChanged(rules)
    }
  }

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

  override func noteStuck(_ list: ProcedureList) { watch.noteStuck(in: list) }

  // MARK: What goes on for too long

  override func noteWait(in list: ProcedureList) { looks.arm(list, for: self) }

  /// The reports that no queue of the process makes again.
  private static let toldCauses = Locked(Set<String>())
  /// More causes than a person reads.
  private static let mostCauses = 1_000

  private static func isNew(_ cause: String) -> Bool {
    toldCauses.withLock { $0.count < mostCauses && $0.insert(cause).inserted }
  }

  /// That wait has lasted.
  ///
  /// - Parameters:
  ///   - obstacle: the wait, as a snapshot has it.
  ///   - isHopeless: whether nothing that could end it refers to the procedure any more.
  func report(
    _ wait: LastingWait, of procedure: Procedure, _ obstacle: Obstacle, age: Duration,
    isHopeless: Bool
  ) {
    switch (wait, obstacle) {
    case (.end, _):
      report(.lingering(procedure, obstacle, age: age))
    case (_, .pendingEvent(let event)):
      report(.eventHeld(event, of: procedure, age: age))
    case (_, .observer(let call)):
      report(.observerAwaited(call.entry.place, by: procedure, age: age))
    case (_, .condition(let name, _)):
      report(.conditionUnanswered(name, of: procedure, age: age))
    case (_, .dependencies(let others)), (_, .prerequisites(_, let others)):
      guard let missing = others.first(where: \.isOnNoQueue) else { return }
      let diagnostic = ProcedureDiagnostic.dependencyNotAdded(missing, of: procedure, age: age)
      if report(diagnostic) { return }
      if Self.isNew("missing \(procedure.name) \(missing.name)") { reportAloud(diagnostic) }
    case (_, .thread):
      // Once for each queue: all of its procedures wait for the same.
      guard handler != nil, reportedOnce.withLock({ $0.insert("thread").inserted }) else { return }
      report(.threadAwaited(by: procedure, age: age))
    case (_, .finish):
      guard isHopeless || !procedure.showsWork else { return }
      let diagnostic = ProcedureDiagnostic.finishForgotten(procedure, age: isHopeless ? nil : age)
      // Once for each class, by the handler of each queue, and by standard error: an instance that is at work looks
      // like one whose author forgot.
      let type = "finish \(isHopeless) \(ObjectIdentifier(type(of: procedure)))"
      if handler == nil {
        if Self.isNew(type) { reportAloud(diagnostic) }
      } else if reportedOnce.withLock({ $0.insert(type).inserted }) {
        report(diagnostic)
      }
    case (_, _): break
    }
  }

  private func reportAloud(_ diagnostic: ProcedureDiagnostic) {
    Optional<QueueSupervisor>(self).reportAloud(diagnostic)
  }
}
