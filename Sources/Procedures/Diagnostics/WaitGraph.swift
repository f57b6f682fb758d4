/// A graph of the waits of a queue's procedures, and of procedures on other queues for which they
/// wait.
///
/// A procedure can end if it waits for nothing, or if all procedures for which it waits can end; of
/// the holders of slots, or of places in a category, some suffice. A procedure in line for a
/// category can end, too, if the first in line can, or as many holders as leave room for that first
/// one. And it can end if another child of its group can whose end may cancel it, or a group around
/// it. The remaining procedures wait forever, and among them are cycles.
struct WaitGraph {
  /// How many of a row of procedures have to end.
  private struct Edge {
    let waiter: Int
    let row: Int
    let count: Int
  }

  /// The end of one of `row`, the children of a group, may cancel all of them, with everything below
  /// them.
  private struct Exit {
    let row: Int
    /// The exit of an outer group, if any.
    let around: Int?
  }

  private var procedures: [Procedure] = []
  private var indices: [ObjectIdentifier: Int] = [:]
  private var waits: [Wait] = []
  private var numbers: [UInt64] = []
  /// Procedures for which others wait: one row for all that wait for the same holders.
  private var rows: [[Int]] = []
  private var rowsOfHolders: [ObjectIdentifier: Int] = [:]
  private var edges: [Edge] = []
  /// The range in `edges` of each procedure. All of its edges must be satisfied.
  private var edgesOfEach: [Range<Int>] = []
  private var exits: [Exit] = []
  /// The innermost exit around each procedure.
  private var exitOfEach: [Int?] = []
  /// The innermost exit of the children of each group. It is kept, so that its address remains its
  /// own.
  private var exitsOfGroups: [ObjectIdentifier: (group: GroupProcedure, exit: Int?)] = [:]

  private(set) var lacksSome = false

  /// The cost of building the graph: the number of procedures and of the references in their waits.
  private(set) var size = 0

  private let rootCount: Int

  /// Reads the waits of `roots`, of their descendants, and of all procedures for which these wait.
  init(from roots: [Procedure]) {
    rootCount = roots.count
    for procedure in roots { add(procedure) }
    var reading = WaitReading()
    var index = 0
    while index < procedures.count {
      let procedure = procedures[index]
      for child in procedure.childList?.procedures ?? [] { add(child) }
      let (wait, number) = procedure.numberedWait(in: &reading)
      waits.append(wait)
      numbers.append(number)
      if case .notEnqueued = wait { lacksSome = true }
      let first = edges.count
      for part in wait.parts where !part.others.isEmpty {
        let (row, count) = (row(of: part), min(part.count, part.others.count))
        edges.append(Edge(waiter: index, row: row, count: count))
      }
      edgesOfEach.append(first..<edges.count)
      exitOfEach.append(exit(around: procedure))
      size += 1 + edgesOfEach[index].count
      index += 1
    }
  }

  private mutating func row(of part: Wait.Part) -> Int {
    // The waits keep the holders, so that their address remains their own.
    if let shared = part.shared, let known = rowsOfHolders[ObjectIdentifier(shared)] {
      return known
    }
    let row = addRow(part.others)
    if let shared = part.shared { rowsOfHolders[ObjectIdentifier(shared)] = row }
    return row
  }

  private mutating func addRow(_ others: [Procedure]) -> Int {
    size += others.count
    rows.append(others.map { add($0) })
    return rows.count - 1
  }

