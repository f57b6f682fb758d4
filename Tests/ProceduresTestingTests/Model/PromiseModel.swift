import Procedures

/// A promise was broken: by which event, and which promise.
struct BrokenPromise: Error, CustomStringConvertible {
  let description: String
}

/// What the framework promises, as plainly as it can be said: one thread, one event after another.
///
/// It gets each event of a workload, in the order in which they were seen, and says which promise
/// that breaks.
struct PromiseModel {
  private let plan: WorkloadPlan
  /// Whether events were seen exactly in the order in which they happened: in a simulation. Threads
  /// may be overtaken between what they do and what they note of it.
  private let isExact: Bool
  private var lives: [Life]
  private var suspendedQueues: [Int: Int] = [:]
  /// Who is between start and finish, in each queue, and in each group.
  private var running: [Place: Set<Int>] = [:]
  private var holders: [Int: Set<Int>] = [:]

  private enum Place: Hashable {
    case queue(Int)
    case group(Int)
  }

  init(_ plan: WorkloadPlan, isExact: Bool) {
    self.plan = plan
    self.isExact = isExact
    lives = plan.items.map { Life(isObserved: $0.isObserved || $0.isPlainGroup, of: $0) }
  }

  private func require(
    _ condition: Bool, _ promise: String, _ event: WorkloadEvent
  ) throws {
    if !condition { throw BrokenPromise(description: "\(promise) (at: \(event))") }
  }

  mutating func take(_ event: WorkloadEvent) throws {
    let index = event.index
    switch event.kind {
    case .queueSuspended:
      suspendedQueues[index, default: 0] += 1
      return
    case .queueResumed:
      // The first to resume it resumes it.
      suspendedQueues[index] = 0
      return
    default:
      break
    }
    do {
      try lives[index].take(event, isExact: isExact)
    } catch let broken as BrokenPromise {
      throw BrokenPromise(description: "\(broken) (at: \(event))")
    }
    switch event.kind {
    case .added(let isAccepted): lives[index].isAccepted = isAccepted
    case .evaluated: try checkMayBeEvaluated(event)
    case .willExecute: try checkStart(event)
    case .executeBegan:
      if !lives[index].isObserved { try checkStart(event) }
    case .willFinishOverride: try checkChildren(event)
    case .willFinish:
      if plan.items[index].isPlainGroup { try checkChildren(event) }
    case .didFinishOverride:
      if !lives[index].isObserved { end(index) }
    case .didFinish: end(index)
    default: break
    }
  }

  // MARK: Starting

  private mutating func checkStart(_ event: WorkloadEvent) throws {
    let index = event.index
    let item = plan.items[index]
    try checkMayBeEvaluated(event)
    for dependency in item.dependencies {
      switch dependency.requirement {
      case .any: continue
      case .notCancelled:
        try require(
          !lives[dependency.item].wasCancelled, "C8: a dependency must not be cancelled", event)
      case .success:
        try require(
          !lives[dependency.item].wasCancelled && !lives[dependency.item].hasFailed,
          "C8: a dependency must succeed", event)
      case .successOrIgnored:
        let life = lives[dependency.item]
        let checks = plan.items[dependency.item].checks
        let isIgnored = life.evaluated.last.map { checks[$0].verdict == .ignored } ?? false
        try require(
          !life.hasFailed && (!life.wasCancelled || isIgnored),
          "C8: a dependency must succeed, or be ignored", event)
      }
    }
    try require(
      item.checks.allSatisfy { $0.verdict == .satisfied }, "D2: it runs despite a condition", event)
    try require(
      lives[index].evaluated == Array(item.checks.indices)
        || lives[index].evaluated.count > item.checks.count,
      "D1: all conditions are evaluated, in order, once", event)
    let place = item.parent.map(Place.group) ?? .queue(item.queue)
    running[place, default: []].insert(index)
    let limit =
      switch place {
      case .queue(let queue): plan.limits[queue]
      case .group(let group): self.limit(of: group)
      }
    try require(running[place]!.count <= limit, "Q2, G9: more than \(limit) run at once", event)
    for category in item.categories {
      let ancestors = plan.ancestors(of: index)
      let others = holders[category, default: []].filter { !ancestors.contains($0) }
      try require(others.isEmpty, "L1: \(others) hold category \(category)", event)
      holders[category, default: []].insert(index)
    }
    // Between its start and its execute() the queue may be suspended.
    if isExact, case .willExecute = event.kind, case .queue(let queue) = place {
      try require(
        suspendedQueues[queue, default: 0] == 0, "Q3: it starts in a suspended queue", event)
    }
  }

