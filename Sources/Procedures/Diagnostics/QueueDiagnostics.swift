internal import ProcedurePrimitives

/// The handler and the delays of a queue's reports, the looks for waits that last, and the search
/// for waits that never end.
final class QueueDiagnostics: QueueSupervisor, @unchecked Sendable {
  struct Settings: Sendable {
    var queueName = "ProcedureQueue"
    var handler: (@Sendable (ProcedureDiagnostic) -> Void)?
    /// Called with each refusal, in addition to the handler.
    var refusalRecorder: (@Sendable (ProcedureDiagnostic) -> Void)?
    /// The time after which an unfinished cancelled procedure is reported; nil for never.
    var gracePeriod: Duration?
    /// The time after which a wait is reported; nil for never.
    var waitReportDelay = MissingReport.defaultDelay.withLock { $0 }
    var standIns: [any StandIn] = []
  }

  struct DiagnosticsState: Sendable {
    var settings = Settings()
    /// Whether a look is scheduled; its timer is stored slightly later.
    var isArmed = false
    var lookTimer: SlabKey?
    /// Reports that the handler has received, and receives once: of a class that does not finish.
    var reportedOnce = Set<String>()
  }

  let state = Locked(DiagnosticsState())
  let watch: WaitWatch
  let clock: TimerClock

  init(scheduler: any Scheduler, clock: TimerClock) {
    watch = WaitWatch(scheduler: scheduler)
    self.clock = clock
    super.init(stuckNote: watch.note)
    wantsLooks = settings.lookPeriod != nil
  }

  var settings: Settings { state.withLock { $0.settings } }

  /// The old values are released after the lock, since they hold the user's closures.
  func change(_ body: (inout Settings) -> Void) {
    let replaced = state.withLock { state in
      let replaced = state.settings
      body(&state.settings)
      if state.settings.handler != nil { Self.wantsReports.store(1) }
      if state.settings.gracePeriod != nil { Self.wantsCancels.store(1) }
      if !state.isArmed { wantsLooks = state.settings.lookPeriod != nil }
      return replaced
    }
    _ = consume replaced
  }

  override var queueName: String { state.withLock { $0.settings.queueName } }

  override var standIns: [any StandIn] { state.withLock { $0.settings.standIns } }

  override func reportRefusal(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) {
    let settings = settings
    guard settings.handler != nil || settings.refusalRecorder != nil else { return }
    let diagnostic = diagnostic()
    settings.refusalRecorder?(diagnostic)
    settings.handler?(diagnostic)
  }

  @discardableResult
  override func report(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) -> Bool {
    guard let handler = settings.handler else { return false }
    handler(diagnostic())
    return true
  }

  override func noteWait(in list: ProcedureList) { lookSoon(from: list) }

  override func noteStuck(_ list: ProcedureList) { watch.noteStuck(in: list) }

  // MARK: Long waits

  /// Keys of the reports written to standard error, which no queue of the process repeats.
  private static let toldCauses = Locked(Set<String>())
  /// The most keys; beyond them such reports are not written.
  private static let mostCauses = 1_000

  private static func isNew(_ cause: String) -> Bool {
    toldCauses.withLock { $0.count < mostCauses && $0.insert(cause).inserted }
  }

  private func isReportedFirst(_ cause: String) -> Bool {
    state.withLock { $0.reportedOnce.insert(cause).inserted }
  }

  /// Reports a wait that has lasted.
  ///
  /// - Parameters:
  ///   - present: the whole wait, as the last look read it.
  ///   - isHopeless: whether nothing but the queue refers to the procedure.
  func report(
    _ wait: Wait.Identity, of procedure: Procedure, _ present: Wait, age: Duration,
    isHopeless: Bool
  ) {
    if wait == .end {
      report(.lingering(procedure, present, age: age))
      return
    }
    if let missing = present.missing {
      let diagnostic = ProcedureDiagnostic.dependencyNotAdded(
        missing, of: procedure, in: present, age: age)
      let isReported = report(diagnostic)
      if !isReported, Self.isNew("missing \(procedure.name) \(missing.name)") {
        diagnostic.writeToStandardError()
      }
      return
    }
    switch present {
    case .pendingEvent(let event):
      report(.eventHeld(event, of: procedure, age: age))
    case .observer(let call):
      report(.observerAwaited(call.entry.place, by: procedure, age: age))
    case .condition(let name, _):
      report(.conditionUnanswered(name, of: procedure, age: age))
    case .call(let call, _):
      report(.callAwaited(call, by: procedure, age: age))
    case .thread(let errand):
      report(.threadAwaited(by: procedure, for: errand, age: age))
    case .finish:
      guard isHopeless || !procedure.indicatesOngoingWork else { return }
      let diagnostic = ProcedureDiagnostic.finishForgotten(procedure, age: isHopeless ? nil : age)
      // Report this once for each class: an instance that is still at work looks like an instance
      // that forgot to finish.
      let type = "finish \(isHopeless) \(ObjectIdentifier(type(of: procedure)))"
      if settings.handler == nil {
        if Self.isNew(type) { diagnostic.writeToStandardError() }
      } else if isReportedFirst(type) {
        report(diagnostic)
      }
    case .nothing, .notEnqueued, .dependencies, .prerequisites, .barrier, .exclusion, .slot,
      .suspension, .groupStart, .groupSlot, .groupRest, .announcement, .answer, .children:
      break
    }
  }
}
