internal import ProcedurePrimitives

/// Reports on standard error that something has waited for a while for a procedure that is on no
/// queue, and so has no handler. If a procedure on a queue waits for one on no queue, the looks of
/// the queue find it.
final class MissingReport: TimerTarget {
  /// The delay for the whole process; nil for no report.
  static let defaultDelay = Locked<Duration?>(.seconds(10))

  private let awaited: Weak<Procedure>
  private let delay: Duration
  private let clock: TimerClock

  private init(of procedure: Procedure, after delay: Duration, by clock: TimerClock) {
    awaited = Weak(procedure)
    self.delay = delay
    self.clock = clock
  }

  func timerFired() {
    clock.service.deliver { [self] in
      guard let procedure = awaited.object, procedure.isOnNoQueue, procedure.isStillAwaited else {
        return
      }
      let place = procedure.placeInstead(
        advice: "add it to one; queue.value(of:) adds it, and waits")
      StandardError.write(
        "Procedures: something has waited \(delay.forPeople) for '\(procedure.name)', \(place)."
          .onOneLine + "\n")
    }
  }

  /// Something is about to wait for the procedure.
  static func schedule(for procedure: Procedure) {
    guard procedure.state <= .pending, procedure.isOnNoQueue,
      let delay = defaultDelay.withLock({ $0 })
    else { return }
    let isFirst = procedure.withCore { core in
      !core.life.isRetired
        && core.attachments.with(TokensAndTimers.self) {
          !exchange(&$0.value.isAwaitedOutside, with: true)
        }
    }
    guard isFirst else { return }
    let clock = SchedulingContext.detached.clock
    procedure.schedule(
      MissingReport(of: procedure, after: delay, by: clock),
      at: clock.now.saturatingAdvanced(by: delay),
      on: clock)
  }
}

extension Procedure {
  /// Whether neither it nor a group around it has been added to a queue.
  final var isOnNoQueue: Bool { peek { !$0.life.isRetired && $0.list?.isOnQueue != true } }

  /// Whether a thread or task still waits for it. If all have given up, the next wait is reported
  /// like the first one.
  fileprivate final var isStillAwaited: Bool {
    withCore { core in
      let isAwaited = core.waiters.map { !$0.isEmpty } ?? false
      if !isAwaited { core.registrations?.value.isAwaitedOutside = false }
      return isAwaited
    }
  }

  /// Says where a procedure on no queue is instead, and how to mend that.
  ///
  /// - Parameter advice: the advice if it is in no group.
  final func placeInstead(advice: String) -> String {
    guard let group = peek({ $0.list })?.outermost.group else {
      return "which is on no queue: \(advice)"
    }
    return "which is in group '\(group.name)', and that is on no queue: add the group to one"
  }
}
