internal import Primitives
/// What to do now, with what is needed to do it: taken in one critical section.
///
/// One reference at most: it is made and thrown away several times in each life.
struct NextStep: Sendable {
  enum Detail: Sendable {
    case none
    /// Where the turn goes on: it is still held.
    case movesTo(ReadyList)
    case delivery(ObserverDelivery)
    /// What the override of this step is told, if no observer is.
    case errors([any Error])
    /// At the last step: all that the procedure lets go of.
    case extras(ProcedureExtras)
  }

  let step: ProcedureStateMachine.Step
  var detail = Detail.none

  var delivery: ObserverDelivery? {
    if case .delivery(let delivery) = detail { delivery } else { nil }
  }

  /// What the override of this step is told.
  var errors: [any Error] {
    switch detail {
    case .errors(let errors): errors
    case .delivery(let delivery): step == .didCancel ? delivery.cancelErrors : delivery.errors
    case .none, .movesTo, .extras: []
    }
  }

  init(_ step: ProcedureStateMachine.Step, _ detail: Detail = .none) {
    self.step = step
    self.detail = detail
  }

  init(
    _ step: ProcedureStateMachine.Step, _ delivery: ObserverDelivery?, errors: [any Error]? = nil
  ) {
    self.step = step
    if let delivery {
      detail = .delivery(delivery)
    } else if let errors {
      detail = .errors(errors)
    }
  }
}

extension ProcedureCore {
  /// Advances the machine and gathers what the step needs.
  mutating func nextStep(on list: ReadyList, _ context: SchedulingContext) -> NextStep {
    if let home = homeElsewhere(than: list, context) { return NextStep(.idle, .movesTo(home)) }
    let step = machine.next(wants: wants)
    switch step {
    case .idle, .waitForPendingEvents, .waitForGroup, .evaluateConditions, .execute,
      .settleChildren, .askGroup, .hearChildren:
      return NextStep(step)
    case .attachObservers:
      return NextStep(step, deliveryToNewObservers())
    case .willExecute:
      return NextStep(step, delivery(of: .willExecute))
    case .didExecute:
      return NextStep(step, delivery(of: .didExecute))
    case .didCancel:
      let errors = machine.cancelErrors
      return NextStep(step, delivery(of: .didCancel, cancelErrors: errors), errors: errors)
    case .willFinish:
      return finishStep(step, .willFinish, on: list)
    case .didFinish:
      return finishStep(step, .didFinish, on: list)
    case .addProduced:
      return NextStep(step, deliveryOfProduced())
    case .retire:
      home = nil
      guard let contents = extras else { return NextStep(step) }
      extras = contents.remainder()
      return NextStep(step, .extras(contents))
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
  private func finishStep(
    _ step: ProcedureStateMachine.Step, _ event: ProcedureEvents, on list: ReadyList
  ) -> NextStep {
    if list.hasDelegate, let delegate = list.delegate {
      let sequel = ObserverDelivery.Sequel.tellDelegate(delegate, event)
      return NextStep(
        step, delivery(of: event, errors: machine.errorsIfAny ?? [], sequel: sequel))
    }
    if wants.contains(event) {
      return NextStep(step, delivery(of: event, errors: machine.errorsIfAny ?? []))
    }
    if let errors = machine.errorsIfAny { return NextStep(step, .errors(errors)) }
    return NextStep(step)
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
