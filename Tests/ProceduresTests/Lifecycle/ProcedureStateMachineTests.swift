@testable import Procedures
import ProcedureTestSupport
import Testing

/// The table at the head of the state machine: every event in every state.
@Suite struct ProcedureStateMachineTests {
  private typealias Machine = ProcedureStateMachine

  // Mutating calls cannot stand inside the macro.
  private func expect(_ value: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(value, sourceLocation: location)
  }

  private func expectNot(_ value: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(!value, sourceLocation: location)
  }

  /// A machine in that state, with the turn free unless a step is under way.
  private func machine(in state: ProcedureState, withCondition: Bool = false) -> Machine {
    var machine = Machine()
    if withCondition { _ = machine.conditionAdded() }
    if state == .initialized { return machine }
    #expect(machine.enqueue(waitingFor: 0) == Machine.TurnAction.none)
    #expect(machine.becomeReady() == (withCondition ? .evaluate : .start))
    if state == .pending { return machine }
    if withCondition {
      #expect(machine.evaluate(machine.attempt) == .requestTurn)
      #expect(machine.next(wants: []) == .evaluateConditions)
      #expect(machine.conditionsSatisfied() == .start)
      #expect(machine.start() == .none)
    } else {
      #expect(machine.start() == .requestTurn)
    }
    if state == .started {
      #expect(machine.next(wants: .all) == .willExecute)
      return machine
    }
    #expect(machine.next(wants: []) == .execute)
    if state == .executing { return machine }
    #expect(machine.finish(errors: []) == .accepted(.none))
    #expect(machine.next(wants: []) == .willFinish)
    if state == .finishing { return machine }
    #expect(machine.next(wants: []) == .didFinish)
    return machine
  }

  @Test("S1, C5, F1: each event does in each state what the table says")
  func table() throws {
    let table = try MachineTable(at: "Sources/Procedures/Lifecycle/ProcedureStateMachine.swift")
    #expect(table.rows.map(\.event) == LifeEvent.allCases.map(\.rawValue))
    for row in table.rows {
      let event = try #require(LifeEvent(rawValue: row.event))
      #expect(row.cells.map(\.state) == ProcedureState.allCases.map { "\($0)" })
      for (state, outcome) in zip(ProcedureState.allCases, row.cells.map(\.outcome)) {
        if outcome == "inconsistency" { continue }
        var machine = machine(in: state, withCondition: event == .evaluate)
        let result = event.happen(to: &machine)
        #expect(result == outcome, "\(event) in \(state)")
      }
    }
  }

