@testable import Procedures
import ProcedureTestSupport
import Testing

@Suite struct ReadyListStateMachineTests {
  private typealias Standing = ReadyListStateMachine.Standing

  private func ready(_ priority: ProcedurePriority = .normal) -> Standing {
    Standing(urgency: Urgency(priority), readiness: .start)
  }

  // Mutating calls cannot stand inside the macro.
  private func expect(_ value: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(value, sourceLocation: location)
  }

  private func expectNot(_ value: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(!value, sourceLocation: location)
  }

  private let waiting = Standing(urgency: Urgency(), readiness: .waiting)

  @Test("Q1: members are taken by priority, then in the order in which they became ready")
  func order() {
    var machine = ReadyListStateMachine()
    let procedures = (0..<6).map { TracedProcedure("\($0)") }
    let standings = [ready(.low), ready(), waiting, ready(.veryHigh), ready(), ready(.veryLow)]
    for (procedure, standing) in zip(procedures, standings) {
      _ = machine.insert(procedure, standing)
    }
    machine.makeReady(procedures[2])
    let taken = (0..<6).compactMap { _ in machine.takeJob()?.procedure.name }
    #expect(taken == ["3", "1", "4", "2", "0", "5"])
    #expect(machine.slotsInUse == 6 && machine.count == 6)
  }

  @Test("Q2, Q3: no slot or suspended: nothing starts, but turns run")
  func slotsAndSuspension() {
    var machine = ReadyListStateMachine()
    machine.limit = 1
    let (first, second) = (TracedProcedure("first"), TracedProcedure("second"))
    _ = machine.insert(first, ready())
    _ = machine.insert(second, ready())
    #expect(machine.takeJob()?.procedure === first)
    #expect(machine.takeJob() == nil)
    machine.requestTurn(of: second)
    let turn = machine.takeJob()
    #expect(turn?.procedure === second && turn?.kind == .turn)
    expectNot(machine.retire(first).closes)
    machine.isSuspended = true
    #expect(machine.takeJob() == nil)
    machine.isSuspended = false
    #expect(machine.takeJob()?.kind == .start(0))
  }

  @Test("a worker is requested when something can be taken, and only one at a time")
  func workers() {
    var machine = ReadyListStateMachine()
    expectNot(machine.requestWorker())
    _ = machine.insert(TracedProcedure(), ready())
    _ = machine.insert(TracedProcedure(), ready())
    expect(machine.requestWorker())
    expectNot(machine.requestWorker())
    machine.workerArrived()
    _ = machine.takeJob()
    expect(machine.requestWorker())
    machine.workerArrived()
    _ = machine.takeJob()
    expectNot(machine.requestWorker())
  }

  @Test("G1, G2: a held group starts none; settled and empty, it closes once and accepts none")
  func groupPhases() {
    var machine = ReadyListStateMachine(isGroup: true)
    let child = TracedProcedure()
    _ = machine.insert(child, ready())
    #expect(machine.takeJob() == nil)
    machine.begin()
    #expect(machine.takeJob()?.procedure === child)
    expectNot(machine.settle())
    expect(machine.retire(child).closes)
    let insertion = machine.insert(TracedProcedure(), ready())
    #expect(insertion == .refused, "a closed group accepted a child")
  }

  @Test("G5: once cancelled, a group accepts children to be cancelled")
  func cancelledGroup() {
    var machine = ReadyListStateMachine(isGroup: true)
    machine.cancel(TreeCancel(errors: [TestError("first")], reason: .requested))
    machine.cancel(TreeCancel(errors: [], reason: .requested))
    let insertion = machine.insert(TracedProcedure(), ready())
    #expect(insertion == .accepted(isAnnounced: false))
    #expect(machine.treeCancel?.errors.count == 1)
  }

  @Test("one that is no member is left alone")
  func strangers() {
    var machine = ReadyListStateMachine()
    let procedure = TracedProcedure()
    expectNot(machine.retire(procedure).closes)
    machine.makeReady(procedure)
    _ = machine.makeWaiting(procedure)
    #expect(machine.count == 0 && machine.slotsInUse == 0)
  }

  @Test("Q2: a member that was taken and must wait after all gives its slot back")
  func takenButWaiting() {
    var machine = ReadyListStateMachine()
    machine.limit = 1
    let (first, second) = (TracedProcedure("first"), TracedProcedure("second"))
    _ = machine.insert(first, ready())
    _ = machine.insert(second, ready())
    #expect(machine.takeJob()?.procedure === first)
    _ = machine.makeWaiting(first)
    #expect(machine.slotsInUse == 0)
    #expect(machine.takeJob()?.procedure === second)
  }

  @Test("G5: in a cancelled group none starts")
  func noneStarts() {
    var machine = ReadyListStateMachine(isGroup: true)
    machine.begin()
    machine.cancel(TreeCancel(errors: [], reason: .requested))
    _ = machine.insert(TracedProcedure(), ready())
    #expect(machine.takeJob() == nil)
  }

  @Test("a ready member that gains a dependency waits again, and frees its place in the line")
  func backToWaiting() {
    var machine = ReadyListStateMachine()
    let procedure = TracedProcedure()
    _ = machine.insert(procedure, ready())
    _ = machine.makeWaiting(procedure)
    #expect(machine.takeJob() == nil)
    machine.makeReady(procedure)
    #expect(machine.takeJob()?.procedure === procedure)
  }
}

extension ReadyListStateMachine {
  fileprivate mutating func makeReady(_ procedure: Procedure) {
    advance(procedure, to: .start, in: 0, asking: nil)
  }

  fileprivate mutating func takeJob() -> Job? {
    guard case .job(let job) = take() else { return nil }
    return job
  }
}
