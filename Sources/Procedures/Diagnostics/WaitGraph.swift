/// Which procedure waits for which: the procedures of a queue, and those of other queues that they
/// wait for.
///
/// A procedure can end if it waits for nothing, or for others that all can end; of the holders of
/// slots, or of places in a category, some are enough. Those that remain wait for ever, and among
/// them are cycles.
struct WaitGraph {
  /// Some others, and how many of them have to end.
  private struct Wait {
    let waiter: Int
    let others: [Int]
    let count: Int
  }

  private var procedures: [Procedure] = []
  private var indices: [ObjectIdentifier: Int] = [:]
  private var waits: [Wait] = []
  /// Those in `waits` of each procedure: all of them have to end.
  private var waitsOfEach: [Range<Int>] = []

  /// Whether one of them is on no queue.
  private(set) var lacksSome = false

  /// Whether one of them can go on by itself, now.
  private(set) var isBusy = false

  var count: Int { procedures.count }

  private let rootCount: Int

  /// Looks at these procedures, at those below them that are groups, and at whatever all those wait for.
  init(from roots: [Procedure]) {
    rootCount = roots.count
    for procedure in roots { add(procedure) }
    var index = 0
    while index < procedures.count {
      let procedure = procedures[index]
      for child in procedure.childList?.procedures ?? [] { add(child) }
      let first = waits.count
      addWaits(of: procedure, index)
      waitsOfEach.append(first..<waits.count)
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

  private mutating func addWaits(of procedure: Procedure, _ index: Int) {
    switch procedure.obstacle() {
    case .nothing, .thread, .condition, .observer, .finish:
      isBusy = true
    case .notEnqueued:
      lacksSome = true
    case .slot(_, let others):
      addWait(of: index, for: others, count: 1)
    case .exclusion(let obstacles):
      for obstacle in obstacles {
        // Time ends the wait for a rate.
        if obstacle.time != nil { isBusy = true }
        addWait(of: index, for: obstacle.procedures, count: obstacle.count)
      }
    case let obstacle:
      addWait(of: index, for: obstacle.awaited)
    }
  }

  private mutating func addWait(of index: Int, for others: [Procedure], count: Int = .max) {
    guard !others.isEmpty else { return }
    waits.append(
      Wait(waiter: index, others: others.map { add($0) }, count: min(count, others.count)))
  }

  /// A procedure for which `isStuck` is true, if one of the first cannot end without it.
  func firstStuck(without isStuck: (Procedure) -> Bool) -> Procedure? {
    var stuck = procedures.map(isStuck)
    guard let first = stuck.firstIndex(of: true) else { return nil }
    // A group does not end without them either, whatever it waits for now.
    for index in procedures.indices where stuck[index] {
      var group = procedures[index].read { $0.list }?.group
      while let next = group, let index = indices[ObjectIdentifier(next)], !stuck[index] {
        stuck[index] = true
        group = next.read { $0.list }?.group
      }
    }
    let (canEnd, _) = ends(without: stuck)
    return canEnd[..<rootCount].contains(false) ? procedures[first] : nil
  }

  /// The cycles among procedures that wait forever, each once.
  var cycles: [WaitCycle] {
    let (canEnd, left) = ends()
    var cycles: [WaitCycle] = []
    /// In which walk each was met.
    var walks = [Int](repeating: 0, count: procedures.count)
    for start in procedures.indices where !canEnd[start] && walks[start] == 0 {
      var path: [Int] = []
      var index = start
      while walks[index] == 0 {
        walks[index] = start + 1
        path.append(index)
        let wait = waitsOfEach[index].first { left[$0] > 0 }
        guard let next = wait.flatMap({ waits[$0].others.first { !canEnd[$0] } }) else {
          preconditionFailure("Internal inconsistency: it waits for ever, but for nothing")
        }
        index = next
      }
      if walks[index] == start + 1, let first = path.firstIndex(of: index) {
        cycles.append(cycle(Array(path[first...])))
      }
    }
    return cycles
  }

  /// Begins with the first to be met, which is the oldest if they are of one queue.
  private func cycle(_ path: [Int]) -> WaitCycle {
    let start = path.indices.min { path[$0] < path[$1] } ?? 0
    return WaitCycle(members: (path[start...] + path[..<start]).map { procedures[$0] })
  }

  /// Which procedures can end, by themselves or after others that can, and how many more would have
  /// to for each wait.
  ///
  /// - Parameter stuck: which of them cannot.
  private func ends(without stuck: [Bool]? = nil) -> (canEnd: [Bool], left: [Int]) {
    var canEnd = [Bool](repeating: false, count: procedures.count)
    var left = waits.map { $0.count }
    var unfulfilled = waitsOfEach.map { $0.count }
    var dependents = [[Int]](repeating: [], count: procedures.count)
    for index in waits.indices {
      for other in waits[index].others { dependents[other].append(index) }
    }
    if let stuck { for index in stuck.indices where stuck[index] { unfulfilled[index] += 1 } }
    var ending = procedures.indices.filter { unfulfilled[$0] == 0 }
    while let index = ending.popLast() {
      canEnd[index] = true
      for wait in dependents[index] where left[wait] > 0 {
        left[wait] -= 1
        guard left[wait] == 0 else { continue }
        unfulfilled[waits[wait].waiter] -= 1
        if unfulfilled[waits[wait].waiter] == 0 { ending.append(waits[wait].waiter) }
      }
    }
    return (canEnd, left)
  }
}

/// Procedures each of which waits for the next, and the last for the first.
struct WaitCycle: Equatable, Sendable {
  let members: [Procedure]

  /// Wherever they begin.
  static func == (left: Self, right: Self) -> Bool { Set(left.members) == Set(right.members) }

  /// Nothing else will: cancels them all, each with the names of all, in order, before any goes on.
  func end(reportingTo supervisor: QueueSupervisor) {
    let names = members.map(\.name)
    let error = ProcedureError(.dependencyCycle, of: names.first, .cycle(names))
    let calls = members.compactMap { member in member.waitingCall.map { (member, $0) } }
    // Reported first, before the wait of any caller for a member is over.
    if calls.isEmpty {
      supervisor.report(.waitCycle(error))
    } else {
      // A call that returns too early is news to the code behind it, which may not look at its procedure's errors.
      ProcedureDiagnostic.waitCycle(error, waitingIn: calls).reportAloud(to: supervisor)
    }
    Procedure.cancel(members, errors: [error], reason: .failure(error))
    for (member, _) in calls { member.endWaitingCall(with: error) }
  }
}
