extension Plan {
  /// Returns the plan with these steps and groups, and the steps that they need, in the same order;
  /// and the steps that run after their failure, or always.
  func restricted(to targets: [Name]) throws(PlanError) -> Plan {
    guard !targets.isEmpty else { return self }
    let stepsByName = Dictionary(uniqueKeysWithValues: steps.map { ($0.name, $0) })
    let members = Dictionary(grouping: steps.filter { $0.group != nil }, by: { $0.group ?? "" })
    var needed: Set<Name> = []
    var seen: Set<Name> = []
    var unvisited: [Name] = []
    func visit(_ name: Name) { if seen.insert(name).inserted { unvisited.append(name) } }

    for name in targets {
      guard stepsByName[name] != nil || members[name] != nil else {
        let known = Array(stepsByName.keys) + members.keys
        throw PlanError(.unknownTarget(name.text, nearest: Spelling.nearest(to: name, in: known)))
      }
      visit(name)
    }
    while let name = unvisited.popLast() {
      if let step = stepsByName[name] {
        needed.insert(name)
        step.after.forEach(visit)
      }
      members[name]?.map(\.name).forEach(visit)
    }
    // A group that a step is after is kept as a whole, so that no name refers to a missing step.
    var kept: [Step] = []
    for step in steps {
      if needed.contains(step.name) {
        kept.append(step)
      } else if step.isFollowUp {
        // A follow-up keeps only the names that are still there.
        var followUp = step
        followUp.after = step.after.filter(seen.contains)
        if followUp.after.isEmpty == step.after.isEmpty { kept.append(followUp) }
      }
    }
    return try Plan(
      steps: kept, pools: pools, secrets: secrets, isPart: true, isOrdered: true)
  }
}
