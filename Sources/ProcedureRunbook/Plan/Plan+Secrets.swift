extension Plan {
  /// Returns the plan with names in which secrets are hidden: the names are all that is shown of a
  /// step, journaled, and handed to a cluster.
  ///
  /// - Parameter full: the plan that this one is a part of.
  func hiding(_ secrets: Secrets, asIn full: Plan) throws(PlanError) -> Plan {
    guard !secrets.isEmpty else { return self }
    let names = ShownNames(full, secrets)
    guard !names.areAsWritten else { return self }
    var shown: [String: Int] = [:]
    for (name, limit) in pools { shown[names.pool(name)] = limit }
    return try Plan(
      steps: steps.map(names.step), pools: shown, secrets: self.secrets, isPart: isPart,
      isOrdered: true)
  }
}

/// The names of a plan with its secrets hidden. Two names stay two: `a ***` and `a *** (2)`.
private struct ShownNames {
  private let names: [Name: String]
  private let exclusive: [Name: String]
  private let pools: [Name: String]

  init(_ plan: Plan, _ secrets: Secrets) {
    names = Self.shown(plan.steps.map(\.name) + plan.groups, secrets)
    exclusive = Self.shown(plan.exclusiveSteps.map { Name($0.name) }, secrets)
    pools = Self.shown(plan.pools.keys.map { Name($0) }.sorted(), secrets)
  }

  /// Returns the names that differ from the plan's.
  private static func shown(_ names: [Name], _ secrets: Secrets) -> [Name: String] {
    var result: [Name: String] = [:]
    var taken = Set(names)
    for name in names {
      let hidden = secrets.hiding(name.text)
      guard Name(hidden) != name, result[name] == nil else { continue }
      var shown = hidden
      var count = 1
      while !taken.insert(Name(shown)).inserted {
        count += 1
        shown = "\(hidden) (\(count))"
      }
      result[name] = shown
    }
    return result
  }

  var areAsWritten: Bool { names.isEmpty && exclusive.isEmpty && pools.isEmpty }

  func pool(_ name: String) -> String { pools[Name(name)] ?? name }

  private func name(_ name: Name) -> Name { names[name].map { Name($0) } ?? name }

  func step(_ step: Step) -> Step {
    var shown = step.named(name(step.name))
    shown.after = step.after.map(name)
    shown.group = step.group.map(name)
    if !step.outputsOf.isEmpty { shown.outputsOf = step.outputsOf.map(name) }
    if !step.exclusive.isEmpty {
      shown.exclusive = step.exclusive.map { exclusive[Name($0)] ?? $0 }
    }
    if !step.pools.isEmpty { shown.pools = step.pools.map(pool) }
    return shown
  }
}
