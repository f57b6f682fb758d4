/// Who waits for whom, among the procedures of a queue, and of other queues as far as they are waited
/// for.
///
/// A procedure can end if it waits for nothing, or for others that all can end; of those that have
/// the slots it needs, one is enough. Those that remain wait for ever, and among them are cycles.
struct WaitGraph {
  private enum Wait {
    case all([Int])
    case any([Int])
  }

  private var procedures: [Procedure] = []
  private var indices: [ObjectIdentifier: Int] = [:]
  private var waits: [Wait] = []

  /// Whether one of them can go on by itself, now.
  private(set) var isBusy = false

  var count: Int { procedures.count }

  /// Looks at all procedures in `root`, in groups on it, and whatever those wait for.
  init(from root: ReadyList) {
    for procedure in root.procedures { add(procedure) }
    var index = 0
    while index < procedures.count {
      let procedure = procedures[index]
      for child in procedure.childList?.procedures ?? [] { add(child) }
      waits.append(wait(of: procedure))
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

  private mutating func wait(of procedure: Procedure) -> Wait {
    let obstacle = procedure.obstacle
    let awaited = obstacle.awaited.map { add($0) }
    switch obstacle {
    case .slot:
      return .any(awaited)
    case .nothing, .condition:
      isBusy = true
      return .all([])
    default:
      return .all(awaited)
    }
  }

  /// The cycles among those that wait for ever, each once.
  var cycles: [WaitCycle] {
    let canEnd = canEnd
    var cycles: [WaitCycle] = []
    /// In which walk each was met.
    var walks = [Int](repeating: 0, count: procedures.count)
    for start in procedures.indices where !canEnd[start] && walks[start] == 0 {
      var path: [Int] = []
      var index = start
      while walks[index] == 0 {
        walks[index] = start + 1
        path.append(index)
        guard let next = awaited(by: index).first(where: { !canEnd[$0] }) else {
          preconditionFailure("Internal inconsistency: it waits for ever, but for nobody")
        }
        index = next
      }
      if walks[index] == start + 1, let first = path.firstIndex(of: index) {
        cycles.append(cycle(Array(path[first...])))
      }
    }
    return cycles
  }

  /// Begins with the one that was met first, which is the oldest if they are of one queue.
  private func cycle(_ path: [Int]) -> WaitCycle {
    let start = path.indices.min { path[$0] < path[$1] } ?? 0
    return WaitCycle(members: (path[start...] + path[..<start]).map { procedures[$0] })
  }

  private func awaited(by index: Int) -> [Int] {
    switch waits[index] {
    case .all(let others), .any(let others): others
    }
  }

  /// Which of them can end, by themselves or after others that can.
  private var canEnd: [Bool] {
    var canEnd = [Bool](repeating: false, count: procedures.count)
    var missing = [Int](repeating: 0, count: procedures.count)
    var waiters = [[Int]](repeating: [], count: procedures.count)
    var ending: [Int] = []
    for index in procedures.indices {
      let others = awaited(by: index)
      for other in others { waiters[other].append(index) }
      if case .any = waits[index] { missing[index] = 1 } else { missing[index] = others.count }
      if others.isEmpty { ending.append(index) }
    }
    while let index = ending.popLast() {
      guard !canEnd[index] else { continue }
      canEnd[index] = true
      for waiter in waiters[index] {
        missing[waiter] -= 1
        if missing[waiter] <= 0 { ending.append(waiter) }
      }
    }
    return canEnd
  }
}
