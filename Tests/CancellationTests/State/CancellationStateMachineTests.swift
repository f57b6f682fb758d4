import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import Cancellation

/// What the table at the head of the machine leaves to be said: see CancellationMachineTableTests.
@Suite(.hangLimit) struct CancellationStateMachineTests {
  enum PhaseName: String, CaseIterable { case pending, marked, cancelled, notCancelled }

  private let marking = TreeMarking()

  private func machine(_ phase: PhaseName) -> CancellationStateMachine {
    var machine = CancellationStateMachine()
    switch phase {
    case .pending: break
    case .marked: _ = machine.mark(.cancelled(.requested), by: marking)
    case .cancelled: _ = machine.settle(.cancelled(.requested))
    case .notCancelled: _ = machine.settle(.notCancelled)
    }
    return machine
  }

  private func name(_ machine: CancellationStateMachine) -> PhaseName {
    switch machine.phase {
    case .pending: .pending
    case .marked: .marked
    case .settled(.cancelled): .cancelled
    case .settled(.notCancelled): .notCancelled
    }
  }

  private func name(_ admission: CancellationStateMachine.Admission) -> String {
    switch admission {
    case .kept: "kept"
    case .wait: "wait"
    case .settled(let outcome): outcome.isCancelled ? "cancelled" : "not cancelled"
    }
  }

  @Test("K1: settle counts once, in the pending phase only", arguments: PhaseName.allCases)
  func settle(phase: PhaseName) {
    for outcome in [CancellationOutcome.cancelled(.requested), .notCancelled] {
      var machine = machine(phase)
      switch machine.settle(outcome) {
      case .settled(let first, let more, _):
        #expect(phase == .pending && first == nil && !more)
        #expect(name(machine) == (outcome.isCancelled ? .cancelled : .notCancelled))
      case .late:
        #expect(phase != .pending && name(machine) == phase)
      case .hasDependents:
        Issue.record("there are no dependents")
      }
    }
  }

  @Test("K6: a token settles only after its dependents are marked")
  func settleWithDependents() {
    var machine = CancellationStateMachine()
    _ = machine.addDependent(.child(CancellationState()))
    guard case .hasDependents = machine.settle(.cancelled(.requested)) else {
      Issue.record("settled ahead of its child")
      return
    }
    #expect(machine.isPending)
  }

  @Test("K6: beginning the calls settles what is marked, with the outcome that it was marked with")
  func beginCalls() {
    var machine = machine(.marked)
    let outcome = machine.beginCalls()
    #expect(outcome.isCancelled)
    #expect(name(machine) == .cancelled)
  }

  @Test(
    "K3: a handler is kept, waits for the walk, or is called now", arguments: PhaseName.allCases)
  func register(phase: PhaseName) {
    let expected: [PhaseName: String] = [
      .pending: "kept", .marked: "wait", .cancelled: "cancelled", .notCancelled: "not cancelled",
    ]
    var machine = machine(phase)
    let admission = machine.register(.cancel {})
    #expect(name(admission) == expected[phase])
    #expect(machine.hasHandlers == (phase == .pending))
    #expect(name(machine) == phase)
  }

  @Test(
    "K6: a dependent is kept, waits for the walk, or is notified now", arguments: PhaseName.allCases
  )
  func addDependent(phase: PhaseName) {
    let expected: [PhaseName: String] = [
      .pending: "kept", .marked: "wait", .cancelled: "cancelled", .notCancelled: "not cancelled",
    ]
    var machine = machine(phase)
    let admission = machine.addDependent(.child(CancellationState()))
    #expect(name(admission) == expected[phase])
    #expect(name(machine) == phase)
  }

  @Test("K5: unregister finds a handler in every phase, once", arguments: PhaseName.allCases)
  func unregister(phase: PhaseName) throws {
    var machine = CancellationStateMachine()
    guard case .kept = machine.register(.cancel {}),
      case .kept(let key) = machine.register(.cancel {})
    else { throw Unexpected() }
    switch phase {
    case .pending: break
    case .marked: _ = machine.mark(.cancelled(.requested), by: marking)
    case .cancelled: _ = machine.settle(.cancelled(.requested))
    case .notCancelled: _ = machine.settle(.notCancelled)
    }
    let (first, second) = (machine.unregister(key), machine.unregister(key))
    #expect(first != nil && second == nil)
  }