  /// Costs the number of groups around it that are new.
  private mutating func exit(around procedure: Procedure) -> Int? {
    var new: [GroupProcedure] = []
    var exit: Int?
    for group in procedure.enclosingGroups {
      if let known = exitsOfGroups[ObjectIdentifier(group)] {
        exit = known.exit
        break
      }
      new.append(group)
    }
    for group in new.reversed() {
      if group.mayCancelOtherChildren {
        exits.append(Exit(row: addRow(group.childList?.procedures ?? []), around: exit))
        exit = exits.count - 1
      }
      exitsOfGroups[ObjectIdentifier(group)] = (group, exit)
    }
    return exit
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
      for group in procedures[index].enclosingGroups {
        guard let index = indices[ObjectIdentifier(group)], !stuck[index] else { break }
        stuck[index] = true
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
    let (canEnd, ended) = ends()
    guard canEnd.contains(false) else { return ([], false) }
    // 1. Which of the others keep each that is stuck.
    let keepers = keepers(canEnd, ended)
    // 2. The circles among them, each once, with all that their members wait for, by way of others.
    let suspects = circles(among: keepers)
    let reached = suspects.map { self.reached(from: $0, keepers) }
    // 3. The waits of these once more. A procedure is proved stuck if its wait has lasted, and
    //    those of all its keepers have, and of all whose end could have cancelled it.
    let lasting = lasting(among: reached.reduce(into: []) { $0.formUnion($1) })
    let proved = suspects.indices.filter { reached[$0].isSubset(of: lasting) }.map { suspects[$0] }
    let cycles = proved.map { circle in
      WaitCycle(members: circle.map { procedures[$0] }, waits: circle.map { waits[$0] })
    }
    return (cycles, proved.count < suspects.count)
  }

  /// Those that keep each stuck procedure: one of those that it waits for, or all if each of a few
  /// would be enough.
  private func keepers(_ canEnd: [Bool], _ ended: [Int]) -> [[Int]] {
    let stuck = rows.map { row in row.filter { !canEnd[$0] } }
    return procedures.indices.map { index in
      guard !canEnd[index],
        let edge = edges[edgesOfEach[index]].first(where: { $0.count > ended[$0.row] })
      else { return [] }
      let stuck = stuck[edge.row]
      return edge.count == rows[edge.row].count ? Array(stuck.prefix(1)) : stuck
    }
  }

  /// The members of `circle`, and everything that keeps them from ending, directly or not: the
  /// procedures for which they wait, and the siblings whose end may cancel them.
  private func reached(from circle: [Int], _ keepers: [[Int]]) -> Set<Int> {
    var reached = Set(circle)
    var (unvisited, visitedExits) = (circle, Set<Int>())
    while let index = unvisited.popLast() {
      for keeper in keepers[index] where reached.insert(keeper).inserted {
        unvisited.append(keeper)
      }
      var exit = exitOfEach[index]
      while let next = exit, visitedExits.insert(next).inserted {
        for sibling in rows[exits[next].row] where reached.insert(sibling).inserted {
          unvisited.append(sibling)
        }
        exit = exits[next].around
      }
    }
    return reached
  }

  /// Reads the waits of these once more.
  ///
  /// - Returns: those whose waits are as they were.
  private func lasting(among indices: Set<Int>) -> Set<Int> {
    var (reading, comparison) = (WaitReading(), WaitComparison())
    // Oldest first: the order of a set differs from run to run, and the schedule explorer could not
    // repeat the reading.
    let lasting = indices.sorted().filter { index in
      let (wait, number) = procedures[index].numberedWait(in: &reading)
      return number == numbers[index] && comparison.areEqual(wait, waits[index])
    }
    return Set(lasting)
  }

  /// Follows the first keeper of each stuck procedure, until one comes again.
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

  /// Which procedures can end, by themselves or after others that can, and how many of each row.
  ///
  /// - Parameter stuck: which of them cannot.
  private func ends(without stuck: [Bool]? = nil) -> (canEnd: [Bool], ended: [Int]) {
    var canEnd = [Bool](repeating: false, count: procedures.count)
    var ended = [Int](repeating: 0, count: rows.count)
    var unfulfilled = edgesOfEach.map { $0.count }
    var rowsOfEach = [[Int]](repeating: [], count: procedures.count)
    for row in rows.indices { for index in rows[row] { rowsOfEach[index].append(row) } }
    // Of each row, the edges that wait for the most come first.
    var unmet = [[Int]](repeating: [], count: rows.count)
    for edge in edges.indices.sorted(by: { edges[$0].count > edges[$1].count }) {
      unmet[edges[edge].row].append(edge)
    }
    if let stuck { for index in stuck.indices where stuck[index] { unfulfilled[index] += 1 } }
    // The members of each exit, and the exits inside it.
    var exitOfRow = [Int?](repeating: nil, count: rows.count)
    var members = [[Int]](repeating: [], count: exits.count)
    var inner = members
    for (index, exit) in exitOfEach.enumerated() { if let exit { members[exit].append(index) } }
    for (index, exit) in exits.enumerated() {
      exitOfRow[exit.row] = index
      if let around = exit.around { inner[around].append(index) }
    }
    var isOpen = [Bool](repeating: false, count: exits.count)
    var opening: [Int] = []
    var ending = procedures.indices.filter { unfulfilled[$0] == 0 }
    for index in ending { canEnd[index] = true }
    while let index = ending.popLast() {
      for row in rowsOfEach[index] {
        // 1. One more of this row ends, which may be enough for those that wait for it.
        ended[row] += 1
        while let edge = unmet[row].last.map({ edges[$0] }), edge.count <= ended[row] {
          unmet[row].removeLast()
          unfulfilled[edge.waiter] -= 1
          guard unfulfilled[edge.waiter] == 0, !canEnd[edge.waiter] else { continue }
          canEnd[edge.waiter] = true
          ending.append(edge.waiter)
        }
        // 2. Its end may cancel its siblings, with everything below them.
        if let exit = exitOfRow[row] { opening.append(exit) }
      }
      while let exit = opening.popLast() {
        if exchange(&isOpen[exit], with: true) { continue }
        opening += inner[exit]
        for member in members[exit] where !canEnd[member] && stuck?[member] != true {
          canEnd[member] = true
          ending.append(member)
        }
      }
    }
    return (canEnd, ended)
  }
}

/// Whether waits that were read twice are the same.
private struct WaitComparison {
  private struct Pair: Hashable {
    let first: ObjectIdentifier
    let second: ObjectIdentifier
  }

