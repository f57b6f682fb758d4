/// A graph of the waits of a queue's procedures, and of procedures on other queues for which they
/// wait.
///
/// A procedure can end if it waits for nothing, or if all procedures for which it waits can end; of
/// the holders of slots, or of places in a category, some suffice. The remaining procedures wait
/// forever, and among them are cycles.
struct WaitGraph {
  /// `count` of `others` must end before `waiter` can.
  private struct Edge {
    let waiter: Int
    let others: [Int]
    let count: Int
  }

  /// The comparable parts of a wait.
  private struct Reading: Equatable {
    let number: UInt64
    let kind: UInt8
    var parts: [Part] = []

    struct Part: Equatable {
      let others: Set<ObjectIdentifier>
      let count: Int
    }
  }

  private var procedures: [Procedure] = []
  private var indices: [ObjectIdentifier: Int] = [:]
  private var waits: [Wait] = []
  private var numbers: [UInt64] = []
  private var edges: [Edge] = []
  /// The range in `edges` of each procedure. All of its edges must be satisfied.
  private var edgesOfEach: [Range<Int>] = []

  private(set) var lacksSome = false

  /// The cost of building the graph: the number of procedures and of the references in their waits.
  private(set) var size = 0

  private let rootCount: Int

  /// Reads the waits of `roots`, of their descendants, and of all procedures for which these wait.
  init(from roots: [Procedure]) {
    rootCount = roots.count
    for procedure in roots { add(procedure) }
    var index = 0
    while index < procedures.count {
      let procedure = procedures[index]
      for child in procedure.childList?.procedures ?? [] { add(child) }
      let (wait, number) = procedure.numberedWait()
      waits.append(wait)
      numbers.append(number)
      if case .notEnqueued = wait { lacksSome = true }
      let first = edges.count
      for (others, count) in wait.parts where !others.isEmpty {
        size += others.count
        edges.append(
          Edge(waiter: index, others: others.map { add($0) }, count: min(count, others.count)))
      }
      edgesOfEach.append(first..<edges.count)
      size += 1
      index += 1
    }
  }

  @discardableResult
  private mutating func add(_ procedure: Procedure) -> Int {
    if let index = indices[ObjectIdentifier(procedure)] { return index }
    indices[ObjectIdentifier(procedure)] = procedures.count
    procedures.append(procedure)
    return procedures.count - 1
  }

  /// The first stuck procedure, if a root cannot end because of them.
  func firstStuck(without isStuck: (Procedure) -> Bool) -> Procedure? {
    var stuck = procedures.map(isStuck)
    guard let first = stuck.firstIndex(of: true) else { return nil }
    // The groups around a stuck procedure are stuck, too, even if they wait for something else now.
    for index in procedures.indices where stuck[index] {
      var group = procedures[index].peek { $0.list }?.group
      while let next = group, let index = indices[ObjectIdentifier(next)], !stuck[index] {
        stuck[index] = true
        group = next.peek { $0.list }?.group
      }
    }
    let (canEnd, _) = ends(without: stuck)
    return canEnd[..<rootCount].contains(false) ? procedures[first] : nil
  }

  /// Returns the proved cycles, and whether a later look may prove others.
  ///
  /// A cycle is proved if every wait that keeps its members from ending is unchanged between two
  /// passes, the second of which begins after the first has read all waits: then all of them
  /// existed at the same moment. A wait that ended and began again has another number, or is for
  /// other procedures. A procedure whose turn is running waits for nothing, so no member was in
  /// user code at either reading.
  func prove() -> (cycles: [WaitCycle], hasOthers: Bool) {
    let (canEnd, left) = ends()
    guard canEnd.contains(false) else { return ([], false) }
    // 1. Find the keepers of each stuck procedure.
    let keepers = procedures.indices.map { index in
      canEnd[index] ? [] : self.keepers(of: index, canEnd, left)
    }
    // 2. Find the cycles among them, each once.
    let suspects = circles(among: keepers)
    // 3. Read all waits again. A cycle is proved if the waits of its members and of all their
    //    keepers are unchanged.
    let lasts = lasting(among: canEnd)
    let proved = suspects.filter { circle in
      reached(from: circle, keepers).allSatisfy { lasts[$0] }
    }
    let cycles = proved.map { circle in
      WaitCycle(members: circle.map { procedures[$0] }, waits: circle.map { waits[$0] })
    }
    return (cycles, proved.count < suspects.count)
  }

  /// The procedures that keep a stuck one from ending: one of an edge that needs all of its others,
  /// or all stuck ones of an edge that needs only some.
  private func keepers(of index: Int, _ canEnd: [Bool], _ left: [Int]) -> [Int] {
    guard let edge = edgesOfEach[index].first(where: { left[$0] > 0 }) else { return [] }
    let (others, count) = (edges[edge].others, edges[edge].count)
    let stuck = others.filter { !canEnd[$0] }
    return count == others.count ? Array(stuck.prefix(1)) : stuck
  }

