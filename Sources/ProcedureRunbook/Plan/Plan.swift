/// A valid set of steps: names are unique, the names in `after` exist, and no step waits for
/// itself.
struct Plan: Sendable, Equatable {
  let steps: [Step]
  /// The number of steps of a pool that may run at the same time, by its name.
  let pools: [String: Int]
  /// Names of variables whose values must not be shown.
  let secrets: [String]
  let graph: PlanGraph
  /// Whether it has only the targets of the command line and the steps that they need.
  let isPart: Bool

  /// - Parameter isOrdered: whether the steps are those of a plan, which files have ordered already.
  init(
    steps: [Step], pools: [String: Int] = [:], secrets: [String] = [], isPart: Bool = false,
    isOrdered: Bool = false
  ) throws(PlanError) {
    let steps =
      isOrdered
      ? steps
      : try Self.ordered(steps) { index in
        steps[index].inputs.map { steps[index].path(of: $0) }
      }
    self.steps = steps
    self.pools = pools
    self.secrets = secrets
    self.isPart = isPart
    graph = PlanGraph(steps)
    try checkNames()
    try checkReferences()
    try checkCycles()
    try checkServices()
  }

  /// The names of the groups, in the order of their first step.
  var groups: [Name] {
    var seen: Set<Name> = []
    return steps.compactMap(\.group).filter { seen.insert($0).inserted }
  }

  /// The names in `exclusive`, each with its steps, in the order of the plan.
  var exclusiveSteps: [(name: String, steps: [Step])] {
    var seen: Set<String> = []
    let names = steps.flatMap(\.exclusive).filter { seen.insert($0).inserted }
    let byName = Dictionary(
      grouping: steps.flatMap { step in Set(step.exclusive).map { (name: $0, step: step) } },
      by: \.name)
    return names.map { name in (name, byName[name, default: []].map(\.step)) }
  }

  private func checkNames() throws(PlanError) {
    guard !steps.isEmpty else { throw PlanError(.emptyPlan) }
    let groups = Set(groups)
    var names: Set<Name> = []
    names.reserveCapacity(steps.count)
    for step in steps {
      guard names.insert(step.name).inserted else {
        throw PlanError(.duplicateName(step.name), in: step)
      }
      if groups.contains(step.name) {
        throw PlanError(.stepNamedLikeGroup(step.name), in: step)
      }
    }
  }

  private func checkReferences() throws(PlanError) {
    let hasReferences = steps.contains { !$0.after.isEmpty }
    let known = hasReferences ? Set(steps.map(\.name)).union(groups) : []
    for step in steps {
      for name in step.after where !known.contains(name) {
        let nearest = Spelling.nearest(to: name, in: known)
        throw PlanError(.unknownAfter(name, step: step.name, nearest: nearest), in: step)
      }
      for name in step.pools where pools[name] == nil {
        let nearest = Spelling.nearest(to: name, in: pools.keys)
        throw PlanError(.unknownPool(name, step: step.name, nearest: nearest), in: step)
      }
      let bytes = step.inputs.reduce(0) { $0 + $1.utf8.count + 9 }
      if bytes > Step.longestArguments {
        throw PlanError(.tooManyInputs(step: step.name, bytes: bytes), in: step)
      }
      if step.outputs.isEmpty, step.depfile != nil {
        throw PlanError(.depfileWithoutOutputs(step: step.name), in: step)
      }
    }
  }

  /// In a part of a plan a service may be a target itself.
  private func checkServices() throws(PlanError) {
    guard !isPart else { return }
    for (index, step) in steps.enumerated() where step.isService {
      if graph.stepsNeeding(index, in: self).isEmpty {
        throw PlanError(.serviceForNobody(step: step.name), in: step)
      }
    }
  }

  private func checkCycles() throws(PlanError) {
    if let cycle = graph.cycle {
      let members = Set(cycle)
      let first = steps.first { members.contains($0.name) }
      throw PlanError(.cycle(cycle), line: first?.line, file: first?.file)
    }
  }
}
