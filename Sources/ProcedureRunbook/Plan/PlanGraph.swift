/// What waits for what in a plan: a step for those it is after, a group for its members.
struct PlanGraph {
  private let names: [String]
  private let waitsFor: [String: [String]]

  init(_ plan: Plan) {
    names = plan.steps.map(\.name)
    var waitsFor = Dictionary(
      plan.steps.map { ($0.name, $0.after) }, uniquingKeysWith: { first, _ in first })
    for step in plan.steps {
      if let group = step.group { waitsFor[group, default: []].append(step.name) }
    }
    self.waitsFor = waitsFor
  }

  /// The members of a cycle in the order they would run, the first one repeated at the end.
  var cycle: [String]? { walk().cycle }

  /// The steps in an order in which they can run, which keeps that of the plan where it can.
  var order: [String] {
    let steps = Set(names)
    return walk().finished.filter(steps.contains)
  }

  /// Depth first with a stack of its own: a chain of steps may be longer than the call stack.
  private func walk() -> (finished: [String], cycle: [String]?) {
    var finished: [String] = []
    var isFinished: Set<String> = []
    var path: [(name: String, next: Int)] = []
    var isOnPath: Set<String> = []
    for name in names where !isFinished.contains(name) {
      path = [(name, 0)]
      isOnPath = [name]
      while let (current, next) = path.last {
        let others = waitsFor[current] ?? []
        guard next < others.count else {
          path.removeLast()
          isOnPath.remove(current)
          isFinished.insert(current)
          finished.append(current)
          continue
        }
        path[path.count - 1].next += 1
        let other = others[next]
        if isOnPath.contains(other) {
          let members = path.map(\.name).drop { $0 != other }
          return (finished, inRunningOrder(Array(members)))
        }
        if !isFinished.contains(other) {
          path.append((other, 0))
          isOnPath.insert(other)
        }
      }
    }
    return (finished, nil)
  }

  /// Each of `members` waits for the next one; begins with the one that the plan names first.
  private func inRunningOrder(_ members: [String]) -> [String] {
    let running = Array(members.reversed())
    let isMember = Set(running)
    let first = names.first(where: isMember.contains) ?? running[0]
    let start = running.firstIndex(of: first) ?? 0
    return Array(running[start...]) + running[..<start] + [first]
  }
}
