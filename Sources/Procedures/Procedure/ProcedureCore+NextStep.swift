internal import ProcedurePrimitives

/// What to do now, with what is needed to do it: taken in one critical section.
///
/// Small: it is made and thrown away several times in each life.
struct NextStep: Sendable {
  enum Detail: Sendable {
    case none
    /// Where the turn goes on: it is still held.
    case movesTo(ReadyList)
    /// The observers that receive the events.
    case observers(SmallList<ObserverEntry>)
    /// Of a procedure that is to be added, or one that had to wait.
    indirect case delivery(ObserverDelivery)
    /// At the last step: all that the procedure releases.
    case extras(ProcedureExtras)
    /// The same of one that is recorded, which keeps its record.
    case record(ProcedureRecord)
    indirect case recordAndExtras(ProcedureRecord, ProcedureExtras)
  }

  let step: ProcedureStateMachine.Step
  let events: ProcedureEvents
  let detail: Detail
  /// Whether nothing can come between this step and that of asking the group.
  var asksGroup = false

  /// Whether observers, or the queue's delegate, may receive it.
  func isTold(on list: ReadyList) -> Bool {
    switch detail {
    case .observers, .delivery: true
    case .none, .movesTo, .extras, .record, .recordAndExtras: !events.isEmpty && list.hasDelegate
    }
  }

  /// What the observers receive, if there are any.
  var delivery: ObserverDelivery? {
    switch detail {
    case .observers(let entries): ObserverDelivery(events, to: entries)
    case .delivery(let delivery): delivery
    case .none, .movesTo, .extras, .record, .recordAndExtras: nil
    }
  }

  init(
    _ step: ProcedureStateMachine.Step, _ detail: Detail = .none, events: ProcedureEvents = []
  ) {
    self.step = step
    self.events = events
    self.detail = detail
  }
}

extension ProcedureCore {
  /// Advances the machine and gathers what the step needs.
  mutating func nextStep(on list: ReadyList, _ context: SchedulingContext) -> NextStep {
    if let home = homeElsewhere(than: list, context) { return NextStep(.idle, .movesTo(home)) }
    let step = machine.next(wants: observers.wants)
    switch step {
    case .waitForPendingEvents, .announceChildren, .execute:
      record?.note(step)
      return NextStep(step)
    case .idle, .waitForGroup, .handOver, .evaluateConditions, .settleChildren, .askGroup,
      .hearChildren:
      return NextStep(step)
    case .attachObservers:
      return attaching()
    case .willExecute:
      record?.note(step)
      return telling(.willExecute, in: step)
    case .didExecute:
      return telling(.didExecute, in: step)
    case .didCancel:
      guard machine.takeNewObservers() else { return telling(.didCancel, in: step) }
      // Those that are new are told first that they are attached.
      return NextStep(step, .observers(observers.entries), events: [.didAttach, .didCancel])
    case .willFinish:
      var next = telling(.willFinish, in: step)
      // What observes it may hold it back.
      if case .none = next.detail { next.asksGroup = machine.mustAskGroup }
      return next
    case .didFinish:
      // It is their last event: an observer that is added later receives it when attached.
      let last = observers.takeAll()
      if !last.isEmpty { record?.note(step) }
      return NextStep(step, last.isEmpty ? .none : .observers(last), events: .didFinish)
    case .addProduced:
      return NextStep(step, deliveryOfProduced().map(NextStep.Detail.delivery) ?? .none)
    case .retire:
      // A procedure that asks why it did not succeed learns its group: that reports the cause.
      let origin =
        isMember && (machine.isCancelled || machine.errorsIfAny != nil) ? home?.owner : nil
      _ = leaveHome()
      let contents = extras
      extras = contents?.remainder()
      if let origin { withExtras { $0.origin = origin } }
      guard let record else { return NextStep(step, contents.map(NextStep.Detail.extras) ?? .none) }
      record.noteEnd(of: self, contents)
      return NextStep(step, contents.map { .recordAndExtras(record, $0) } ?? .record(record))
    }
  }

  /// The list that its turn moves to, if this worker serves no queue, and it has become a member
  /// of a list since, or its list is on a queue now.
  func homeElsewhere(than list: ReadyList, _ context: SchedulingContext) -> ReadyList? {
    guard context.isDetached, let home, home !== list || home.isOnQueue else { return nil }
    return home
  }

  private func telling(
    _ event: ProcedureEvents, in step: ProcedureStateMachine.Step
  ) -> NextStep {
    let isObserved = observers.wants.contains(event)
    return NextStep(step, isObserved ? .observers(observers.entries) : .none, events: event)
  }

  /// New observers are told that they are attached, and then of a cancel or finish they missed.
  private mutating func attaching() -> NextStep {
    var events = ProcedureEvents.didAttach
    if machine.cancellation == .delivered { events.insert(.didCancel) }
    if machine.state == .finished { events.insert(.didFinish) }
    let new = machine.state == .finished ? observers.takeAll() : observers.unattached
    return NextStep(.attachObservers, .observers(new), events: events)
  }

  private mutating func deliveryOfProduced() -> ObserverDelivery? {
    guard let rarities, let production = rarities.produced.popFirst() else { return nil }
    if !rarities.produced.isEmpty { _ = machine.noteProduced() }
    return ObserverDelivery(.willAdd, to: observers.entries, of: production)
  }
}