  @Test("K3: handlers come out in the order in which they went in")
  func nextHandler() {
    let calls = Locked<[Int]>([])
    var machine = CancellationStateMachine()
    for number in 0..<4 {
      _ = machine.register(.complete { _ in calls.withLock { $0.append(number) } })
    }
    guard case .settled(let first, let more, _) = machine.settle(.cancelled(.requested)) else {
      Issue.record("not settled")
      return
    }
    #expect(more)
    first?.call(cancelled: true)
    for left in [2, 1, 0] {
      let (handler, more) = machine.nextHandler()
      handler?.call(cancelled: true)
      #expect(more == (left > 0))
    }
    let last = machine.nextHandler()
    #expect(last.handler == nil && !last.more)
    #expect(calls.withLock { $0 } == [0, 1, 2, 3])
  }

  typealias Rule = CancellationStateMachine.Rule

  @Test(
    "K9: the ends of operands decide by rule",
    arguments: [
      (Rule.linked, [false, false, true], 3), (.linked, [false, false], nil),
      (.any(undecided: 2), [true], 1), (.any(undecided: 2), [false, true], 2),
      (.any(undecided: 2), [false, false], 2), (.any(undecided: 2), [false], nil),
      (.all(undecided: 2), [true, true], 2), (.all(undecided: 2), [true, false], 2),
      (.all(undecided: 2), [false], 1), (.all(undecided: 2), [true], nil),
    ] as [(Rule, [Bool], Int?)])
  func operands(rule: Rule, ends: [Bool], decidedBy: Int?) {
    var machine = CancellationStateMachine()
    machine.rule = rule
    var decided: Int?
    for (index, cancelled) in ends.enumerated() {
      let outcome = cancelled ? CancellationOutcome.cancelled(.taskCancelled) : .notCancelled
      if case .marked = machine.operand(outcome, by: marking) { decided = index + 1 }
    }
    #expect(decided == decidedBy)
    #expect(name(machine) == (decidedBy == nil ? .pending : .marked))
    if decided != nil { #expect(machine.outcome?.isCancelled == ends.last) }
  }

  @Test("K6: an operand's end is ignored by what has ended, and reports another walk that it meets")
  func operandLate() {
    for phase in [PhaseName.cancelled, .notCancelled] {
      var machine = machine(phase)
      guard case .undecided = machine.operand(.cancelled(.taskCancelled), by: marking) else {
        Issue.record("not ignored")
        continue
      }
      #expect(name(machine) == phase)
    }
    var machine = machine(.marked)
    guard case .markedBefore = machine.operand(.cancelled(.taskCancelled), by: marking) else {
      Issue.record("the walk met itself")
      return
    }
    guard case .met(let met) = machine.operand(.cancelled(.taskCancelled), by: TreeMarking()) else {
      Issue.record("the other walk was not reported")
      return
    }
    #expect(met === marking)
  }

  @Test(
    "K6: dependents are notified once; a linked child stays with a parent that was not cancelled")
  func takeDependents() {
    for cancelled in [true, false] {
      let outcome = cancelled ? CancellationOutcome.cancelled(.requested) : .notCancelled
      let states = [CancellationState(), CancellationState()]
      var machine = CancellationStateMachine()
      _ = machine.addDependent(.child(states[0]))
      _ = machine.addDependent(.combination(WeakState(states[1])))
      _ = machine.mark(outcome, by: marking)
      let told = machine.takeDependents(toTell: outcome).count
      let toldAgain = machine.takeDependents(toTell: outcome).count
      #expect(told == (cancelled ? 2 : 1) && toldAgain == 0)
      _ = machine.beginCalls()
      let (orphans, none) = (machine.takeOrphans().count, machine.takeOrphans().count)
      #expect(orphans == (cancelled ? 0 : 1) && none == 0)
    }
  }

  struct Unexpected: Error {}
}
