import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import Procedures

/// Members of a `ReadyListStateMachine` that are evaluated, or ask for something beside a slot.
@Suite struct ExcludedMembersTests {
  private typealias Machine = ReadyListStateMachine<ListedItem, ListedItem.Request>

  private static let tickets = Locked<UInt64>(0)

  // Mutating calls cannot stand inside the macro.
  private func expect(_ value: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(value, sourceLocation: location)
  }

  private func standing(_ readiness: Readiness) -> MemberStanding {
    .init(urgency: Urgency(), readiness: readiness, attempt: 3)
  }

  /// A member that is ready, and asks for something.
  private func exclusive(_ name: String, in machine: inout Machine) -> ListedItem.Request {
    let item = ListedItem(name)
    let request = ListedItem.Request(of: item)
    _ = machine.insert(item, standing(.waiting))
    machine.advance(item, to: .start, in: 5, asking: request)
    return request
  }

  private func takenName(_ machine: inout Machine) -> String? {
    guard case .job(let job)? = machine.take() else { return nil }
    return "\(job.member.item.name) \(job.kind)"
  }

  /// The first of the ready ones steps aside, because it is not granted what it asks for.
  private func exclude(_ machine: inout Machine) -> ListedItem.Request? {
    guard case .mustAsk(let request)? = machine.take() else { return nil }
    // Tickets are drawn by the table, which is asked now.
    if request.ticket == 0 {
      request.ticket = Self.tickets.withLock {
        $0 += 1; return $0
      }
    }
    machine.exclude(request.item)
    return request
  }

  private func grants(_ request: ListedItem.Request, _ machine: inout Machine) -> Bool {
    machine.grant(request, to: request.item)
  }

  @Test("D1, Q2: evaluable: taken before ready ones, without a slot, and then waiting")
  func evaluable() {
    var machine = Machine()
    machine.limit = 1
    let (ready, evaluable) = (ListedItem("ready"), ListedItem("evaluable"))
    _ = machine.insert(ready, standing(.start))
    _ = machine.insert(evaluable, standing(.evaluate))
    expect(takenName(&machine) == "evaluable evaluate(3)")
    expect(machine.slotsInUse == 0)
    expect(takenName(&machine) == "ready start(3)")
    machine.advance(evaluable, to: .evaluate, in: 4, asking: nil)
    expect(takenName(&machine) == "evaluable evaluate(4)" && machine.slotsInUse == 1)
  }

  @Test("Q3, G1, G5: in a suspended, held or cancelled list none is evaluated")
  func closedToEvaluation() {
    var suspended = Machine()
    suspended.isSuspended = true
    var held = Machine(isGroup: true)
    var cancelled = Machine(isGroup: true)
    cancelled.begin()
    cancelled.cancel()
    for var machine in [suspended, held, cancelled] {
      _ = machine.insert(ListedItem(), standing(.evaluate))
      expect(takenName(&machine) == nil)
    }
    _ = held.insert(ListedItem("p"), standing(.evaluate))
    held.begin()
    expect(takenName(&held) == "p evaluate(3)")
  }

  @Test("L2: one that excludes others must ask when a slot is free, and takes it only if granted")
  func mustAsk() {
    var machine = Machine()
    machine.limit = 1
    let first = exclusive("first", in: &machine)
    _ = exclusive("second", in: &machine)
    let asked = exclude(&machine)
    expect(asked === first && machine.slotsInUse == 0)
    guard case .mustAsk(let request)? = machine.take() else {
      Issue.record("the second does not ask")
      return
    }
    expect(machine.takeGranted(request.item).kind == .start(5) && machine.slotsInUse == 1)
    expect(takenName(&machine) == nil)
  }

