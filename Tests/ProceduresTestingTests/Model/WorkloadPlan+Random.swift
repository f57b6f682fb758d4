import Procedures
import ProceduresTesting

extension WorkloadPlan {
  /// The plan that a seed stands for.
  init(seed: UInt64) {
    var generator = SimulationGenerator(seed: seed)
    self.init(using: &generator)
  }

  private init(using generator: inout SimulationGenerator) {
    let queueCount = Int.random(in: 1...2, using: &generator)
    limits = (0..<queueCount).map { _ in [1, 2, 3, .max].randomElement(using: &generator)! }
    let count = Int.random(in: 1...12, using: &generator)
    while items.count < count { addItem(in: nil, depth: 0, using: &generator) }
    for index in items.indices { connect(index, using: &generator) }
    for _ in 0..<Int.random(in: 0...5, using: &generator) { addAction(using: &generator) }
  }

  private static func happens(
    onceIn count: Int, using generator: inout SimulationGenerator
  ) -> Bool {
    Int.random(in: 0..<count, using: &generator) == 0
  }

  private static func time(using generator: inout SimulationGenerator) -> Int {
    Int.random(in: 0...6, using: &generator)
  }

  /// An item comes before its children, so that dependencies that lead back lead in no circle.
  private mutating func addItem(
    in parent: Int?, depth: Int, using generator: inout SimulationGenerator
  ) {
    let index = items.count
    let queue = parent.map { items[$0].queue } ?? Int.random(in: limits.indices, using: &generator)
    items.append(
      Item(kind: Self.kind(depth: depth, using: &generator), parent: parent, queue: queue))
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: items[index].entrance = .after(Self.time(using: &generator))
    case 1 where parent.map { !items[$0].isPlainGroup } ?? false:
      items[index].entrance = .inExecute
    default: break
    }
    guard items[index].isGroup else { return }
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      addItem(in: index, depth: depth + 1, using: &generator)
    }
  }

  private static func kind(depth: Int, using generator: inout SimulationGenerator) -> Kind {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0...2: .instant
    case 3: .failing
    case 4, 5: .delay(time(using: &generator))
    case 6, 7:
      .manual(
        after: time(using: &generator), endsWhenCancelled: !happens(onceIn: 4, using: &generator))
    default:
      depth > 2
        ? .instant
        : .group(
          limit: [1, 2, .max].randomElement(using: &generator)!,
          cancelsRemaining: happens(onceIn: 3, using: &generator),
          isPlain: happens(onceIn: 2, using: &generator))
    }
  }

  /// What one item has to do with others.
  private mutating func connect(_ index: Int, using generator: inout SimulationGenerator) {
    let ancestors = Set(ancestors(of: index))
    for other in 0..<index where !ancestors.contains(other) {
      guard Self.happens(onceIn: 5, using: &generator), mayBeAwaited(other, within: ancestors)
      else { continue }
      let requirement: DependencyRequirement =
        [.any, .any, .notCancelled, .success, .successOrIgnored].randomElement(using: &generator)!
      items[index].dependencies.append((other, requirement))
    }
    while Self.happens(onceIn: 4, using: &generator) {
      let verdict: Verdict =
        Self.happens(onceIn: 3, using: &generator)
        ? [.ignored, .failed].randomElement(using: &generator)! : .satisfied
      items[index].checks.append(
        Check(verdict: verdict, isAsynchronous: Self.happens(onceIn: 2, using: &generator)))
    }
    for category in 0..<2 where Self.happens(onceIn: 5, using: &generator) {
      items[index].categories.insert(category)
    }
    items[index].isObserved = !Self.happens(onceIn: 4, using: &generator)
    items[index].isCancelledBefore = Self.happens(onceIn: 15, using: &generator)
    items[index].hasToken = Self.happens(onceIn: 5, using: &generator)
    if Self.happens(onceIn: 8, using: &generator) {
      items[index].holdsExecute = Self.time(using: &generator)
    }
    if Self.happens(onceIn: 8, using: &generator) {
      items[index].holdsFinish = Self.time(using: &generator)
    }
  }

  /// What a group adds when it executes is on no queue before, and so no procedure can see that the
  /// group waits for one that waits for it: only those inside of it may.
  private func mayBeAwaited(_ other: Int, within ancestors: Set<Int>) -> Bool {
    ([other] + self.ancestors(of: other)).allSatisfy { index in
      guard case .inExecute = items[index].entrance else { return true }
      return ancestors.contains(index)
    }
  }

  private mutating func addAction(using generator: inout SimulationGenerator) {
    let time = Self.time(using: &generator)
    let item = Int.random(in: items.indices, using: &generator)
    let queue = Int.random(in: limits.indices, using: &generator)
    let later = time + Int.random(in: 0...4, using: &generator)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0...3:
      actions.append(
        (time, .cancel(item, withError: Self.happens(onceIn: 2, using: &generator))))
    case 4, 5: actions.append((time, .fireToken(item)))
    case 6: actions.append((time, .suspendQueue(queue, until: later)))
    case 7: actions.append((time, .suspendGroup(item, until: later)))
    case 8: actions.append((time, .cancelAll(queue: queue)))
    default: actions.append((time, .observe(item)))
    }
  }
}
