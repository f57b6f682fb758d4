import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import ProcedureExclusion

/// The table at the head of `ExclusionTable`: every event in every status, and levels.
@Suite(.hangLimit) struct ExclusionTableTests {
  // Mutating calls cannot stand inside the macro.
  private func expect(_ value: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(value, sourceLocation: location)
  }

  private func request(
    _ names: String, atMost count: Int = 1, inside group: ExclusionRequest? = nil,
    rank: UInt8 = 2
  ) -> ExclusionRequest {
    let limits = names.map { CategoryLimit(CategoryID(named: String($0), in: nil), atMost: count) }
    let request = ExclusionRequest(CategoryLimits(limits), rank: rank)
    request.state.outer = group
    return request
  }

  private func names(_ request: ExclusionRequest) -> String {
    request.limits.map(\.category.text).joined()
  }

  private func status(_ request: ExclusionRequest) -> String {
    switch request.state.status {
    case .idle: "idle"
    case .waiting: "waiting"
    case .held: "held"
    }
  }

  private func asks(_ request: ExclusionRequest, _ table: inout ExclusionTable) -> Bool {
    table.ask(request, inside: request.state.outer)
  }

  @Test("L1, L2: a request holds everything if that is free, else it waits and holds nothing")
  func ask() {
    var table = ExclusionTable()
    let (first, both, other) = (request("a"), request("ab"), request("b"))
    let granted = [first, both, other].map { asks($0, &table) }
    expect(granted == [true, false, true])
    expect([first, both, other].map(status) == ["held", "waiting", "held"])
    expect(table.count == 2)
  }

  @Test(
    "L4: a request that leaves does nothing when idle, leaves the line when waiting, and frees what it holds"
  )
  func leave() {
    var table = ExclusionTable()
    let requests = (0..<4).map { _ in request("a") }
    expect(table.leave(requests[0]).isEmpty)
    for request in requests { _ = table.ask(request) }
    expect(table.leave(requests[1]).isEmpty && status(requests[1]) == "idle")
    expect(table.leave(requests[0]).map { $0 === requests[2] } == [true])
    expect(requests.map(status) == ["idle", "idle", "held", "waiting"])
    expect(table.leave(requests[2]).first === requests[3])
    expect(table.leave(requests[3]).isEmpty && table.count == 0)
  }

  @Test(
    "L2: each category that becomes free is offered to requests that want no more than that")
  func leaveSeveral() {
    var table = ExclusionTable()
    let (holder, c) = (request("ab"), request("c"))
    let waiters = [request("ac"), request("a"), request("b"), request("ab")]
    for request in [holder, c] + waiters { _ = table.ask(request) }
    expect(table.leave(holder).map(names) == ["a", "b"])
    expect(waiters.map(status) == ["waiting", "held", "held", "waiting"])
    expect(table.leave(c).isEmpty)
    expect(table.leave(waiters[1]).first === waiters[0])
    expect(table.leave(waiters[2]).isEmpty)
    expect(table.leave(waiters[0]).first === waiters[3])
    expect(table.leave(waiters[3]).isEmpty && table.count == 0)
  }

  @Test("L4: a declined offer goes to others; the request that declined asks again before them")
  func decline() {
    var table = ExclusionTable()
    let requests = (0..<5).map { _ in request("a") }
    for request in requests.prefix(4) { _ = table.ask(request) }
    expect(table.leave(requests[0]).first === requests[1])
    expect(table.decline(requests[1]).first === requests[2])
    expect(table.decline(requests[2]).first === requests[3])
    expect(requests.map(status) == ["idle", "idle", "idle", "held", "idle"])
    for index in [4, 1, 2] { expect(!asks(requests[index], &table)) }
    var order: [Int] = []
    var holder = requests[3]
    while let next = table.leave(holder).first {
      order.append(requests.firstIndex { $0 === next }!)
      holder = next
    }
    expect(order == [1, 2, 4] && table.count == 0)
  }

