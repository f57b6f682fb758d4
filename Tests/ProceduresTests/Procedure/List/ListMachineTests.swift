import ProcedurePrimitives
@testable import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct ListMachineTests {
  private typealias Standing = EnqueueRequest

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
    var machine = ListMachine()
    let items = (0..<6).map { Procedure().named("\($0)") }
    let standings = [ready(.low), ready(), waiting, ready(.veryHigh), ready(), ready(.veryLow)]
    for (item, standing) in zip(items, standings) {
      _ = machine.insert(item, standing)
    }
    machine.makeReady(items[2])
    let taken = (0..<6).compactMap { _ in machine.take()?.member.procedure.name }
    #expect(taken == ["3", "1", "4", "2", "0", "5"])
    #expect(machine.slotsInUse == 6 && machine.count == 6)
  }

  @Test("Q2, Q3: nothing starts without a slot, or suspended, but turns run")
  func slotsAndSuspension() {
    var machine = ListMachine()
    machine.limit = 1
    let (first, second) = (Procedure().named("first"), Procedure().named("second"))
    _ = machine.insert(first, ready())
    _ = machine.insert(second, ready())
    #expect(machine.take()?.member.procedure === first)
    #expect(machine.take() == nil)
    machine.requestTurn(of: second)
    let turn = machine.take()
    #expect(turn?.member.procedure === second && turn?.kind == .turn)
    expectNot(machine.retire(.unowned(first)).closes)
    machine.isSuspended = true
    #expect(machine.take() == nil)
    machine.isSuspended = false
    #expect(machine.take()?.kind == .start(0))
  }

  @Test("a worker is requested when something can be taken, and only one at a time")
  func workers() {
    var machine = ListMachine()
    expectNot(machine.requestWorker())
    _ = machine.insert(Procedure(), ready())
    _ = machine.insert(Procedure(), ready())
    expect(machine.requestWorker())
    expectNot(machine.requestWorker())
    machine.workerArrived()
    _ = machine.take()
    expect(machine.requestWorker())
    machine.workerArrived()
    _ = machine.take()
    expectNot(machine.requestWorker())
  }

  @Test("G1, G2: a held group starts none; settled and empty, it closes once and accepts none")
  func groupPhases() {
    var machine = ListMachine(isGroup: true)
    let child = Procedure()
    _ = machine.insert(child, ready())
    #expect(machine.take() == nil)
    machine.begin()
    #expect(machine.take()?.member.procedure === child)
    expectNot(machine.settle())
    expect(machine.retire(.unowned(child)).closes)
    let insertion = machine.insert(Procedure(), ready())
    #expect(insertion == .refused, "a closed group accepted a child")
  }

  @Test("G5: once cancelled, a group accepts children to be cancelled")
  func cancelledGroup() {
    var machine = ListMachine(isGroup: true)
    machine.cancel()
    let insertion = machine.insert(Procedure(), ready())
    #expect(insertion == .accepted(isAnnounced: false))
    expect(machine.isCancelled)
  }

  @Test("a procedure that is no member is left alone")
  func strangers() {
    var machine = ListMachine()
    let item = Procedure()
    expectNot(machine.retire(.unowned(item)).closes)
    machine.makeReady(item)
    _ = machine.makeWaiting(item)
    #expect(machine.count == 0 && machine.slotsInUse == 0)
  }

  @Test("Q2: a member that was taken and must wait after all gives its slot back")
  func takenButWaiting() {
    var machine = ListMachine()
    machine.limit = 1
    let (first, second) = (Procedure().named("first"), Procedure().named("second"))
    _ = machine.insert(first, ready())
    _ = machine.insert(second, ready())
    #expect(machine.take()?.member.procedure === first)
    _ = machine.makeWaiting(first)
    #expect(machine.slotsInUse == 0)
    #expect(machine.take()?.member.procedure === second)
  }

  @Test("G5: no member of a cancelled group starts")
  func noneStarts() {
    var machine = ListMachine(isGroup: true)
    machine.begin()
    machine.cancel()
    _ = machine.insert(Procedure(), ready())
    #expect(machine.take() == nil)
  }

  @Test("a ready member that gains a dependency waits again, and frees its place in the line")
  func backToWaiting() {
    var machine = ListMachine()
    let item = Procedure()
    _ = machine.insert(item, ready())
    _ = machine.makeWaiting(item)
    #expect(machine.take() == nil)
    machine.makeReady(item)
    #expect(machine.take()?.member.procedure === item)
  }

  private func inBatch(
    _ readiness: Readiness, _ priority: ProcedurePriority = .normal
  ) -> Standing {
    Standing(urgency: Urgency(priority), readiness: readiness, isInBatch: true)
  }

  @Test("Q12: a member of a batch waits until that is complete, and stands then where it is ready")
  func batch() {
    var machine = ListMachine()
    let items = (0..<7).map { Procedure().named("\($0)") }
    let standings = [
      inBatch(.start, .low), inBatch(.waiting), inBatch(.start, .high), inBatch(.start),
      inBatch(.start), inBatch(.evaluate), inBatch(.waiting),
    ]
    for (item, standing) in zip(items, standings) { _ = machine.insert(item, standing) }
    // Ready meanwhile; waiting after all; cancelled, and gone.
    machine.makeReady(items[1])
    _ = machine.makeWaiting(items[3])
    _ = machine.withdraw(items[4])
    expectNot(machine.retire(.unowned(items[4])).closes)
    #expect(machine.take()?.kind == .evaluate(0))
    machine.makeReady(items[5])
    #expect(machine.take() == nil && machine.count == 6)
    machine.complete(items)
    let taken = (0..<7).compactMap { _ in machine.take()?.member.procedure.name }
    #expect(taken == ["2", "1", "5", "0"])
    // From here on it is as any other.
    for index in [3, 6] {
      machine.makeReady(items[index])
      #expect(machine.take()?.member.procedure === items[index])
    }
  }

  @Test("Q12: members of a batch wait, received or not, among others")
  func batchOfArrivals() {
    for isReceivedEarly in [false, true] {
      var machine = ListMachine()
      let arrivals = Arrivals(isOpen: true)
      let expected = AtomicByte(1)
      func arrive(_ item: Procedure, _ standing: Standing) {
        item.withCore { _ in
          let held = HeldList.adding(item)
          standing.note(in: item, held)
          _ = arrivals.append(item, isExpected: expected, held)
        }
      }
      let items = (0..<5).map { Procedure().named("\($0)") }
      arrive(items[0], ready())
      arrive(items[1], inBatch(.start))
      if isReceivedEarly {
        machine.receive(from: arrivals)
      }
      arrive(items[2], inBatch(.waiting))
      arrive(items[3], inBatch(.start))
      arrive(items[4], ready())
      machine.complete([items[1], items[2], items[3]])
      machine.receive(from: arrivals)
      let taken = (0..<5).compactMap { _ in machine.take()?.member.procedure.name }
      #expect(taken == ["0", "1", "3", "4"])
      machine.makeReady(items[2])
      #expect(machine.take()?.member.procedure === items[2])
    }
  }
}

extension ListMachine {
  fileprivate mutating func makeReady(_ item: Procedure) {
    advance(item, to: .start, in: 0, asking: nil)
  }

}
