/// A set of steps that can be run: names are unique, what they are after exists, and nothing waits
/// for itself.
struct Plan: Sendable, Equatable {
  let steps: [Step]

  init(steps: [Step]) throws(PlanError) {
    self.steps = steps
    try checkNames()
    try checkReferences()
    try checkCycles()
  }

  /// The names of the groups, in the order of their first step.
  var groups: [String] {
    var seen: Set<String> = []
    return steps.compactMap(\.group).filter { seen.insert($0).inserted }
  }

  /// What is had by one step at a time, with the steps that want it, in the order of the plan.
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
    for step in steps {
      guard names.insert(step.name).inserted else {
        throw PlanError(.duplicateName(step.name), line: step.line)
      }
      if groups.contains(step.name) {
        throw PlanError(.stepNamedLikeGroup(step.name), line: step.line)
      }
    }
  }

  private func checkReferences() throws(PlanError) {
    let known = Set(steps.map(\.name)).union(groups)
    for step in steps {
      for name in step.after where !known.contains(name) {
        throw PlanError(.unknownAfter(name, step: step.name), line: step.line)
      }
    }
  }

  private func checkCycles() throws(PlanError) {
    if let cycle = PlanGraph(self).cycle {
      throw PlanError(.cycle(cycle), line: steps.first { cycle.contains($0.name) }?.line)
    }
  }
}
