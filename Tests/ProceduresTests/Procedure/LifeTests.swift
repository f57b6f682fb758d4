@testable import Procedures
import ProcedureTestSupport
import Testing

/// The table at the head of the state machine: every event in every state.
@Suite(.hangLimit) struct LifeTests {
  private typealias Machine = Life

  // Mutating calls cannot stand inside the macro.
  private func expect(_ value: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(value, sourceLocation: location)
  }

  private func expectNot(_ value: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(!value, sourceLocation: location)
  }

  /// A machine in that state, with the turn free unless a step is under way.
  private static func machine(in state: ProcedureState, withCondition: Bool = false) -> Machine {
    var machine = Machine()
    if withCondition { _ = machine.post(.conditionAdded) }
    if state == .initialized { return machine }
    #expect(machine.post(.enqueue(waits: 0)) == .ready(withCondition ? .evaluate : .start))
    if state == .pending { return machine }
    if withCondition {
      #expect(machine.post(.evaluate(attempt: machine.attempt)) == .turn)
      #expect(machine.next(wants: []) == .evaluateConditions)
      #expect(machine.post(.conditionsSatisfied) == .ready(.start))
      #expect(machine.start() == .none)
    } else {
      #expect(machine.start() == .turn)
    }
    if state == .started {
      #expect(machine.next(wants: .all) == .event(.willExecute))
      return machine
    }
    #expect(machine.next(wants: []) == .execute)
    if state == .executing { return machine }
    #expect(machine.post(.finish()) == .none)
    #expect(machine.next(wants: []) == .event(.willFinish))
    if state == .finishing { return machine }
    #expect(machine.next(wants: []) == .event(.didFinish))
    return machine
  }

  private static func table() throws -> MachineTable {
    try MachineTable(of: "Life", at: "Sources/Procedures/Procedure/Life.swift")
  }

  /// The states in which the table says that of the event.
  private func states(where event: LifeEvent, is outcome: String) throws -> [ProcedureState] {
    let row = try #require(Self.table().rows.first { $0.event == event.rawValue })
    let states = zip(ProcedureState.allCases, row.cells).filter { $1.outcome == outcome }.map(\.0)
    try #require(!states.isEmpty)
    return states
  }

  @Test(
    "S1, C5, F1: each event does in each state what the table says, and one that counts is late the next time"
  )
  func table() throws {
    let table = try Self.table()
    #expect(table.rows.map(\.event) == LifeEvent.allCases.map(\.rawValue))
    for row in table.rows {
      let event = try #require(LifeEvent(rawValue: row.event))
      #expect(row.cells.map(\.state) == ProcedureState.allCases.map { "\($0)" })
      for (state, outcome) in zip(ProcedureState.allCases, row.cells.map(\.outcome))
      where outcome != "✕" {
        var machine = Self.machine(in: state, withCondition: event == .evaluate)
        let result = event.happen(to: &machine)
        #expect(result == outcome, "\(event) in \(state)")
        guard outcome == "accepted" else { continue }
        let next = event.happen(to: &machine)
        #expect(next == "late", "\(event) in \(state), once more")
      }
    }
  }

