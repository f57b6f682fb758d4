extension Plan {
  /// The plan as a Mermaid flowchart: a box for each step, a frame for each group.
  var mermaid: String {
    var lines = ["flowchart LR"]
    let numbers = Dictionary(
      uniqueKeysWithValues: (steps.map(\.name) + groups).enumerated().map { ($1, $0) })
    // Names may contain anything, so the nodes are called by number.
    func node(_ name: String) -> String { "n\(numbers[name, default: 0])" }
    func box(_ step: Step) -> String { "\(node(step.name))[\"\(Self.escaped(step.name))\"]" }

    for group in groups {
      lines.append("  subgraph \(node(group))[\"\(Self.escaped(group))\"]")
      lines += steps.filter { $0.group == group }.map { "    " + box($0) }
      lines.append("  end")
    }
    lines += steps.filter { $0.group == nil }.map { "  " + box($0) }
    for step in steps {
      lines += step.after.map { "  \(node($0)) --> \(node(step.name))" }
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