  @Test("L2: a grant takes a slot, goes before evaluable ones, and a worker is asked for")
  func grant() {
    var machine = Machine()
    machine.limit = 1
    let request = exclusive("a", in: &machine)
    _ = exclude(&machine)
    expect(!machine.requestsWorker())
    _ = machine.insert(ListedItem("b"), standing(.evaluate))
    let isGranted = grants(request, &machine)
    expect(isGranted && machine.slotsInUse == 1 && machine.requestsWorker())
    expect(takenName(&machine) == "a start(5)")
  }

  @Test("L4: offers that come when there is no slot: first among the ready, in order, by priority")
  func grantWithoutSlot() {
    var machine = Machine()
    let requests = ["a", "b"].map { exclusive($0, in: &machine) }
    _ = (exclude(&machine), exclude(&machine))
    machine.limit = 1
    for name in ["running", "ready"] {
      _ = machine.insert(ListedItem(name), standing(.start))
    }
    expect(takenName(&machine) == "running start(3)")
    for request in requests { expect(!grants(request, &machine)) }
    _ = machine.insert(
      ListedItem("urgent"), .init(urgency: Urgency(.high), readiness: .start))
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
    let item = stale.item
    expect(machine.makeWaiting(item) === stale)
    expect(!grants(stale, &machine))
    let new = ListedItem.Request(of: item)
    machine.advance(item, to: .start, in: 6, asking: new)
    _ = exclude(&machine)
    expect(!grants(stale, &machine) && machine.slotsInUse == 0)
    expect(grants(new, &machine))
  }

  @Test("L2: one that is granted and must wait after all gives up the slot and the request")
  func grantedButWaiting() {
    var machine = Machine()
    let request = exclusive("a", in: &machine)
    _ = exclude(&machine)
    expect(grants(request, &machine))
    expect(machine.makeWaiting(request.item) === request)
    expect(machine.slotsInUse == 0 && takenName(&machine) == nil)
    expect(machine.retire(.unowned(request.item)).request == nil)
  }

  @Test("L2, Q3: suspended: those that were granted give it up, and go first when it goes on")
  func revoke() {
    var machine = Machine()
    let requests = ["a", "b"].map { exclusive($0, in: &machine) }
    _ = (exclude(&machine), exclude(&machine))
    _ = machine.insert(ListedItem("ready"), standing(.start))
    for request in requests { expect(grants(request, &machine)) }
    machine.isSuspended = true
    let revoked = machine.revokeGrants()
    expect(revoked.map(\.item.name) == ["a", "b"] && machine.slotsInUse == 0)
    expect(takenName(&machine) == nil)
    machine.isSuspended = false
    expect(exclude(&machine) === requests[0] && exclude(&machine) === requests[1])
  }

  @Test(
    "L4: withdraw: only a waiter in line; it is a member, and keeps the request, until it retires")
  func withdraw() {
    var machine = Machine()
    let (waiter, ready) = (exclusive("waiter", in: &machine), exclusive("ready", in: &machine))
    _ = exclude(&machine)
    expect(machine.withdraw(ready.item) == nil)
    expect(machine.withdraw(ListedItem()) == nil)
    expect(machine.withdraw(waiter.item) === waiter)
    expect(machine.withdraw(waiter.item) == nil)
    expect(!grants(waiter, &machine) && machine.count == 2)
    expect(machine.retire(.unowned(waiter.item)).request === waiter && machine.count == 1)
  }

  @Test("L1: one that retires gives up what it asked for, or holds, wherever it is")
  func retire() {
    for steps in 0..<4 {
      var machine = Machine()
      let request = exclusive("a", in: &machine)
      if steps > 0 { _ = exclude(&machine) }
      if steps > 1 { expect(grants(request, &machine)) }
      if steps > 2 { expect(takenName(&machine) == "a start(5)") }
      expect(machine.retire(.unowned(request.item)).request === request)
      expect(machine.count == 0 && machine.slotsInUse == 0)
    }
  }
}

extension ReadyListStateMachine {
  /// Whether a worker is asked for now; it arrives at once.
  fileprivate mutating func requestsWorker() -> Bool {
    defer { workerArrived() }
    return requestWorker()
  }
}