  @Test("S1: a start before the enqueue traps")
  func startedEarly() async {
    await #expect(processExitsWith: .failure) {
      var machine = Machine()
      _ = machine.start(0)
    }
  }

  @Test("S1, S3: enqueue is accepted once", arguments: ProcedureState.allCases)
  func enqueue(in state: ProcedureState) {
    var machine = machine(in: state)
    #expect(machine.state == state)
    #expect((machine.enqueue(waitingFor: 0) != nil) == (state == .initialized))
  }

  @Test("C5: a cancel is accepted until finishing, once", arguments: ProcedureState.allCases)
  func mark(in state: ProcedureState) {
    var machine = machine(in: state)
    let isAccepted = machine.mark(errors: [TestError()])
    #expect(isAccepted == (state < .finishing))
    #expect(machine.isCancelled == isAccepted && machine.errors.isEmpty != isAccepted)
    #expect(machine.state == state)
    let isAcceptedAgain = machine.mark(errors: [])
    #expect(!isAcceptedAgain)
  }

  @Test(
    "F1: finish is refused before the start, accepted once, then late",
    arguments: ProcedureState.allCases)
  func finish(in state: ProcedureState) {
    var machine = machine(in: state)
    let first = machine.finish(errors: [TestError()])
    switch state {
    case .initialized, .pending: #expect(first == .refused)
    case .started, .executing: #expect(first == .accepted(.none))
    case .finishing, .finished: #expect(first == .late)
    }
    #expect(machine.finish(errors: []) == (first == .refused ? .refused : .late))
    #expect(machine.errors.count == (first == .accepted(.none) ? 1 : 0))
  }

  @Test(
    "F1: on a cancelled unstarted one finish adds its errors",
    arguments: [ProcedureState.initialized, .pending])
  func finishCancelled(in state: ProcedureState) {
    var machine = machine(in: state)
    _ = machine.mark(errors: [TestError("c")])
    let result = machine.finish(errors: [TestError("f")])
    #expect(result == .accepted(state == .initialized ? .none : .requestTurn))
    #expect(machine.errors.count == 2 && machine.cancelErrors.count == 1)
    #expect(machine.finish(errors: [TestError("g")]) == .late)
  }

  @Test("F1, G11: finish on a group is refused, in every state", arguments: [false, true])
  func finishOnAGroup(isCancelled: Bool) {
    var machine = Machine(isGroup: true)
    if isCancelled { _ = machine.mark(errors: []) }
    #expect(machine.finish(errors: []) == .refused)
  }

  @Test("C5: after finish was accepted, a cancel is late although finishing has not begun")
  func cancelAfterFinish() {
    var machine = machine(in: .executing)
    _ = machine.finish(errors: [])
    let isAccepted = machine.mark(errors: [])
    #expect(!isAccepted)
  }

  @Test("G3: between mark and post a turn neither executes nor finishes")
  func betweenMarkAndPost() {
    for state in [ProcedureState.started, .executing] {
      var machine = machine(in: state)
      _ = machine.mark(errors: [])
      _ = machine.finish(errors: [])
      #expect(machine.next(wants: []) == .idle)
      #expect(machine.post() == .requestTurn)
      #expect(machine.next(wants: []) == .didCancel)
      #expect(machine.next(wants: []) == .willFinish)
    }
    var machine = machine(in: .pending)
    _ = machine.mark(errors: [])
    #expect(machine.start() == .requestTurn)
    #expect(machine.next(wants: []) == .idle)
    #expect(machine.post() == .requestTurn)
    #expect(machine.next(wants: []) == .didCancel)
    #expect(machine.next(wants: []) == .willFinish)
  }

  @Test("a turn has one holder: a thread that notes an event while it is held need not ask for it")
  func oneHolder() {
    var machine = machine(in: .executing)
    #expect(machine.isTurnHeld)
    #expect(machine.noteObserver() == .none)
    #expect(machine.noteProduced() == .none)
    _ = machine.mark(errors: [])
    #expect(machine.post() == .none)
    let steps = (0..<5).map { _ in machine.next(wants: .all) }
    #expect(steps == [.didCancel, .attachObservers, .didExecute, .addProduced, .idle])
    #expect(!machine.isTurnHeld)
    #expect(machine.finish(errors: []) == .accepted(.requestTurn))
  }

  @Test("C1: once it is marked, no user code begins before didCancel", arguments: [false, true])
  func nothingBeforeDidCancel(isPosted: Bool) {
    for state in [ProcedureState.started, .executing] {
      var machine = machine(in: state)
      _ = machine.noteObserver()
      _ = machine.noteProduced()
      _ = machine.noteChild()
      _ = machine.mark(errors: [])
      if isPosted { _ = machine.post() }
      #expect(machine.next(wants: .all) == (isPosted ? .didCancel : .idle))
      #expect(machine.takeTurn() == false)
    }
  }

  @Test("a turn that was taken for one thing is kept if something was noted meanwhile")
  func turnForOneThing() {
    var machine = Machine(isGroup: true)
    expect(machine.takeTurn())
    expectNot(machine.takeTurn())
    #expect(machine.giveBackTurn() == .none)
    expect(machine.takeTurn())
    #expect(machine.noteChild() == .none)
    #expect(machine.giveBackTurn() == .requestTurn)
    #expect(machine.isTurnHeld && machine.next(wants: []) == .hearChildren)
  }

  @Test("O3: a held event keeps the turn; the last release gives it back")
  func holds() {
    var machine = machine(in: .started)
    machine.hold(.execute)
    machine.hold(.execute)
    #expect(machine.next(wants: []) == .waitForPendingEvents)
    #expect(machine.release(.finish) == .none)
    #expect(machine.release(.execute) == .none)
    #expect(machine.release(.execute) == .requestTurn)
    #expect(machine.release(.execute) == .none)
    #expect(machine.next(wants: []) == .execute)
  }

  @Test("O3: a cancel makes a held execute event moot")
  func cancelWhileHeld() {
    var machine = machine(in: .started)
    machine.hold(.execute)
    #expect(machine.next(wants: []) == .waitForPendingEvents)
    _ = machine.mark(errors: [])
    #expect(machine.post() == .requestTurn)
    #expect(machine.next(wants: []) == .didCancel)
    #expect(machine.release(.execute) == .none)
    #expect(machine.next(wants: []) == .willFinish)
  }

  @Test("dependencies: ready once, when the last is done; a new one takes readiness back")
  func readiness() {
    var machine = Machine()
    #expect(machine.enqueue(waitingFor: 2) == Machine.TurnAction.none)
    expect(machine.becomeReady() == .waiting)
    expect(machine.dependencyFinished() == .waiting)
    expect(machine.dependencyFinished() == .start)
    expect(machine.becomeReady() == .waiting)
    expect(machine.dependencyAdded())
    // The start was under way, and comes too late.
    #expect(machine.start() == .none)
    expect(machine.dependencyFinished() == .start)
    #expect(machine.start() == .requestTurn)
    // Noted, but not yet carried out when a dependency comes in between.
    expect(machine.dependencyAdded())
    #expect(machine.next(wants: []) == .idle)
    expect(machine.dependencyFinished() == .start)
    #expect(machine.start() == .requestTurn)
    #expect(machine.next(wants: []) == .execute)
  }

  @Test("G2, G4: a group settles its children once and ends after them", arguments: [false, true])
  func groupEnd(isCancelledBeforeStart: Bool) {
    var machine = Machine(isGroup: true)
    #expect(machine.enqueue(waitingFor: 0) == Machine.TurnAction.none)
    if isCancelledBeforeStart {
      _ = machine.mark(errors: [])
      #expect(machine.post() == .requestTurn)
      #expect(machine.next(wants: []) == .didCancel)
    } else {
      #expect(machine.becomeReady() == .start && machine.start() == .requestTurn)
      #expect(machine.next(wants: []) == .announceChildren)
      #expect(machine.next(wants: []) == .execute)
    }
    #expect(machine.next(wants: []) == .settleChildren)
    #expect(machine.next(wants: []) == .idle)
    #expect(machine.childrenFinished(errors: [TestError()]) == .requestTurn)
    #expect(machine.next(wants: []) == .willFinish)
    #expect(machine.next(wants: []) == .didFinish)
    #expect(machine.next(wants: []) == .retire)
    #expect(machine.errors.count == 1)
  }

  @Test("O1: after the end, an observer is attached in a turn of its own")
  func observerAfterTheEnd() {
    var machine = machine(in: .finished)
    #expect(machine.next(wants: []) == .retire)
    #expect(machine.noteObserver() == .requestTurn)
    #expect(machine.next(wants: []) == .attachObservers)
    #expect(machine.next(wants: []) == .idle)
  }
}