  /// Of holders, which many share. They are kept, so that their addresses remain their own.
  private var known: [Pair: (areEqual: Bool, kept: [SharedHolders])] = [:]

  mutating func areEqual(_ first: Wait, _ second: Wait) -> Bool {
    let (parts, others) = (first.parts, second.parts)
    guard first.kind == second.kind, parts.count == others.count else { return false }
    return zip(parts, others).allSatisfy { $0.count == $1.count && areEqual($0, $1) }
  }

  private mutating func areEqual(_ first: Wait.Part, _ second: Wait.Part) -> Bool {
    guard let one = first.shared, let other = second.shared else {
      return Self.areEqual(first.others, second.others)
    }
    let pair = Pair(first: ObjectIdentifier(one), second: ObjectIdentifier(other))
    if let known = known[pair] { return known.areEqual }
    let areEqual = Self.areEqual(first.others, second.others)
    known[pair] = (areEqual, [one, other])
    return areEqual
  }

  private static func areEqual(_ first: [Procedure], _ second: [Procedure]) -> Bool {
    Set(first.map { ObjectIdentifier($0) }) == Set(second.map { ObjectIdentifier($0) })
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

  /// Whether the only member waits for some of several, of which it is one.
  private var isAmongOthers: Bool {
    members.count == 1 && waits[0].parts.contains { $0.count < $0.others.count }
  }

  /// Ends the cycle, since nothing else will: cancels all members together, with an error that
  /// names them in order.
  ///
  /// The handlers of all queues of the members learn of it.
  func end() {
    let supervisors = members.compactMap(\.supervisor)
    let error = ProcedureError(
      .dependencyCycle, of: members.first?.name,
      .cycle(
        .init(names: members.map(\.name), sentences: sentences, isAmongOthers: isAmongOthers)))
    let calls = waits.compactMap { if case .call(let call, _) = $0 { call } else { nil } }
    // 1. Nothing goes on before the rest is carried out.
    let (isFirst, rest) = Procedure.beginCancel(
      members, errors: [error], reason: .failure(error))
    // 2. Reported before the wait of any caller for a member is over; once, although the queues of
    //    two members may have proved the cycle at the same time.
    if isFirst || !members.contains(where: \.wasInCycle) {
      let report = ProcedureDiagnostic.waitCycle(error)
      var (told, isReported) = (Set<ObjectIdentifier>(), false)
      for supervisor in supervisors where told.insert(ObjectIdentifier(supervisor)).inserted {
        if supervisor.report(report) { isReported = true }
      }
      // A call that returns too early is news to the code behind it, which may not look at its
      // procedure's errors.
      if !isReported, !calls.isEmpty { report.writeToStandardError() }
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
