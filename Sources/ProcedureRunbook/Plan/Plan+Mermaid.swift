extension Plan {
  /// The plan as a Mermaid flowchart: a box for each step, with six corners if it may not be needed,
  /// round ends if it runs after a failure or always, a frame for each group, and a dotted line between
  /// steps that exclude each other.
  var mermaid: String {
    var lines = ["flowchart LR"]
    let numbers = Dictionary(
      uniqueKeysWithValues: (steps.map(\.name) + groups).enumerated().map { ($1, $0) })
    // Names may contain anything, so the nodes are called by number.
    func node(_ name: Name) -> String { "n\(numbers[name, default: 0])" }
    func box(_ step: Step) -> String {
      let isConditional = step.onlyIf != nil || step.unless != nil
      let (left, right) =
        step.isFollowUp ? ("([", "])") : isConditional ? ("{{", "}}") : ("[", "]")
      return "\(node(step.name))\(left)\"\(Self.escaped(step.name.text))\"\(right)"
    }

    let members = Dictionary(grouping: steps) { $0.group }
    for group in groups {
      lines.append("  subgraph \(node(group))[\"\(Self.escaped(group.text))\"]")
      lines += members[group, default: []].map { "    " + box($0) }
      lines.append("  end")
    }
    lines += steps.filter { $0.group == nil }.map { "  " + box($0) }
    for step in steps {
      lines += step.after.map { "  \(node($0)) --> \(node(step.name))" }
    }
    for (name, steps) in exclusiveSteps {
      // Each with the next, not with all others: a few lines instead of very many.
      lines += zip(steps, steps.dropFirst()).map { first, second in
        "  \(node(first.name)) -. \"\(Self.escaped(name))\" .- \(node(second.name))"
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func escaped(_ name: String) -> String {
    name.reduce(into: "") { text, character in
      switch character {
      case "\"": text += "#quot;"
      case "#": text += "#35;"
      case "\n", "\r", "\r\n": text += " "
      default: text.append(character)
      }
    }
  }
}
