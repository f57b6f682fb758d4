internal import ProcedurePrimitives

/// The steps of a procedure that has more than what every procedure has, mostly observers.
extension ProcedureCore {
  /// Not inlined: most procedures have none of it.
  @inline(never)
  mutating func unusual(
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
    case .waitForPendingEvents, .announceChildren, .execute, .idle, .waitForGroup, .handOver,
      .evaluateConditions, .settleChildren, .askGroup, .hearChildren, .retire:
      return NextStep(step)
    }
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
    if machine.cancel == .delivered { events.insert(.didCancel) }
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
