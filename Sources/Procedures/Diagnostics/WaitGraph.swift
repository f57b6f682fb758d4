/// Which procedure waits for which: the procedures of a queue, and those of other queues that they
/// wait for. Nothing but their `Wait`s.
///
/// A procedure can end if it waits for nothing, or for others that all can end; of the holders of
/// slots, or of places in a category, some are enough. Those that remain wait forever, and among
/// them are cycles.
struct WaitGraph {
  /// Some others, and how many of them have to end.
  private struct Edge {
    let waiter: Int
    let others: [Int]
    let count: Int
  }

  /// A wait as it was read: what two readings compare.
  private struct Reading: Equatable {
    let number: UInt64
    /// The kind of the wait, and each part of it: who has to end, and how many.
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
  /// Those in `edges` of each procedure: all of them have to be satisfied.
  private var edgesOfEach: [Range<Int>] = []

  /// Whether one of them is on no queue.
  private(set) var lacksSome = false

  /// What reading it has cost: its procedures, and those that each of them waits for.
  private(set) var size = 0

  private let rootCount: Int

  /// Reads the waits of these procedures, of those below them that are groups, and of all that those wait for.
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

  /// A procedure for which `isStuck` is true, if one of the first cannot end without it.
  func firstStuck(without isStuck: (Procedure) -> Bool) -> Procedure? {
    var stuck = procedures.map(isStuck)
    guard let first = stuck.firstIndex(of: true) else { return nil }
    // A group does not end without them either, whatever it waits for now.
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

  /// The cycles that are proved, and whether there are others, which a later look may prove.
  ///
  /// Proved is a cycle if all that keeps its members from ending was there at two readings of each wait, of which
  /// the second ones begin when the first have come to all: then all of it was there at one moment. A wait that has ended and
  /// begun again has another number, or is for other procedures. A procedure whose turn a thread has waits for nothing, so no
  /// member was in user code at either reading.
  func prove() -> (cycles: [WaitCycle], hasOthers: Bool) {
    let (canEnd, left) = ends()
    guard canEnd.contains(false) else { return ([], false) }
    // 1. Which of the others keep each that is stuck.
    let keepers = procedures.indices.map { index in
      canEnd[index] ? [] : self.keepers(of: index, canEnd, left)
    }
    // 2. The circles among them, each once.
    let suspects = circles(among: keepers)
    // 3. All waits once more. A procedure is proved stuck if its wait has lasted, and all its keepers' have.
    let lasts = lasting(among: canEnd)
    let proved = suspects.filter { circle in
      reached(from: circle, keepers).allSatisfy { lasts[$0] }
    }
    let cycles = proved.map { circle in
      WaitCycle(members: circle.map { procedures[$0] }, waits: circle.map { waits[$0] })
    }
    return (cycles, proved.count < suspects.count)
  }

  /// Those that keep a stuck procedure: one of those that it waits for, or all if each of a few would be enough.
  private func keepers(of index: Int, _ canEnd: [Bool], _ left: [Int]) -> [Int] {
    guard let edge = edgesOfEach[index].first(where: { left[$0] > 0 }) else { return [] }
    let (others, count) = (edges[edge].others, edges[edge].count)
    let stuck = others.filter { !canEnd[$0] }
    return count == others.count ? Array(stuck.prefix(1)) : stuck
  }

  /// All that these wait for, by way of others, and they.
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

  /// Reads the waits of those that cannot end once more: which are as they were.
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

  /// Follows the first keeper of each stuck procedure, until one comes again.
  private func circles(among keepers: [[Int]]) -> [[Int]] {
    var circles: [[Int]] = []
    /// In which walk each was met.
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

  /// Begins with the first to be met, which is the oldest if they are of one queue.
  private func inOrder(_ path: [Int]) -> [Int] {
    let start = path.indices.min { path[$0] < path[$1] } ?? 0
    return Array(path[start...] + path[..<start])
  }

  /// Which procedures can end, by themselves or after others that can, and how many more would have
  /// to for each edge.
  ///
  /// - Parameter stuck: which of them cannot.
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

/// Procedures each of which waits for the next, and the last for the first.
struct WaitCycle: Sendable {
  let members: [Procedure]
  /// The wait of each.
  let waits: [Wait]

  /// A sentence for each member: who waits, how, and for whom.
  private var sentences: [String] {
    members.indices.map { index in
      let next = members[(index + 1) % members.count]
      return "'\(members[index].name)' \(waits[index].predicate(for: next))"
    }
  }

  /// Nothing else will: cancels them all, each with the names of all, in order, before any goes on.
  func end(reportingTo supervisor: QueueSupervisor) {
    let error = ProcedureError(
      .dependencyCycle, of: members.first?.name,
      .cycle(.init(names: members.map(\.name), sentences: sentences)))
    let calls = waits.compactMap { if case .call(let call, _) = $0 { call } else { nil } }
    // 1. Nothing goes on before the rest is carried out.
    let (isFirst, rest) = Procedure.beginCancel(
      members, errors: [error], reason: .failure(error))
    // 2. Reported before the wait of any caller for a member is over; once, although the queues of two members may have
    // proved the cycle at the same time.
    if isFirst || !members.contains(where: \.wasInCycle) {
      let report = ProcedureDiagnostic.waitCycle(error)
      if calls.isEmpty {
        supervisor.report(report)
      } else {
        // A call that returns too early is news to the code behind it, which may not look at its procedure's errors.
        report.reportAloud(to: supervisor)
      }
    }
    rest()
    for call in calls { call.end(with: error) }
  }
}

extension Procedure {
  /// Whether it was cancelled for a cycle.
  fileprivate final var wasInCycle: Bool {
    errors.contains { ($0 as? ProcedureError)?.code == .dependencyCycle }
  }
}