  @Test(
    "L4: a request that is withdrawn leaves the line, and keeps what it holds until the offer is declined"
  )
  func withdraw() {
    var table = ExclusionTable()
    let (holder, waiter, last) = (request("a"), request("a"), request("a"))
    table.withdraw(holder)
    for request in [holder, waiter, last] { _ = table.ask(request) }
    table.withdraw(holder)
    expect(status(holder) == "held")
    expect(table.leave(holder).first === waiter)
    table.withdraw(waiter)
    expect(status(waiter) == "held")
    expect(table.decline(waiter).first === last)
    _ = table.leave(last)
    expect(table.count == 0)
  }

  @Test("L3: a request from inside the holder is granted, and each level has a line of its own")
  func levels() {
    var table = ExclusionTable()
    let group = request("a")
    let (child, sibling) = (request("a", inside: group), request("a", inside: group))
    let (outsider, grandchild) = (request("a"), request("a", inside: child))
    expect(asks(group, &table) && !asks(outsider, &table))
    expect(asks(child, &table) && asks(grandchild, &table))
    expect(!asks(sibling, &table))
    expect(table.leave(grandchild).isEmpty)
    expect(table.leave(child).first === sibling)
    expect(table.leave(sibling).isEmpty)
    expect(table.leave(group).first === outsider)
    _ = table.leave(outsider)
    expect(table.count == 0)
  }

  @Test("L3: a group that holds another category lets none in")
  func otherCategory() {
    var table = ExclusionTable()
    let (group, holder) = (request("b"), request("a"))
    let child = request("a", inside: group)
    expect(asks(holder, &table) && asks(group, &table))
    expect(!asks(child, &table))
    expect(table.leave(holder).first === child)
  }

  @Test("the obstacles of a request are the holders of its categories that are not free")
  func holders() {
    var table = ExclusionTable()
    let (a, b, waiter) = (request("a"), request("b"), request("abc"))
    for request in [a, b, waiter] { _ = table.ask(request) }
    expect(table.obstacles(to: waiter).map { $0.level.holders.map(names) } == [["a"], ["b"]])
    expect(
      table.obstacles(to: waiter).map { "\($0.limit.category) \($0.count)" } == ["a 1", "b 1"])
    expect(table.obstacles(to: a).isEmpty)
  }

  /// For each obstacle how many holders have to leave, and how many for the first in line.
  private func obstacles(to request: ExclusionRequest, _ table: ExclusionTable) -> [String] {
    table.obstacles(to: request).map { obstacle in
      let front = obstacle.front.map { front in
        ", behind \(front.count) for atMost \(front.request.limits[0].count)"
      }
      return "\(obstacle.count)" + (front ?? "")
    }
  }

  @Test("Q7: a request waits for the first in line while the holders leave room for it")
  func line() {
    var table = ExclusionTable()
    let readers = (0..<6).map { _ in request("a", atMost: 4) }
    let (writer, urgent) = (request("a"), request("a", atMost: 2, rank: 1))
    for request in [readers[0], readers[1], writer, readers[2]] { _ = asks(request, &table) }
    expect(obstacles(to: writer, table) == ["2"])
    expect(obstacles(to: readers[2], table) == ["0, behind 2 for atMost 1"])
    // The urgent one comes first, and needs one of the holders to leave.
    expect(!asks(urgent, &table))
    expect(obstacles(to: urgent, table) == ["1"])
    expect(obstacles(to: readers[2], table) == ["0, behind 1 for atMost 2"])
    // The writer needs more than the first does.
    expect(obstacles(to: writer, table) == ["2"])
    table.withdraw(urgent)
    // Between the withdrawal and the offers that follow it.
    expect(obstacles(to: readers[2], table) == ["0, behind 2 for atMost 1"])
    _ = table.leave(urgent)
    table.withdraw(writer)
    expect(obstacles(to: readers[2], table).isEmpty)
    expect(table.leave(writer).map { $0 === readers[2] } == [true])
  }

