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
    /// At the last step: all that the procedure gives up, and its record, if it is recorded.
    case end(Attachments, ProcedureRecord?)
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

extension NextStep.Detail {
  /// Takes the entry out that is the only one, and can be called at once with that event: as mostly.
  @inline(__always)
  mutating func takeOnlyEntry(for event: ProcedureEvents) -> ObserverEntry? {
    guard event.isSingle, event != .didAttach else { return nil }
    // Not by a pattern alone, which would count a reference to it.
    switch consume self {
    case .observers(.one(let entry)) where entry.isCalledOnWorker:
      self = .none
      return entry
    case let other:
      self = other
      return nil
    }
  }

  /// What observers of these events receive, if there are any.
  func delivery(of events: ProcedureEvents) -> ObserverDelivery? {
    switch self {
    case .observers(let entries): ObserverDelivery(events, to: entries)
    case .delivery(let delivery): delivery
    case .none, .movesTo, .end, .record: nil
    }
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
    case .willFinish where observers.wants.isEmpty:
      // What observes it may hold it back.
      var next = NextStep(step, events: .willFinish)
      next.asksGroup = machine.mustAskGroup
      return next
    case .didFinish where observers.wants.isEmpty:
      return NextStep(step, events: .didFinish)
    case .retire where attachments.isEmpty && !machine.isFailed && !machine.isCancelled:
      if record.exists, let record = endRecord() { detail = .record(record) }
      _ = leaveHome()
      return NextStep(step)
    case .attachObservers, .willExecute, .didExecute, .didCancel, .willFinish, .didFinish,
      .addProduced, .retire:
      return unusual(step, &detail)
    }
  }

  /// A step of a procedure that has more than what every procedure has.
  @inline(never)
  private mutating func unusual(
    _ step: ProcedureStateMachine.Step, _ detail: inout NextStep.Detail
  ) -> NextStep {
    switch step {
    case .attachObservers:
      return attaching(&detail)
    case .willExecute:
      record.open?.note(step)
      return telling(.willExecute, in: step, &detail)
    case .didExecute:
      return telling(.didExecute, in: step, &detail)
    case .didCancel:
      guard machine.takeNewObservers() else { return telling(.didCancel, in: step, &detail) }
      // New observers receive didAttach first.
      detail = .observers(observers.entries)
      return NextStep(step, events: [.didAttach, .didCancel], isObserved: true)
    case .willFinish:
      var next = telling(.willFinish, in: step, &detail)
      // What observes it may hold it back.
      if !next.isObserved { next.asksGroup = machine.mustAskGroup }
      return next
    case .didFinish:
      // It is their last event: an observer that is added later receives it when attached.
      let last = observers.takeAll()
      if last.isEmpty { return NextStep(step, events: .didFinish) }
      record.open?.note(step)
      detail = .observers(last)
      return NextStep(step, events: .didFinish, isObserved: true)
    case .addProduced:
      guard let delivery = deliveryOfProduced() else { return NextStep(step) }
      detail = .delivery(delivery)
      return NextStep(step, isObserved: true)
    case .retire:
      leave(&detail)
      return NextStep(step)
    case .waitForPendingEvents, .announceChildren, .execute, .idle, .waitForGroup, .handOver,
      .evaluateConditions, .settleChildren, .askGroup, .hearChildren:
      return NextStep(step)
    }
  }

  /// The last step of one that has something to release.
  private mutating func leave(_ detail: inout NextStep.Detail) {
    // A procedure that asks why it did not succeed learns its group: that reports the cause.
    let origin = isMember && (machine.isCancelled || machine.isFailed) ? home?.owner : nil
    let record = record.exists ? endRecord() : nil
    _ = leaveHome()
    let leaving = attachments.takeLeaving()
    if !leaving.isEmpty {
      detail = .end(leaving, record)
    } else if let record {
      detail = .record(record)
    }
    if let origin { attachments.with(Ending.self) { $0.origin = origin } }
  }

  /// The list that its turn moves to, if this worker serves no queue, and it has become a member
  /// of a list since, or its list is on a queue now.
  mutating func homeElsewhere(than worker: Worker) -> ReadyList? {
    guard worker.context.isDetached, let home, home !== worker.list || home.isOnQueue
    else { return nil }
    return home
  }

  private mutating func telling(
    _ event: ProcedureEvents, in step: ProcedureStateMachine.Step, _ detail: inout NextStep.Detail
  ) -> NextStep {
    guard observers.wants.contains(event) else { return NextStep(step, events: event) }
    detail = .observers(observers.entries)
    return NextStep(step, events: event, isObserved: true)
  }

  /// New observers receive didAttach, and then a cancel or finish that they missed.
  private mutating func attaching(_ detail: inout NextStep.Detail) -> NextStep {
    var events = ProcedureEvents.didAttach
    if machine.cancellation == .delivered { events.insert(.didCancel) }
    if machine.state == .finished { events.insert(.didFinish) }
    let new = machine.state == .finished ? observers.takeAll() : observers.unattached
    detail = .observers(new)
    return NextStep(.attachObservers, events: events, isObserved: true)
  }

  private mutating func deliveryOfProduced() -> ObserverDelivery? {
    guard let pending, let production = pending.produced.popFirst() else { return nil }
    if !pending.produced.isEmpty { _ = machine.post(.produced) }
    return ObserverDelivery(.willAdd, to: observers.entries, of: production)
  }
}
