import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import ProcedureExclusion
@testable import Procedures

/// Members of a `ListMachine` that are evaluated, or ask for something beside a slot.
@Suite(.hangLimit) struct ExcludedMembersTests {
  private typealias Machine = ListMachine

  private static let tickets = Locked<UInt64>(0)

  // Mutating calls cannot stand inside the macro.
  private func expect(_ value: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(value, sourceLocation: location)
  }

  private func standing(_ readiness: Readiness) -> EnqueueRequest {
    .init(urgency: Urgency(), readiness: readiness, attempt: 3)
  }

  /// A member that is ready, and asks for something.
  private func exclusive(_ name: String, in machine: inout Machine) -> MemberRequest {
    let item = Procedure().named(name)
    let request = MemberRequest(CategoryLimits(), for: item, in: ProcedureList(context: .detached))
    _ = machine.insert(item, standing(.waiting))
    machine.advance(item, to: .start, in: 5, asking: request)
    return request
  }

  private func takenName(_ machine: inout Machine) -> String? {
    guard let job = machine.take() else { return nil }
    return "\(job.member.procedure.name) \(job.kind)"
  }

  /// What the first of the ready ones asks for, if no other can be taken.
  private func nextToAsk(_ machine: inout Machine) -> MemberRequest? {
    machine.take() == nil ? machine.requestOfNext : nil
  }

  /// The first of the ready ones steps aside, because it is not granted what it asks for.
  private func exclude(_ machine: inout Machine) -> MemberRequest? {
    guard let request = nextToAsk(&machine) else { return nil }
    // Tickets are drawn by the table, which is asked now.
    if request.age == 0 {
      request.draw(
        Self.tickets.withLock {
          $0 += 1; return $0
        })
    }
    machine.exclude(request.procedure)
    return request
  }

  private func grants(_ request: MemberRequest, _ machine: inout Machine) -> Bool {
    machine.grant(request, to: request.procedure)
  }

  @Test("D1, Q2: a member with conditions is evaluated before ready ones start, without a slot")
  func evaluable() {
    var machine = Machine()
    machine.limit = 1
    let (ready, evaluable) = (Procedure().named("ready"), Procedure().named("evaluable"))
    _ = machine.insert(ready, standing(.start))
    _ = machine.insert(evaluable, standing(.evaluate))
    expect(takenName(&machine) == "evaluable evaluate(3)")
    expect(machine.slotsInUse == 0)
    expect(takenName(&machine) == "ready start(3)")
    machine.advance(evaluable, to: .evaluate, in: 4, asking: nil)
    expect(takenName(&machine) == "evaluable evaluate(4)" && machine.slotsInUse == 1)
  }

  @Test("Q3, G1, G5: a suspended, held or cancelled list evaluates no member")
  func closedToEvaluation() {
    var suspended = Machine()
    suspended.isSuspended = true
    var held = Machine(isGroup: true)
    var cancelled = Machine(isGroup: true)
    cancelled.begin()
    cancelled.cancel()
    func expectNoEvaluation(_ machine: inout Machine) {
      _ = machine.insert(Procedure(), standing(.evaluate))
      expect(takenName(&machine) == nil)
    }
    expectNoEvaluation(&suspended)
    expectNoEvaluation(&cancelled)
    var notBegun = Machine(isGroup: true)
    expectNoEvaluation(&notBegun)
    _ = held.insert(Procedure().named("p"), standing(.evaluate))
    held.begin()
    expect(takenName(&held) == "p evaluate(3)")
  }

  @Test("L2: an exclusive member asks when a slot is free, and takes it only if it is granted")
  func mustAsk() {
    var machine = Machine()
    machine.limit = 1
    let first = exclusive("first", in: &machine)
    _ = exclusive("second", in: &machine)
    let asked = exclude(&machine)
    expect(asked === first && machine.slotsInUse == 0)
    guard let request = nextToAsk(&machine) else {
      Issue.record("the second does not ask")
      return
    }
    expect(machine.takeGranted(request.procedure).kind == .start(5) && machine.slotsInUse == 1)
    expect(takenName(&machine) == nil)
  }

  @Test("Q1, L6: a member that has stepped aside goes to the place of its new priority, by its age")
  func raised() {
    var machine = Machine()
    machine.limit = 1
    func setPriority(_ request: MemberRequest, _ machine: inout Machine) {
      let urgency = Urgency(.high)
      _ = machine.setUrgency(urgency, of: request.procedure)
      request.setRank(ProcedurePriority.high.rank)
      machine.reorder(request.procedure, request)
    }
    // 1. Each has asked, and was offered its category when there was no slot.
    let requests = ["a", "b", "c"].map { exclusive($0, in: &machine) }
    for _ in requests { _ = exclude(&machine) }
    _ = machine.insert(Procedure().named("other"), standing(.start))
    expect(takenName(&machine) == "other start(3)")
    for request in requests { expect(!grants(request, &machine)) }
    // 2. The oldest is raised last.
    for request in requests.reversed() { setPriority(request, &machine) }
    // 3. With room for all they ask in the order of their age.
    machine.limit = 9
    for request in requests {
      guard let next = nextToAsk(&machine) else {
        Issue.record("none asks")
        return
      }
      #expect(next === request)
      _ = machine.takeGranted(next.procedure)
    }
  }