/// The rows of the table.
private enum LifeEvent: String, CaseIterable {
  case enqueue
  case evaluate
  case start
  case mark = "mark (cancel)"
  case finish
  case observerAdded = "observer added"

  /// - Returns: in the table's words, what has come of it.
  func happen(to machine: inout ProcedureStateMachine) -> String {
    switch self {
    case .enqueue:
      return machine.enqueue(waitingFor: 0) == nil ? "misuse" : "→ \(machine.state)"
    case .mark:
      return machine.mark(errors: []) ? "accepted" : "–"
    case .finish:
      switch machine.finish(errors: []) {
      case .accepted: return "accepted"
      case .late: return "–"
      case .refused: return "refused"
      }
    case .evaluate, .start, .observerAdded:
      let stepsWithout = machine.remainingSteps
      switch self {
      // A condition that is added begins a new attempt.
      case .evaluate: _ = machine.evaluate(1)
      case .start: _ = machine.start(0)
      default: _ = machine.noteObserver()
      }
      return machine.remainingSteps == stepsWithout ? "–" : "noted"
    }
  }
}

extension ProcedureStateMachine {
  /// What its turn does, if it has one, until nothing is left to do.
  fileprivate var remainingSteps: [Step] {
    var machine = self
    if machine.state == .initialized {
      _ = machine.enqueue(waitingFor: 0)
      if machine.becomeReady() == .start { _ = machine.start() }
    }
    var steps: [Step] = []
    while machine.isTurnHeld { steps.append(machine.next(wants: [])) }
    return steps
  }

  fileprivate mutating func start() -> TurnAction { start(attempt) }
}
