import ProcedureTestSupport
import Testing

@testable import Procedures

/// Procedures that are cancelled when they are ready, and whose end takes time.
@Suite(.hangLimit) struct CancelledMemberTests {
  private let scheduler = ManualScheduler()

  /// One that is cancelled while it waits for a slot, and whose end is held until the test releases
  /// it.
  private func makeHeld(_ pendingFinish: Slot<PendingEvent>) -> TracedProcedure {
    let procedure = TracedProcedure("cancelled")
    procedure.addWillFinishBlockObserver { _, _, pending in pendingFinish.value = pending }
    return procedure
  }

  enum Moment: CaseIterable {
    /// The queue is suspended, and resumed when it has been cancelled.
    case suspended
    /// All slots are in use.
    case full
    /// A worker that was asked for takes it after the cancel.
    case ready
  }

  /// A queue of one slot, and what has it if it is full.
  private func makeQueue(_ moment: Moment) -> (ProcedureQueue, first: TracedProcedure) {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let first = TracedProcedure("first", end: .whenTold)
    queue.isSuspended = moment == .suspended
    if moment == .full {
      queue.add(first)
      scheduler.run()
    }
    return (queue, first)
  }

  private func makeRoom(in queue: ProcedureQueue, after first: TracedProcedure) {
    queue.isSuspended = false
    first.finish()
  }

  @Test("Q2, C3: a cancelled procedure ends without a slot", arguments: Moment.allCases)
  func slot(_ moment: Moment) {
    let (queue, first) = makeQueue(moment)
    let pendingFinish = Slot<PendingEvent>()
    let (cancelled, next) = (makeHeld(pendingFinish), TracedProcedure("next"))
    queue.add(cancelled, next)
    cancelled.cancel()
    if moment != .ready { scheduler.run() }
    makeRoom(in: queue, after: first)
    scheduler.run()
    #expect(next.outcome == .succeeded)
    #expect(!cancelled.isFinished && pendingFinish.value != nil)
    pendingFinish.take()?.release()
    scheduler.run()
    #expect(
      cancelled.outcome == .cancelled([]) && !cancelled.trace.events.contains("cancelled execute"))
    #expect(queue.count == 0)
  }

  @Test(
    "L1, L4, C2: a cancelled procedure excludes no other one, and waits in no line",
    arguments: Moment.allCases)
  func exclusion(_ moment: Moment) {
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "cancelled"))
    let other = ProcedureQueue(scheduler: scheduler)
    let (queue, first) = makeQueue(moment)
    let pendingFinish = Slot<PendingEvent>()
    let (cancelled, next) = (makeHeld(pendingFinish), TracedProcedure("next"))
    let elsewhere = TracedProcedure("elsewhere")
    for procedure in [cancelled, next, elsewhere] {
      procedure.add(condition: MutuallyExclusive(of: disk))
    }
    queue.add(cancelled, next)
    cancelled.cancel()
    if moment != .ready { scheduler.run() }
    makeRoom(in: queue, after: first)
    other.add(elsewhere)
    scheduler.run()
    #expect(next.outcome == .succeeded && elsewhere.outcome == .succeeded)
    #expect(!cancelled.isFinished)
    pendingFinish.take()?.release()
    scheduler.run()
    #expect(cancelled.outcome == .cancelled([]))
    #expect(queue.count == 0 && other.count == 0)
  }

  @Test(
    "L4: a procedure that is cancelled in line, or when its turn has come, makes room for the next")
  func inLine() {
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "cancelled"))
    let queue = ProcedureQueue(scheduler: scheduler)
    let holder = TracedProcedure("holder", end: .whenTold)
    let pendingFinish = Slot<PendingEvent>()
    let (cancelled, next) = (makeHeld(pendingFinish), TracedProcedure("next"))
    for procedure in [holder, cancelled, next] {
      procedure.add(condition: MutuallyExclusive(of: disk))
    }
    queue.add(holder, cancelled, next)
    scheduler.run()
    // The line is at its head, and no worker has come yet.
    holder.finish()
    cancelled.cancel()
    scheduler.run()
    #expect(next.outcome == .succeeded && !cancelled.isFinished)
    pendingFinish.take()?.release()
    scheduler.run()
    #expect(cancelled.outcome == .cancelled([]) && queue.count == 0)
  }
}