  @Test("S1, O3: an event that is impossible in its state traps")
  func traps() async throws {
    let traps = try Self.table().traps
    #expect(traps.count == 3)
    for (event, state) in traps {
      await #expect(processExitsWith: .failure) {
        [event = event as String, state = state as String] in
        guard let event = LifeEvent(rawValue: event),
          let state = ProcedureState.allCases.first(where: { "\($0)" == state })
        else { return }
        var machine = Self.machine(in: state)
        _ = event.happen(to: &machine)
      }
    }
  }

  @Test("an answer of the group traps that was not asked for, or comes twice")
  func heardEarly() async {
    await #expect(processExitsWith: .failure) {
      var machine = Machine()
      _ = machine.post(.joinGroup)
      _ = machine.post(.parentDecided)
    }
    await #expect(processExitsWith: .failure) {
      var machine = Machine()
      _ = machine.post(.joinGroup)
      _ = machine.post(.enqueue(waits: 0))
      _ = machine.start()
      while machine.next(wants: []) != .execute {}
      _ = machine.post(.finish())
      while machine.next(wants: []) != .askGroup {}
      _ = machine.post(.parentDecided)
      _ = machine.post(.parentDecided)
    }
  }

  @Test("C5: a cancel that counts marks, with its errors, and changes no state")
  func mark() throws {
    for state in try states(where: .mark, is: "accepted") {
      var machine = Self.machine(in: state)
      _ = machine.post(.mark(hasErrors: true))
      #expect(machine.isCancelled && machine.isFailed && machine.state == state)
    }
  }

  @Test("F1: a finish that counts notes its errors, and a refused one none")
  func finish() throws {
    for outcome in ["accepted", "refused"] {
      for state in try states(where: .finish, is: outcome) {
        var machine = Self.machine(in: state)
        _ = machine.post(.finish(hasErrors: true))
        #expect(machine.isFailed == (outcome == "accepted"), "\(state)")
      }
    }
  }

  @Test("C5, F1: after a claim cancels and other finishes are late, and the claimed one counts")
  func claim() {
    var machine = Self.machine(in: .executing)
    #expect(machine.post(.claimFinish) == .none)
    #expect(machine.post(.claimFinish) == .late)
    #expect(machine.post(.mark()) == .late)
    #expect(machine.post(.finish()) == .late)
    expectNot(machine.isCancelled)
    expect(machine.isToldToFinish)
    #expect(machine.post(.finish(hasErrors: true, isClaimed: true)) == .none)
    #expect(machine.next(wants: []) == .event(.willFinish))
    expect(machine.isFailed)
    var group = Machine(isGroup: true)
    _ = group.post(.enqueue(waits: 0))
    _ = group.start()
    #expect(group.next(wants: []) == .announceChildren)
    #expect(group.next(wants: []) == .execute)
    #expect(group.post(.claimFinish) == .none)
    #expect(group.post(.mark()) == .late)
    expectNot(group.isCancelled)
    expect(group.hasRefusedCancel)
    #expect(group.post(.releaseClaim) == .none)
    #expect(group.post(.mark()) == .none)
    var cancelled = Self.machine(in: .executing)
    #expect(cancelled.post(.mark()) == .none)
    #expect(cancelled.post(.claimFinish) == .late)
  }

  @Test(
    "F1: a finish of a cancelled procedure that has not started adds its errors",
    arguments: [ProcedureState.initialized, .pending])
  func finishCancelled(in state: ProcedureState) {
    var machine = Self.machine(in: state)
    _ = machine.post(.mark())
    let result = machine.post(.finish(hasErrors: true))
    #expect(result == (state == .initialized ? .none : .turn))
    #expect(machine.isFailed)
    #expect(machine.post(.finish(hasErrors: true)) == .late)
  }

  @Test("F1, G11: a finish of a group is refused, in every state", arguments: [false, true])
  func finishOnAGroup(isCancelled: Bool) {
    var machine = Machine(isGroup: true)
    if isCancelled { _ = machine.post(.mark()) }
    #expect(machine.post(.finish()) == .refused)
  }

  @Test("C5: after finish was accepted, a cancel is late although finishing has not begun")
  func cancelAfterFinish() {
    var machine = Self.machine(in: .executing)
    _ = machine.post(.finish())
    #expect(machine.post(.mark()) == .late)
  }

  @Test("G3: between mark and delivery a turn neither executes nor finishes")
  func betweenMarkAndDelivery() {
    for state in [ProcedureState.started, .executing] {
      var machine = Self.machine(in: state)
      _ = machine.post(.mark())
      _ = machine.post(.finish())
      #expect(machine.next(wants: []) == .idle)
      #expect(machine.post(.deliver) == .turn)
      #expect(machine.next(wants: []) == .event(.didCancel))
      #expect(machine.next(wants: []) == .event(.willFinish))
    }
    var machine = Self.machine(in: .pending)
    _ = machine.post(.mark())
    #expect(machine.start() == .turn)
    #expect(machine.next(wants: []) == .idle)
    #expect(machine.post(.deliver) == .turn)
    #expect(machine.next(wants: []) == .event(.didCancel))
    #expect(machine.next(wants: []) == .event(.willFinish))
  }

  @Test("a turn has one holder: a thread that notes an event while it is held need not ask for it")
  func oneHolder() {
    var machine = Self.machine(in: .executing)
    #expect(machine.turn.isHeld)
    #expect(machine.post(.observerAdded) == .none)
    #expect(machine.post(.additionPending) == .none)
    _ = machine.post(.mark())
    #expect(machine.post(.deliver) == .none)
    let steps = (0..<5).map { _ in machine.next(wants: .all) }
    #expect(
      steps == [
        .event(.didCancel), .event(.didAttach), .event(.didExecute), .event(.willAdd), .idle,
      ])
    #expect(!machine.turn.isHeld)
    #expect(machine.post(.finish()) == .turn)
  }

  @Test("C1: no user code begins between the mark and didCancel", arguments: [false, true])
  func nothingBeforeDidCancel(isDelivered: Bool) {
    for state in [ProcedureState.started, .executing] {
      var machine = Self.machine(in: state)
      _ = machine.post(.observerAdded)
      _ = machine.post(.additionPending)
      _ = machine.post(.childAsks)
      _ = machine.post(.mark())
      if isDelivered { _ = machine.post(.deliver) }
      #expect(machine.next(wants: .all) == (isDelivered ? .event(.didCancel) : .idle))
      #expect(machine.post(.takeTurn) == .none)
    }
  }

  @Test("a turn that was taken for one thing is kept if something was noted meanwhile")
  func turnForOneThing() {
    var machine = Machine(isGroup: true)
    expect(machine.post(.takeTurn) == .turn)
    expect(machine.post(.takeTurn) == .none)
    #expect(machine.post(.giveBackTurn) == .none)
    expect(machine.post(.takeTurn) == .turn)
    #expect(machine.post(.childAsks) == .none)
    #expect(machine.post(.giveBackTurn) == .turn)
    #expect(machine.turn.isHeld && machine.next(wants: []) == .decideForChildren)
  }

  @Test("O3: a held event keeps the turn; the last release gives it back")
  func holds() {
    var machine = Self.machine(in: .started)
    _ = machine.post(.hold(.execute))
    _ = machine.post(.hold(.execute))
    #expect(machine.next(wants: []) == .waitForPendingEvents)
    #expect(machine.post(.release(.finish)) == .none)
    #expect(machine.post(.release(.execute)) == .none)
    #expect(machine.post(.release(.execute)) == .turn)
    #expect(machine.post(.release(.execute)) == .none)
    #expect(machine.next(wants: []) == .execute)
  }

  @Test("O3: a cancel makes a held execute event moot")
  func cancelWhileHeld() {
    var machine = Self.machine(in: .started)
    _ = machine.post(.hold(.execute))
    #expect(machine.next(wants: []) == .waitForPendingEvents)
    _ = machine.post(.mark())
    #expect(machine.post(.deliver) == .turn)
    #expect(machine.next(wants: []) == .event(.didCancel))
    #expect(machine.post(.release(.execute)) == .none)
    #expect(machine.next(wants: []) == .event(.willFinish))
  }

  @Test("O3, F2, X4: a finish makes a held execute event moot", arguments: [false, true])
  func finishWhileHeld(isAwaited: Bool) {
    var machine = Self.machine(in: .started)
    _ = machine.post(.hold(.execute))
    if isAwaited { #expect(machine.next(wants: []) == .waitForPendingEvents) }
    #expect(machine.post(.finish()) == (isAwaited ? .turn : .none))
    // Another observer that is called now holds nothing.
    _ = machine.post(.hold(.execute))
    #expect(machine.post(.release(.execute)) == .none)
    #expect(machine.post(.mark()) == .late)
    #expect(machine.next(wants: []) == .event(.willFinish))
  }

  @Test("O3, F2, C1: between the mark of a cancel and its delivery a finish ends a hold, and waits")
  func finishWhileHeldAndMarked() {
    var machine = Self.machine(in: .started)
    _ = machine.post(.hold(.execute))
    #expect(machine.next(wants: []) == .waitForPendingEvents)
    _ = machine.post(.mark())
    #expect(machine.post(.finish()) == .turn)
    #expect(machine.next(wants: []) == .idle)
    #expect(machine.post(.deliver) == .turn)
    #expect(machine.next(wants: []) == .event(.didCancel))
    #expect(machine.next(wants: []) == .event(.willFinish))
  }

  @Test(
    "a procedure becomes ready once, when its last dependency is done, and a new one takes that back"
  )
  func readiness() {
    var machine = Machine()
    #expect(machine.post(.enqueue(waits: 2)) == .none)
    #expect(machine.post(.dependencyDone) == .none)
    #expect(machine.post(.dependencyDone) == .ready(.start))
    #expect(machine.post(.goOn) == .none)
    #expect(machine.post(.dependencyAdded) == .wait)
    // The start was under way, and comes too late.
    #expect(machine.start() == .none)
    #expect(machine.post(.dependencyDone) == .ready(.start))
    #expect(machine.start() == .turn)
    // Noted, but not yet carried out when a dependency comes in between.
    #expect(machine.post(.dependencyAdded) == .wait)
    #expect(machine.next(wants: []) == .idle)
    #expect(machine.post(.dependencyDone) == .ready(.start))
    #expect(machine.start() == .turn)
    #expect(machine.next(wants: []) == .execute)
  }

  @Test("G2, G4: a group settles its children once and ends after them", arguments: [false, true])
  func groupEnd(isCancelledBeforeStart: Bool) {
    var machine = Machine(isGroup: true)
    #expect(machine.post(.enqueue(waits: 0)) == .ready(.start))
    if isCancelledBeforeStart {
      _ = machine.post(.mark())
      #expect(machine.post(.deliver) == .turn)
      #expect(machine.next(wants: []) == .event(.didCancel))
    } else {
      #expect(machine.start() == .turn)
      #expect(machine.next(wants: []) == .announceChildren)
      #expect(machine.next(wants: []) == .execute)
    }
    #expect(machine.next(wants: []) == .settleChildren)
    #expect(machine.next(wants: []) == .idle)
    #expect(machine.post(.childrenFinished(hasErrors: true)) == .turn)
    #expect(machine.next(wants: []) == .event(.willFinish))
    #expect(machine.next(wants: []) == .event(.didFinish))
    #expect(machine.next(wants: []) == .retire)
    #expect(machine.isFailed)
  }

  @Test("O1: an observer is attached in a turn of its own after the end")
  func observerAfterTheEnd() {
    var machine = Self.machine(in: .finished)
    #expect(machine.next(wants: []) == .retire)
    #expect(machine.post(.observerAdded) == .turn)
    #expect(machine.next(wants: []) == .event(.didAttach))
    #expect(machine.next(wants: []) == .idle)
  }
}