  /// The members of `circle`, and everything for which they wait, directly or not.
  private func reached(from circle: [Int], _ keepers: [[Int]]) -> Set<Int> {
    var reached = Set(circle)
    var unvisited = circle
    while let index = unvisited.popLast() {
      for keeper in keepers[index] where reached.insert(keeper).inserted {
        unvisited.append(keeper)
      }
    }
    return reached
  }

  /// Reads the waits of stuck procedures once more. True where a wait is unchanged.
  private func lasting(among canEnd: [Bool]) -> [Bool] {
    procedures.indices.map { index in
      guard !canEnd[index] else { return false }
      let (wait, number) = procedures[index].numberedWait()
      return Self.reading(wait, number) == Self.reading(waits[index], numbers[index])
    }
  }

  private static func reading(_ wait: Wait, _ number: UInt64) -> Reading {
    Reading(
      number: number, kind: wait.kind,
      parts: wait.parts.map {
        .init(others: Set($0.others.map { ObjectIdentifier($0) }), count: $0.count)
      })
  }

  /// Follows the first keeper of each stuck procedure until a procedure repeats.
  private func circles(among keepers: [[Int]]) -> [[Int]] {
    var circles: [[Int]] = []
    /// The number of the walk that met each procedure; 0 for none.
    var walks = [Int](repeating: 0, count: procedures.count)
    for start in procedures.indices where walks[start] == 0 {
      var path: [Int] = []
      var next: Int? = start
      while let index = next, walks[index] == 0 {
        walks[index] = start + 1
        path.append(index)
        next = keepers[index].first
      }
      if let index = next, walks[index] == start + 1, let first = path.firstIndex(of: index) {
        circles.append(inOrder(Array(path[first...])))
      }
    }
    return circles
  }

  /// Rotates the cycle so that its lowest index, the oldest member on one queue, comes first.
  private func inOrder(_ path: [Int]) -> [Int] {
    let start = path.indices.min { path[$0] < path[$1] } ?? 0
    return Array(path[start...] + path[..<start])
  }

  /// Returns which procedures can end, and for each edge how many more would have to.
  ///
  /// - Parameter stuck: the procedures that are assumed unable to end.
  private func ends(without stuck: [Bool]? = nil) -> (canEnd: [Bool], left: [Int]) {
    var canEnd = [Bool](repeating: false, count: procedures.count)
    var left = edges.map { $0.count }
    var unfulfilled = edgesOfEach.map { $0.count }
    var dependents = [[Int]](repeating: [], count: procedures.count)
    for index in edges.indices {
      for other in edges[index].others { dependents[other].append(index) }
    }
    if let stuck { for index in stuck.indices where stuck[index] { unfulfilled[index] += 1 } }
    var ending = procedures.indices.filter { unfulfilled[$0] == 0 }
    while let index = ending.popLast() {
      canEnd[index] = true
      for edge in dependents[index] where left[edge] > 0 {
        left[edge] -= 1
        guard left[edge] == 0 else { continue }
        unfulfilled[edges[edge].waiter] -= 1
        if unfulfilled[edges[edge].waiter] == 0 { ending.append(edges[edge].waiter) }
      }
    }
    return (canEnd, left)
  }
}

/// Procedures each of which waits for the next one; the last waits for the first.
struct WaitCycle: Sendable {
  let members: [Procedure]
  let waits: [Wait]

  /// How each member waits for the next one.
  private var sentences: [String] {
    members.indices.map { index in
      let next = members[(index + 1) % members.count]
      return "'\(members[index].name)' \(waits[index].predicate(for: next))"
    }
  }

  /// Ends the cycle, since nothing else will: cancels all members together, with an error that
  /// names them in order.
  func end(reportingTo supervisor: QueueSupervisor) {
    let error = ProcedureError(
      .dependencyCycle, of: members.first?.name,
      .cycle(.init(names: members.map(\.name), sentences: sentences)))
    let calls = waits.compactMap { if case .call(let call, _) = $0 { call } else { nil } }
    // Report before any caller's wait for a member ends.
    let report = ProcedureDiagnostic.waitCycle(error)
    if calls.isEmpty {
      supervisor.report(report)
    } else {
      // The call returns early, and its caller may not read any errors, so write to standard error
      // if there is no handler.
      report.reportAloud(to: supervisor)
    }
    Procedure.cancel(members, errors: [error], reason: .failure(error))
    for call in calls { call.end(with: error) }
  }
}
