/// A set of steps that can be run: names are unique, what they are after exists, and nothing waits
/// for itself.
struct Plan: Sendable, Equatable {
  let steps: [Step]
  /// How many steps of a pool may run at the same time, by its name.
  let pools: [String: Int]
  /// Names of variables whose values are shown nowhere.
  let secrets: [String]
  let graph: PlanGraph

  init(
    steps: [Step], pools: [String: Int] = [:], secrets: [String] = []
  ) throws(PlanError) {
    let steps = try Self.ordered(steps) { steps[$0].inputs }
    self.steps = steps
    self.pools = pools
    self.secrets = secrets
    graph = PlanGraph(steps)
    try checkNames()
    try checkReferences()
    try checkCycles()
  }

  /// Whether there is something to remember of a run.
  var hasOutputs: Bool { steps.contains { !$0.outputs.isEmpty } }

  /// The names of the groups, in the order of their first step.
  var groups: [String] {
    var seen: Set<String> = []
    return steps.compactMap(\.group).filter { seen.insert($0).inserted }
  }

  /// The names that one step has at a time, each with the steps that want it, in the order of the
  /// plan.
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
    var names: Set<String> = []
    names.reserveCapacity(steps.count)
    for step in steps {
      let (isNew, other) = names.insert(step.name)
      guard isNew else {
        // Swift's texts are equal when their characters are, however these are encoded.
        let isSame = other.unicodeScalars.elementsEqual(step.name.unicodeScalars)
        let problem: PlanError.Problem =
          isSame ? .duplicateName(step.name) : .equivalentNames(step.name)
        throw PlanError(problem, in: step)
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
        throw PlanError(.unknownAfter(name, step: step.name), in: step)
      }
      for name in step.pools where pools[name] == nil {
        throw PlanError(.unknownPool(name, step: step.name), in: step)
      }
      if step.outputs.isEmpty, !step.inputs.isEmpty {
        throw PlanError(.inputsWithoutOutputs(step: step.name), in: step)
      }
      if step.outputs.isEmpty, step.depfile != nil {
        throw PlanError(.depfileWithoutOutputs(step: step.name), in: step)
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
