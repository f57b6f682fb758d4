internal import ProcedurePrimitives

/// The next step of a turn. Small, since several are made in each life.
struct NextStep: Sendable {
  /// The details of a step that needs any.
  enum Detail: Sendable {
    case none
    /// Where the turn goes on: it is still held.
    case movesTo(ReadyList)
    /// The observers that receive the event.
    case delivery(ObserverDelivery)
    /// At the last step.
    case end(Leaving)

    /// Whether observers receive the event.
    var isObserved: Bool {
      @inline(__always) get { if case .delivery = self { true } else { false } }
    }

    /// Whether the event was put aside, after its override had been called.
    var wasPutAside: Bool {
      @inline(__always) get {
        if case .delivery(let delivery) = self { delivery.wasPutAside } else { false }
      }
    }
  }

  let step: ProcedureStateMachine.Step
  /// Whether nothing can come between this step and that of asking the group.
  var asksGroup = false

  @inline(__always)
  init(_ step: ProcedureStateMachine.Step) {
    self.step = step
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
    if isObserved { noteObserversReturned() }
    let step = machine.next(wants: observers.wants)
    var next = NextStep(step)
    switch step {
    case .event(let event):
      if event == .willFinish, !observers.wants.contains(.willFinish) {
        // An observer may hold this event back. Without one the group is asked at once.
        next.asksGroup = machine.mustAskGroup
      } else if !observers.isEmpty {
        prepareDelivery(of: event, &detail)
        if isWatched, detail.isObserved { noteObservers(of: event) }
      }
    case .retire:
      leave(&detail)
    case .idle, .waitForPendingEvents, .waitForGroup, .handOver, .evaluateConditions,
      .announceChildren, .execute, .settleChildren, .askGroup, .hearChildren:
      break
    }
    return next
  }

  /// The list that its turn moves to, if this worker serves no queue, and it has become a member
  /// of a list since, or its list is on a queue now.
  mutating func homeElsewhere(than worker: Worker) -> ReadyList? {
    guard worker.context.isDetached, let home, home !== worker.list || home.isOnQueue
    else { return nil }
    return home
  }
}