/// The rows of the table.
private enum LifeEvent: String, CaseIterable {
  case enqueue
  case evaluate
  case start
  case mark
  case claimFinish
  case finish
  case observerAdded
  case additionPending
  case handOver
  case childAsks
  case hold

  private var event: Life.Event {
    switch self {
    case .enqueue: .enqueue(waits: 0)
    // A condition that is added begins a new attempt.
    case .evaluate: .evaluate(attempt: 1)
    case .start: .start(attempt: 0)
    case .mark: .mark()
    case .claimFinish: .claimFinish
    case .finish: .finish()
    case .observerAdded: .observerAdded
    case .additionPending: .additionPending
    case .handOver: .handOver
    case .childAsks: .childAsks
    case .hold: .hold(.finish)
    }
  }

  /// - Returns: in the table's words, what has come of it.
  func happen(to machine: inout Life) -> String {
    let stepsWithout = machine.remainingSteps
    let effect = machine.post(event)
    switch (self, effect) {
    case (_, .late): return "late"
    case (_, .refused): return "refused"
    case (.enqueue, _): return "→ \(machine.state)"
    case (.mark, _), (.claimFinish, _), (.finish, _): return "accepted"
    default: return machine.remainingSteps == stepsWithout ? "–" : "noted"
    }
  }
}

extension Life {
  /// What its turn does, if it has one, until nothing is left to do.
  fileprivate var remainingSteps: [Step] {
    var machine = self
    if machine.state == .initialized {
      if machine.post(.enqueue(waits: 0)) == .ready(.start) { _ = machine.start() }
    }
    var steps: [Step] = []
    while machine.turn.isHeld, steps.last != .waitForPendingEvents {
      steps.append(machine.next(wants: []))
    }
    return steps
  }

  fileprivate mutating func start() -> Effect { post(.start(attempt: attempt)) }
}
