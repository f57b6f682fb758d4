internal import Primitives
/// What to do now, with what is needed to do it: taken in one critical section.
struct NextStep: Sendable {
  let step: ProcedureStateMachine.Step
  /// Where the turn goes on: it is still held.
  var movesTo: ReadyList?
  var delivery: ObserverDelivery?
  /// What the override of this step is told.
  var errors: [any Error] = []
  /// At the last step: all that the procedure lets go of.
  var extras: ProcedureExtras?
}

extension ProcedureCore {
  /// Advances the machine and gathers what the step needs.
  mutating func nextStep(on list: ReadyList, _ context: SchedulingContext) -> NextStep {
    if let home = homeElsewhere(than: list, context) { return NextStep(step: .idle, movesTo: home) }
    let step = machine.next(wants: wants)
    switch step {
    case .idle, .waitForPendingEvents, .waitForGroup, .evaluateConditions, .execute,
      .settleChildren, .askGroup, .hearChildren:
      return NextStep(step: step)
    case .attachObservers:
      return NextStep(step: step, delivery: deliveryToNewObservers())
    case .willExecute:
      return NextStep(step: step, delivery: delivery(of: .willExecute))
    case .didExecute:
      return NextStep(step: step, delivery: delivery(of: .didExecute))
    case .didCancel:
      let errors = machine.cancelErrors
      return NextStep(
        step: step, delivery: delivery(of: .didCancel, cancelErrors: errors), errors: errors)
    case .willFinish:
      return NextStep(
        step: step, delivery: finishDelivery(.willFinish, on: list), errors: machine.errors)
    case .didFinish:
      return NextStep(
        step: step, delivery: finishDelivery(.didFinish, on: list), errors: machine.errors)
    case .addProduced:
      return NextStep(step: step, delivery: deliveryOfProduced())
    case .retire:
      home = nil
      guard let contents = extras else { return NextStep(step: step) }
      extras = contents.remainder()
      return NextStep(step: step, extras: contents)
    }
  }

  /// The list that its turn moves to, if this worker is nobody's, and it has become a member of a
  /// list since, or that is on a queue now.
  func homeElsewhere(than list: ReadyList, _ context: SchedulingContext) -> ReadyList? {
    guard context.isDetached, let home, home !== list || home.isOnQueue else { return nil }
    return home
  }

  private func delivery(
    of event: ProcedureEvents, errors: [any Error] = [], cancelErrors: [any Error] = [],
    sequel: ObserverDelivery.Sequel = .none
  ) -> ObserverDelivery? {
    let isObserved = wants.contains(event)
    if !isObserved, case .none = sequel { return nil }
    return ObserverDelivery(
      event, to: isObserved ? extras?.observers ?? .init() : .init(), errors: errors,
      cancelErrors: cancelErrors, sequel: sequel)
  }

  /// Finish events also go to the queue's delegate, after the observers.
  private func finishDelivery(
    _ event: ProcedureEvents, on list: ReadyList
  ) -> ObserverDelivery? {
    guard list.hasDelegate, let delegate = list.delegate else {
      return wants.contains(event) ? delivery(of: event, errors: machine.errors) : nil
    }
    return delivery(of: event, errors: machine.errors, sequel: .tellDelegate(delegate, event))
  }

  /// New observers are told that they are attached, and then of a cancel or finish they missed.
  private func deliveryToNewObservers() -> ObserverDelivery? {
    guard let extras else { return nil }
    var events = ProcedureEvents.didAttach
    if machine.cancellation == .delivered { events.insert(.didCancel) }
    if machine.state == .finished { events.insert(.didFinish) }
    guard !machine.isRetired else {
      return ObserverDelivery(
        events, to: extras.takeObservers(), errors: machine.errors,
        cancelErrors: machine.cancelErrors, sequel: .removeObservers)
    }
    var new = SmallList<ObserverEntry>()
    for entry in extras.observers where !entry.isAttached { new.append(entry) }
    return ObserverDelivery(
      events, to: new, errors: machine.errors, cancelErrors: machine.cancelErrors)
  }

  private mutating func deliveryOfProduced() -> ObserverDelivery? {
    guard let extras, let rarities, let production = rarities.produced.popFirst() else {
      return nil
    }
    if !rarities.produced.isEmpty { _ = machine.noteProduced() }
    return ObserverDelivery(
      .willAdd, to: extras.observers, adding: production.procedure, sequel: .add(production))
  }
}
