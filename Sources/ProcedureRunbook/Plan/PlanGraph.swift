/// The dependencies of a plan: a step waits for the steps that it is after, a group for its
/// members.
///
/// A step has the number of its place in the plan; the numbers of groups follow.
struct PlanGraph: Sendable, Equatable {
  private let names: [Name]
  private let stepCount: Int
  private let waitsFor: [[Int]]
  /// The steps in a possible order, which keeps the order of the plan as far as possible.
  let stepOrder: [Int]
  /// The members of a cycle in the order in which they would run, with the first one repeated at
  /// the end.
  let cycle: [Name]?
  /// The same order with groups.
  private let nodeOrder: [Int]

  init(_ plan: Plan) { self.init(plan.steps) }

  /// Names that no step and no group has are ignored.
  init(_ steps: [Step]) {
    var names = steps.map(\.name)
    var numbers: [Name: Int] = [:]
    numbers.reserveCapacity(names.count)
    for (number, name) in names.enumerated() { numbers[name] = numbers[name] ?? number }
    var waitsFor = [[Int]](repeating: [], count: steps.count)
    for (index, step) in steps.enumerated() {
      guard let group = step.group else { continue }
      if let number = numbers[group] {
        if number >= steps.count { waitsFor[number].append(index) }
      } else {
        numbers[group] = names.count
        names.append(group)
        waitsFor.append([index])
      }
    }
    let ordinary = steps.indices.filter { !steps[$0].isFollowUp }
    for (index, step) in steps.enumerated() {
      if !step.after.isEmpty {
        waitsFor[index] = step.after.compactMap { numbers[$0] }
      } else if step.isFollowUp {
        waitsFor[index] = ordinary
      }
    }
    self.names = names
    stepCount = steps.count
    self.waitsFor = waitsFor
    let walk = Self.walk(waitsFor)
    nodeOrder = walk.finished
    stepOrder = walk.finished.filter { $0 < steps.count }
    cycle = walk.cycle.map { members in
      let running = Self.inRunningOrder(members)
      return running.map { names[$0] }
    }
  }

  /// The steps that `step` comes after, with the members of groups.
  func stepsBefore(_ step: Int) -> [Int] {
    waitsFor[step].flatMap { $0 < stepCount ? [$0] : waitsFor[$0] }
  }

  /// The steps that need a service: they come after it, or after such a step. A step that comes
  /// after all others does not count.
  func stepsNeeding(_ service: Int, in plan: Plan) -> [Int] {
    var isNeeding = [Bool](repeating: false, count: names.count)
    isNeeding[service] = true
    for node in nodeOrder where node != service {
      let comesLast =
        node < stepCount && plan.steps[node].isFollowUp && plan.steps[node].after.isEmpty
      isNeeding[node] = !comesLast && waitsFor[node].contains { isNeeding[$0] }
    }
    return (0..<stepCount).filter { $0 != service && isNeeding[$0] }
  }

  var order: [Name] { stepOrder.map { names[$0] } }

  /// The largest set of steps that are members and come only after members: for each step whether
  /// it is in.
  ///
  /// It calls `isMember` in running order, and only for steps that come after members alone.
  func closed(_ isMember: (Int) -> Bool) -> [Bool] {
    var result = [Bool](repeating: false, count: names.count)
    for node in nodeOrder where waitsFor[node].allSatisfy({ result[$0] }) {
      result[node] = node >= stepCount || isMember(node)
    }
    return Array(result[..<stepCount])
  }

  /// It searches depth first with its own stack, since a chain of steps may exceed the call stack.
  private static func walk(_ waitsFor: [[Int]]) -> (finished: [Int], cycle: [Int]?) {
    var finished: [Int] = []
    finished.reserveCapacity(waitsFor.count)
    var isFinished = [Bool](repeating: false, count: waitsFor.count)
    var isOnPath = isFinished
    var path: [(node: Int, next: Int)] = []
    for node in waitsFor.indices where !isFinished[node] {
      path.append((node, 0))
      isOnPath[node] = true
      while let (current, next) = path.last {
        guard next < waitsFor[current].count else {
          path.removeLast()
          isOnPath[current] = false
          isFinished[current] = true
          finished.append(current)
          continue
        }
        path[path.count - 1].next += 1
        let other = waitsFor[current][next]
        if isOnPath[other] { return (finished, path.map(\.node).drop { $0 != other } + []) }
        if !isFinished[other] {
          path.append((other, 0))
          isOnPath[other] = true
        }
      }
    }
    return (finished, nil)
  }

  /// Each of `members` waits for the next one; the result begins with the first one in the plan.
  private static func inRunningOrder(_ members: [Int]) -> [Int] {
    let running = Array(members.reversed())
    let first = running.min() ?? 0
    let start = running.firstIndex(of: first) ?? 0
    return Array(running[start...]) + running[..<start] + [first]
  }
}