  @Test("L2: a grant takes a slot, goes before evaluations, and asks for a worker")
  func grant() {
    var machine = Machine()
    machine.limit = 1
    let request = exclusive("a", in: &machine)
    _ = exclude(&machine)
    expect(!machine.requestsWorker())
    _ = machine.insert(Procedure().named("b"), standing(.evaluate))
    let isGranted = grants(request, &machine)
    expect(isGranted && machine.slotsInUse == 1 && machine.requestsWorker())
    expect(takenName(&machine) == "a start(5)")
  }

  @Test(
    "L4: members that get an offer without a slot are first among the ready, in order, by priority")
  func grantWithoutSlot() {
    var machine = Machine()
    let requests = ["a", "b"].map { exclusive($0, in: &machine) }
    _ = (exclude(&machine), exclude(&machine))
    machine.limit = 1
    for name in ["running", "ready"] {
      _ = machine.insert(Procedure().named(name), standing(.start))
    }
    expect(takenName(&machine) == "running start(3)")
    for request in requests { expect(!grants(request, &machine)) }
    _ = machine.insert(
      Procedure().named("urgent"), .init(urgency: Urgency(.high), readiness: .start))
    expect(machine.slotsInUse == 1)
    machine.limit = 5
    expect(takenName(&machine) == "urgent start(0)")
    expect(exclude(&machine) === requests[0] && exclude(&machine) === requests[1])
    expect(takenName(&machine) == "ready start(3)")
  }

  @Test("L1: an offer counts only for the request that is made now")
  func staleOffer() {
    var machine = Machine()
    let stale = exclusive("a", in: &machine)
    _ = exclude(&machine)
    let item = stale.procedure
    expect(machine.makeWaiting(item) === stale)
    expect(!grants(stale, &machine))
    let new = MemberRequest(CategoryLimits(), for: item, in: ProcedureList(context: .detached))
    machine.advance(item, to: .start, in: 6, asking: new)
    _ = exclude(&machine)
    expect(!grants(stale, &machine) && machine.slotsInUse == 0)
    expect(grants(new, &machine))
  }

  @Test("L2: a granted member that must wait after all gives up the slot and the request")
  func grantedButWaiting() {
    var machine = Machine()
    let request = exclusive("a", in: &machine)
    _ = exclude(&machine)
    expect(grants(request, &machine))
    expect(machine.makeWaiting(request.procedure) === request)
    expect(machine.slotsInUse == 0 && takenName(&machine) == nil)
    expect(machine.retire(.unowned(request.procedure)).request == nil)
  }

  @Test(
    "L2, Q3: granted members give their request up in a suspended list, and go first when it goes on"
  )
  func revoke() {
    var machine = Machine()
    let requests = ["a", "b"].map { exclusive($0, in: &machine) }
    _ = (exclude(&machine), exclude(&machine))
    _ = machine.insert(Procedure().named("ready"), standing(.start))
    for request in requests { expect(grants(request, &machine)) }
    machine.isSuspended = true
    let revoked = machine.revokeGrants()
    expect(revoked.map(\.procedure.name) == ["a", "b"] && machine.slotsInUse == 0)
    expect(takenName(&machine) == nil)
    machine.isSuspended = false
    expect(exclude(&machine) === requests[0] && exclude(&machine) === requests[1])
  }

  @Test(
    "L4: only a waiter in line is withdrawn; it stays a member, and keeps the request, until it retires"
  )
  func withdraw() {
    var machine = Machine()
    let (waiter, ready) = (exclusive("waiter", in: &machine), exclusive("ready", in: &machine))
    _ = exclude(&machine)
    expect(machine.withdraw(ready.procedure) == nil)
    expect(machine.withdraw(Procedure()) == nil)
    expect(machine.withdraw(waiter.procedure) === waiter)
    expect(machine.withdraw(waiter.procedure) == nil)
    expect(!grants(waiter, &machine) && machine.count == 2)
    expect(machine.retire(.unowned(waiter.procedure)).request === waiter && machine.count == 1)
  }

  @Test("L1: a member that retires gives up what it asked for, or holds")
  func retire() {
    for steps in 0..<4 {
      var machine = Machine()
      let request = exclusive("a", in: &machine)
      if steps > 0 { _ = exclude(&machine) }
      if steps > 1 { expect(grants(request, &machine)) }
      if steps > 2 { expect(takenName(&machine) == "a start(5)") }
      expect(machine.retire(.unowned(request.procedure)).request === request)
      expect(machine.count == 0 && machine.slotsInUse == 0)
    }
  }
}

extension ListMachine {
  /// Whether a worker is asked for now; it arrives at once.
  fileprivate mutating func requestsWorker() -> Bool {
    defer { workerArrived() }
    return requestWorker()
  }
}