  @Test("Q7: a request that has no room either waits for the holders, and for the first in line")
  func lineWithoutRoom() {
    var table = ExclusionTable()
    let readers = (0..<3).map { _ in request("a", atMost: 2) }
    let writers = [request("a"), request("a")]
    for request in [readers[0], readers[1], writers[0], readers[2], writers[1]] {
      _ = asks(request, &table)
    }
    expect(obstacles(to: readers[2], table) == ["1, behind 2 for atMost 1"])
    // Room for it would be room for the first one.
    expect(obstacles(to: writers[1], table) == ["2"])
  }

  @Test("L5: a request waits for no more holders than have to leave, if these name several counts")
  func leastInTheWay() {
    func request(atMost count: Int, taking places: Int) -> ExclusionRequest {
      let limit = CategoryLimit(CategoryID(named: "a", in: nil), atMost: count, taking: places)
      return ExclusionRequest(CategoryLimits([limit]), rank: 2)
    }
    for places in [1, 2] {
      var table = ExclusionTable()
      let low = request(atMost: 3 * places, taking: places)
      let others = (0..<2).map { _ in request(atMost: 10 * places, taking: places) }
      let large = request(atMost: 10 * places, taking: 3 * places)
      for request in [low] + others { expect(asks(request, &table)) }
      expect(!asks(large, &table))
      // When the one that permits three has left, there are ten places.
      expect(obstacles(to: large, table) == ["1"])
      expect(table.leave(low).map { $0 === large } == [true])
    }
  }

  /// Those that are let in, one after another, when the holder has left.
  private func order(
    after holder: ExclusionRequest, _ table: inout ExclusionTable
  ) -> [ExclusionRequest] {
    var (order, open) = ([ExclusionRequest](), Array(table.leave(holder)))
    while !open.isEmpty {
      let next = open.removeFirst()
      order.append(next)
      open += table.leave(next)
    }
    return order
  }

  @Test("L6: the more urgent request goes first, then the earlier one, with any count and level")
  func priorities() {
    for (names, count) in [("a", 1), ("ab", 1), ("a", 2)] {
      var table = ExclusionTable()
      let holders = (0..<count).map { _ in request("a", atMost: count) }
      for holder in holders { expect(asks(holder, &table)) }
      let waiters = [4, 2, 0, 3, 2, 1].map { request(names, atMost: count, rank: $0) }
      for waiter in waiters { expect(!asks(waiter, &table)) }
      let order = order(after: holders[0], &table)
      expect(order.map { order in waiters.firstIndex { $0 === order } } == [2, 5, 1, 4, 3, 0])
      for holder in holders.dropFirst() { _ = table.leave(holder) }
      expect(table.count == 0)
    }
  }

  @Test("L5, L6: a later request waits behind one that waits for room, unless it is more urgent")
  func prioritiesOfLines() {
    var table = ExclusionTable()
    let (reader, writer) = (request("a", atMost: 3), request("a"))
    expect(asks(reader, &table) && !asks(writer, &table))
    let (equal, urgent) = (request("a", atMost: 3), request("a", atMost: 3, rank: 1))
    let granted = [equal, urgent].map { asks($0, &table) }
    expect(granted == [false, true])
    expect(table.leave(reader).isEmpty)
    expect(table.leave(urgent).first === writer)
    expect(order(after: writer, &table).first === equal)
    expect(table.count == 0)
  }