  /// What must have happened before anything of it happens at all.
  private func checkMayBeEvaluated(_ event: WorkloadEvent) throws {
    let item = plan.items[event.index]
    for dependency in item.dependencies {
      try require(
        lives[dependency.item].isOver,
        "X2: it goes on before its dependency \(dependency.item) has finished", event)
    }
    if let parent = item.parent {
      try require(
        lives[parent].hasStarted, "G1: it goes on before its group executes", event)
    }
  }

  private func limit(of group: Int) -> Int {
    if case .group(let limit, _, _) = plan.items[group].kind { limit } else { .max }
  }

  // MARK: Ending

  private mutating func end(_ index: Int) {
    let item = plan.items[index]
    let place = item.parent.map(Place.group) ?? .queue(item.queue)
    running[place]?.remove(index)
    for category in item.categories { holders[category]?.remove(index) }
  }

  private func checkChildren(_ event: WorkloadEvent) throws {
    for (child, item) in plan.items.enumerated() where item.parent == event.index {
      guard lives[child].isAccepted == true else { continue }
      try require(
        lives[child].isOver, "G2: a group ends before its child \(child) has finished", event)
    }
  }

  /// Everything is over: how did it all end?
  func checkEnd(_ procedures: [Procedure]) throws {
    for (index, procedure) in procedures.enumerated() {
      guard let outcome = procedure.outcome else {
        throw BrokenPromise(description: "F3: \(index) has not finished: \(procedure)")
      }
      do { try lives[index].checkEnd(outcome) } catch let broken as BrokenPromise {
        throw BrokenPromise(description: "\(broken) (item \(index), \(procedure))")
      }
      if plan.items[index].isGroup { try checkErrors(of: index, procedures) }
    }
  }

  /// What a group ends with: the errors of its cancel, and then those of its children, each with a
  /// name, except those that follow from what else ended in the group. A wait that never ends is
  /// one error, of whichever member ended first, or of the group if it is a member itself.
  private func checkErrors(of group: Int, _ procedures: [Procedure]) throws {
    var expected: [String] = []
    let own = lives[group].cancelErrors ?? []
    var cycles = Set(
      procedures[group].errors.prefix(own.count).compactMap { ($0 as? ProcedureError)?.cycle })
    for (child, item) in plan.items.enumerated()
    where item.parent == group && lives[child].isAccepted == true {
      for error in procedures[child].errors {
        let inner = innermost(error)
        if let inner, follows(inner, within: group) { continue }
        if let inner, !inner.cycle.isEmpty, !cycles.insert(inner.cycle).inserted { continue }
        expected.append(text(of: error, from: child))
      }
    }
    let errors = procedures[group].errors.map { "\($0)" }
    guard Array(errors.prefix(own.count)) == own else {
      throw BrokenPromise(
        description: "C6: group \(group) ends with \(errors), cancelled with \(own)")
    }
    let taken = procedures[group].errors.dropFirst(own.count).map { text(of: $0, from: nil) }
    guard taken.sorted() == expected.sorted() else {
      throw BrokenPromise(
        description: "G8, E3: group \(group) ends with \(errors), its children with \(expected)")
    }
  }

  private func innermost(_ error: any Error) -> ProcedureError? {
    guard let error = error as? ProcedureError else { return nil }
    return error.code == .child ? error.underlyingErrors[0] as? ProcedureError : error
  }

  /// As its group has it: with the way to the child, once.
  private func text(of error: any Error, from child: Int?) -> String {
    if let cycle = innermost(error)?.cycle, !cycle.isEmpty { return "cycle \(cycle)" }
    guard let child else { return "\(error)" }
    guard (error as? ProcedureError)?.code == .child else { return "Child 'p\(child)': \(error)" }
    return "Child 'p\(child) › " + "\(error)".dropFirst("Child '".count)
  }

  /// Whether an item became part of a group, by way of groups that became part of it.
  private func isInside(_ item: Int, _ group: Int) -> Bool {
    var next = item
    while lives[next].isAccepted == true, let parent = plan.items[next].parent {
      if parent == group { return true }
      next = parent
    }
    return false
  }

  /// Whether it tells of the end of another item in the group, which reports that itself, or of the
  /// group's.
  private func follows(_ error: ProcedureError, within group: Int) -> Bool {
    switch error.code {
    case .parentCancelled, .siblingFailed:
      return true
    case .dependencyFailed, .dependencyCancelled:
      guard let name = error.procedure, let item = Int(name.dropFirst()) else { return false }
      return isInside(item, group)
    case .conditionFailed:
      let causes = error.underlyingErrors.map { $0 as? ProcedureError }
      return !causes.isEmpty
        && causes.allSatisfy { $0.map { follows($0, within: group) } ?? false }
    default:
      return false
    }
  }
}
