internal import ProcedurePrimitives

/// What to do now: made and thrown away several times in each life, and no more than some bytes.
struct NextStep: Sendable {
  /// What is needed to do it, of a step that needs anything.
  enum Detail: Sendable {
    case none
    /// Where the turn goes on: it is still held.
    case movesTo(ReadyList)
    /// The observers that receive the events.
    case observers(SmallList<ObserverEntry>)
    /// Of a procedure that is to be added, or one that had to wait.
    indirect case delivery(ObserverDelivery)
    /// At the last step.
    case end(Leaving)
    /// At the last step of one that has nothing to release.
    case record(ProcedureRecord)
  }

  let step: ProcedureStateMachine.Step
  let events: ProcedureEvents
  /// Whether there are observers, in the detail, that may receive them.
  let isObserved: Bool
  /// Whether nothing can come between this step and that of asking the group.
  var asksGroup = false

  @inline(__always)
  init(
    _ step: ProcedureStateMachine.Step, events: ProcedureEvents = [], isObserved: Bool = false
  ) {
    self.step = step
    self.events = events
    self.isObserved = isObserved
  }
}

extension ProcedureCore {
  /// Advances the machine, and gathers what the step needs, all in one critical section.
  @inline(__always)
  mutating func nextStep(
    on worker: Worker, _ detail: inout NextStep.Detail
  ) -> NextStep {
    if worker.context.isDetached, let home = homeElsewhere(than: worker) {
      detail = .movesTo(home)
      return NextStep(.idle)
    }
    let step = machine.next(wants: observers.wants)
    switch step {
    case .waitForPendingEvents, .announceChildren, .execute:
      if let record = record.open { record.note(step, holding: machine.awaitedHold) }
      return NextStep(step)
    case .idle, .waitForGroup, .handOver, .evaluateConditions, .settleChildren, .askGroup,
      .hearChildren:
      return NextStep(step)
    case .willFinish where !observers.wants.contains(.willFinish):
      // What observes it may hold it back.
      var next = NextStep(step, events: .willFinish)
      next.asksGroup = machine.mustAskGroup
      return next
    case .didFinish where observers.wants.isEmpty:
      return NextStep(step, events: .didFinish)
    case .retire:
      leave(&detail)
      return NextStep(step)
    case .attachObservers, .willExecute, .didExecute, .didCancel, .willFinish, .didFinish,
      .addProduced:
      return unusual(step, &detail)
    }
  }

  /// The list that its turn moves to, if this worker serves no queue, and it has become a member
  /// of a list since, or its list is on a queue now.
  mutating func homeElsewhere(than worker: Worker) -> ReadyList? {
    guard worker.context.isDetached, let home, home !== worker.list || home.isOnQueue
    else { return nil }
    return home
  }
}
