internal import ProcedurePrimitives

extension Procedure {
  /// It was cancelled: reports it if it has not finished when the queue's grace period is over.
  final func watchLingering() {
    guard QueueDiagnostics.hasGracePeriods.load() != 0, let context = read({ $0.home })?.context,
      let period = context.diagnostics.gracePeriod
    else { return }
    report(after: period, on: context) { procedure, age in
      procedure.isFinished ? nil : .lingering(procedure, age: age)
    }
  }

  /// An observer holds an event back: reports it if it still does after a while.
  final func watchHold() {
    guard let context = read({ $0.home })?.context,
      let delay = context.diagnostics.overdueDelay,
      let event = read({ $0.machine.awaitedHold })
    else { return }
    report(after: delay, on: context) { procedure, age in
      let isHeld = procedure.read { $0.machine.awaitedHold == event }
      return isHeld ? .eventHeld(event, of: procedure, age: age) : nil
    }
  }

  /// An observer is called elsewhere: reports it if that has not returned after a while.
  final func watchCall(_ call: @autoclosure () -> ObserverCall) {
    guard QueueDiagnostics.hasHandlers.load() != 0, let context = read({ $0.home })?.context,
      let delay = context.diagnostics.overdueDelay
    else { return }
    let call = call()
    report(after: delay, on: context) { procedure, age in
      let isAwaited = procedure.read { $0.rarities?.suspendedDelivery?.awaitedCall == call }
      return isAwaited ? .observerAwaited(call.entry.place, by: procedure, age: age) : nil
    }
  }

  /// A condition is awaited: reports it if it has not answered after a while.
  final func watchAnswer(of condition: String, _ serial: UInt64, on context: SchedulingContext) {
    guard let delay = context.diagnostics.overdueDelay else { return }
    report(after: delay, on: context) { procedure, age in
      let isAwaited = procedure.read { core in
        guard let progress = core.rarities?.conditions else { return false }
        return progress.isAwaited && progress.serial == serial
      }
      return isAwaited ? .conditionUnanswered(condition, of: procedure, age: age) : nil
    }
  }

  private func report(
    after delay: Duration, on context: SchedulingContext, _ look: @escaping OverdueTimer.Look
  ) {
    let now = context.clock.now
    schedule(
      OverdueTimer(self, since: now, on: context, look), at: now.saturatingAdvanced(by: delay),
      on: context.clock)
  }
}

/// Looks once, after a while, whether something is still the case.
private final class OverdueTimer: TimerTarget {
  typealias Look = @Sendable (Procedure, _ age: Duration) -> ProcedureDiagnostic?

  private let procedure: Procedure
  private let start: ContinuousClock.Instant
  private let context: SchedulingContext
  private let look: Look

  init(
    _ procedure: Procedure, since start: ContinuousClock.Instant, on context: SchedulingContext,
    _ look: @escaping Look
  ) {
    self.procedure = procedure
    self.start = start
    self.context = context
    self.look = look
  }

  func timerFired() {
    context.clock.service.deliver { [procedure, start, context, look] in
      if let diagnostic = look(procedure, context.clock.now - start) {
        context.diagnostics.report(diagnostic)
      }
    }
  }
}
