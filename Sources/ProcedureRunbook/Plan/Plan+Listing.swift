extension Plan {
  /// What `--dry-run` prints: the steps in an order in which they can run.
  var listing: String {
    let byName = Dictionary(uniqueKeysWithValues: steps.map { ($0.name, $0) })
    let ordered = PlanGraph(self).order.compactMap { byName[$0] }
    let width = String(ordered.count).count
    let lines = ordered.enumerated().flatMap { index, step in
      var title = "\(String(index + 1).leftPadded(to: width)). \(step.name.visible)"
      if let group = step.group { title += " [\(group)]" }
      if !step.after.isEmpty { title += ", after \(step.after.joined(separator: ", "))" }
      if !step.exclusive.isEmpty {
        title += ", exclusive: \(step.exclusive.joined(separator: ", "))"
      }
      let indentation = String(repeating: " ", count: width + 2)
      let checks = [("only if", step.onlyIf), ("unless", step.unless)].flatMap { word, command in
        (command?.split(separator: "\n") ?? []).map { "\(indentation)\(word): \($0)" }
      }
      return [title] + checks + step.run.split(separator: "\n").map { "\(indentation)$ \($0)" }
    }
    return lines.joined(separator: "\n")
  }
}
