internal import ProcedurePrimitives

extension Plan {
  /// The plan as a Mermaid flowchart: a box for each step, a frame for each group, and a dotted
  /// line between steps that exclude each other. A box has six corners if the step may not be
  /// needed, and round ends if it runs after a failure or always.
  var mermaid: String {
    var lines = ["flowchart LR"]
    let numbers = Dictionary(
      uniqueKeysWithValues: (steps.map(\.name) + groups).enumerated().map { ($1, $0) })
    // Nodes are identified by number, since names may contain any character.
    func node(_ name: Name) -> String { "n\(numbers[name, default: 0])" }
    func box(_ step: Step) -> String {
      let isConditional = step.onlyIf != nil || step.unless != nil
      let (left, right) =
        step.isFollowUp ? ("([", "])") : isConditional ? ("{{", "}}") : ("[", "]")
      return "\(node(step.name))\(left)\"\(step.name.text.mermaidLabel)\"\(right)"
    }

    let members = Dictionary(grouping: steps) { $0.group }
    for group in groups {
      lines.append("  subgraph \(node(group))[\"\(group.text.mermaidLabel)\"]")
      lines += members[group, default: []].map { "    " + box($0) }
      lines.append("  end")
    }
    lines += steps.filter { $0.group == nil }.map { "  " + box($0) }
    for step in steps {
      lines += step.after.map { "  \(node($0)) --> \(node(step.name))" }
    }
    for (name, steps) in exclusiveSteps {
      // Each step is connected with the next one only, which needs far fewer lines.
      lines += zip(steps, steps.dropFirst()).map { first, second in
        "  \(node(first.name)) -. \"\(name.mermaidLabel)\" .- \(node(second.name))"
      }
    }
    return lines.joined(separator: "\n")
  }
}