  @Test("L6: no request waits for ever: the oldest is the next when enough others have passed it")
  func ageing() {
    for names in ["a", "ab"] {
      var table = ExclusionTable()
      let first = request("a")
      expect(asks(first, &table))
      let patient = (0..<3).map { _ in request("a", rank: 4) }
      for waiter in patient { expect(!asks(waiter, &table)) }
      var (holder, places) = (first, [Int]())
      for turn in 1...4 * (ExclusionLevel.patience + 1) {
        let urgent = request(names, rank: 0)
        expect(!asks(urgent, &table))
        let offered = table.leave(holder)
        expect(offered.count == 1)
        holder = offered[0]
        if patient.contains(where: { $0 === holder }) { places.append(turn) }
      }
      let step = ExclusionLevel.patience + 1
      expect(places == [step, 2 * step, 3 * step])
      _ = order(after: holder, &table)
      expect(table.count == 0)
    }
  }

  @Test("L4: random requests do what a plain model says, never overlap, and leave the table empty")
  func random() {
    var generator = SimulationGenerator(seed: 7)
    var table = ExclusionTable()
    var held: [ExclusionRequest] = []
    var waiting: [ExclusionRequest] = []
    var idle: [ExclusionRequest] = (0..<40).map { _ in
      let letters = "abcd".shuffled(using: &generator)
      return request(String(letters.prefix(.random(in: 1...3, using: &generator))))
    }
    func take(_ offers: ExclusionOffers) {
      for offer in offers { waiting.removeAll { $0 === offer } }
      held += offers
    }
    for step in 0..<4_000 {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0, 1:
        guard let request = idle.randomElement(using: &generator), step < 3_500 else { continue }
        idle.removeAll { $0 === request }
        if table.ask(request) { held.append(request) } else { waiting.append(request) }
      case 2:
        guard let request = held.randomElement(using: &generator) else { continue }
        held.removeAll { $0 === request }
        idle.append(request)
        let declines = Bool.random(using: &generator) && step < 3_500
        take(declines ? table.decline(request) : table.leave(request))
      default:
        guard let request = waiting.randomElement(using: &generator), step < 3_500 else { continue }
        waiting.removeAll { $0 === request }
        idle.append(request)
        table.withdraw(request)
      }
      let categories = held.flatMap { $0.limits.map(\.category) }
      expect(Set(categories).count == categories.count)
      expect(held.allSatisfy { status($0) == "held" })
      // Invariant 1: no request waits whose categories are all free.
      expect(waiting.allSatisfy { !Set($0.limits.map(\.category)).isDisjoint(with: categories) })
    }
    for request in waiting { table.withdraw(request) }
    for request in held { _ = table.leave(request) }
    expect(table.count == 0)
  }

  @Test(
    "L5: as many hold a category as the least count allows, and a later request does not go first")
  func counts() {
    var table = ExclusionTable()
    let readers = (0..<4).map { _ in request("a", atMost: 3) }
    let writer = request("a")
    let granted = [readers[0], readers[1], writer, readers[2]].map { asks($0, &table) }
    expect(granted == [true, true, false, false])
    expect(table.obstacles(to: writer).map(\.count) == [2])
    expect(obstacles(to: readers[2], table) == ["0, behind 2 for atMost 1"])
    expect(table.leave(readers[1]).isEmpty)
    expect(table.leave(readers[0]).first === writer)
    expect(!asks(readers[3], &table))
    expect(table.leave(writer).map { $0 === readers[2] || $0 === readers[3] } == [true, true])
    _ = (table.leave(readers[2]), table.leave(readers[3]))
    expect(table.count == 0)
  }

  @Test("L4, L5: requests behind one that is withdrawn are offered their categories when it leaves")
  func withdrawnInFront() {
    var table = ExclusionTable()
    let (first, second) = (request("a", atMost: 3), request("a", atMost: 3))
    let writer = request("a")
    let granted = [first, writer, second].map { asks($0, &table) }
    expect(granted == [true, false, false])
    table.withdraw(writer)
    expect(status(second) == "waiting")
    expect(table.leave(writer).first === second && table.leave(writer).isEmpty)
  }

  @Test(
    "L4: a request that asks again stands where it can be let in, also beside equal requests")
  func asksAgain() {
    var table = ExclusionTable()
    let (a, b) = (request("a", atMost: 2), request("b"))
    let old = request("ab", atMost: 2)
    expect(asks(a, &table) && asks(old, &table))
    expect(table.decline(old).isEmpty && asks(b, &table))
    // Its like waits for "b" as well, and one that excludes others waits for "a".
    let writer = request("a")
    let young = request("ab", atMost: 2)
    expect(!asks(writer, &table) && !asks(young, &table) && !asks(old, &table))
    expect(table.leave(b).first === old)
    expect(status(young) == "waiting" && status(writer) == "waiting")
    _ = table.leave(a)
    expect(table.leave(old).first === writer)
    expect(table.leave(writer).first === young)
    _ = table.leave(young)
    expect(table.count == 0)
  }

  @Test("L3, L5: a holder lends its place to one request at a time, whatever the count")
  func countedLevels() {
    var table = ExclusionTable()
    let group = request("a", atMost: 2)
    let children = (0..<2).map { _ in request("a", atMost: 2, inside: group) }
    let outsiders = (0..<2).map { _ in request("a", atMost: 2) }
    expect(asks(group, &table))
    let granted = (children + outsiders).map { asks($0, &table) }
    expect(granted == [true, false, true, false])
    expect(table.leave(children[0]).first === children[1])
    expect(table.leave(children[1]).isEmpty)
    expect(table.leave(group).first === outsiders[1])
    for outsider in outsiders { _ = table.leave(outsider) }
    expect(table.count == 0)
  }

  @Test(
    "L4, L5, L6: random requests with counts and priorities keep each count, and none waits without a reason"
  )
  func randomCounts() {
    for seed in 1...4 as ClosedRange<UInt64> {
      var generator = SimulationGenerator(seed: seed)
      var table = ExclusionTable()
      var (held, waiting): ([ExclusionRequest], [ExclusionRequest]) = ([], [])
      var idle: [ExclusionRequest] = (0..<30).map { _ in
        let letters = "abcd".shuffled(using: &generator)
        return request(
          String(letters.prefix(.random(in: 1...3, using: &generator))),
          atMost: .random(in: 1...4, using: &generator),
          rank: .random(in: 0...4, using: &generator))
      }
      func take(_ offers: ExclusionOffers) {
        for offer in offers { waiting.removeAll { $0 === offer } }
        held += offers
      }
      func hasRoom(_ request: ExclusionRequest) -> Bool {
        request.limits.allSatisfy { limit in
          let others = held.flatMap(\.limits).filter { $0.category == limit.category }
          return others.count < others.map(\.count).reduce(limit.count, min)
        }
      }
      for step in 0..<1_000 {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0, 1:
          guard step < 900, let request = idle.randomElement(using: &generator) else { continue }
          idle.removeAll { $0 === request }
          if asks(request, &table) { held.append(request) } else { waiting.append(request) }
        case 2:
          guard let request = held.randomElement(using: &generator) else { continue }
          held.removeAll { $0 === request }
          idle.append(request)
          take(.random(using: &generator) ? table.decline(request) : table.leave(request))
        default:
          guard let request = waiting.randomElement(using: &generator) else { continue }
          waiting.removeAll { $0 === request }
          idle.append(request)
          table.withdraw(request)
          take(table.leave(request))
        }
        for limit in held.flatMap(\.limits) {
          expect(
            held.flatMap(\.limits).filter { $0.category == limit.category }.count <= limit.count)
        }
        for request in waiting where hasRoom(request) {
          let categories = Set(request.limits.map(\.category))
          let isBehind = waiting.contains { other in
            other.ticket < request.ticket
              && !categories.isDisjoint(with: other.limits.map(\.category))
          }
          expect(isBehind)
        }
      }
      while let request = held.popLast() { take(table.leave(request)) }
      expect(waiting.isEmpty && table.count == 0)
    }
  }
}
