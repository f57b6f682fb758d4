internal import ProcedurePrimitives

/// Says, to standard error, that something has waited for a while for a procedure that is on no queue: so there is no
/// handler that could be told.
final class MissingReport: TimerTarget {
  private static let delay = Duration.seconds(10)

  private weak let procedure: Procedure?
  private let clock: TimerClock

  private init(of procedure: Procedure, by clock: TimerClock) {
    self.procedure = procedure
    self.clock = clock
  }

  func timerFired() {
    clock.service.deliver { [self] in
      guard let procedure, procedure.state == .initialized else { return }
      StandardError.write(
        "Procedures: something has waited \(Self.delay) for '\(procedure.name)', which is on no queue: add it to one; "
          + "queue.value(of:) adds it, and waits.\n")
    }
  }

  /// Something is about to wait for the procedure.
  static func schedule(for procedure: Procedure) {
    guard procedure.state == .initialized else { return }
    let isFirst = procedure.read { core in
      !core.machine.isRetired
        && core.attachments.with(OuterLinks.self) { !exchange(&$0.isAwaitedOutside, with: true) }
    }
    guard isFirst else { return }
    let clock = SchedulingContext.detached.clock
    procedure.schedule(
      MissingReport(of: procedure, by: clock), at: clock.now.saturatingAdvanced(by: delay),
      on: clock)
  }
}
