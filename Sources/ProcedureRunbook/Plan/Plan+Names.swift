extension Plan {
  /// What `--list` prints: each step, with its group and its description, or the first line of its command.
  var names: String {
    let width = min(40, steps.map(\.name.visible.columns).reduce(0, max))
    return steps.map { step in
      let name = step.name.visible.rightPadded(to: width)
      let group = step.group.map { "[\($0.visible)] " } ?? ""
      let lines = (step.description ?? step.run).split(separator: "\n")
      return "\(name)  \(group)\(lines.first.map { String($0).shortened } ?? "")"
    }
    .joined(separator: "\n")
  }
}
