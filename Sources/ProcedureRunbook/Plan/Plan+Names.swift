extension Plan {
  /// The text of `--check` for a valid plan.
  var counts: String {
    let followUps = steps.count(where: \.isFollowUp)
    let parts = [
      steps.count == 1 ? "1 step" : "\(steps.count) steps",
      groups.isEmpty ? nil : groups.count == 1 ? "1 group" : "\(groups.count) groups",
      followUps == 0 ? nil : "\(followUps) of them for the end or a failure",
    ]
    let counts = parts.compactMap { $0 }.joined(separator: ", ")
    let notes = notes
    return notes.isEmpty
      ? "nothing is wrong with the plan: \(counts)"
      : notes.map { "note: \($0)\n" }.joined() + "the plan can be run: \(counts)"
  }

  /// The text of `--list`: each step with its group, its traits, and its description or the first
  /// line of its command.
  var names: String {
    let width = min(40, steps.map(\.name.visible.columns).reduce(0, max))
    return steps.map { step in
      let name = step.name.visible.rightPadded(to: width)
      let group = step.group.map { "[\($0.visible)] " } ?? ""
      let traits = step.traits.isEmpty ? "" : "(\(step.traits.joined(separator: ", "))) "
      let lines = (step.description ?? step.run).filledLines
      return "\(name)  \(group)\(traits)\(lines.first.map { String($0).shortened } ?? "")"
    }
    .joined(separator: "\n")
  }
}

extension Step {
  /// When it runs, unless after a success, and the resources that it takes.
  var traits: [String] {
    let when: String? =
      switch self.occasion {
      case .success: nil
      case .always: "always"
      case .failure: "on failure"
      }
    return [
      when, self.isService ? "service" : nil, self.executorName,
      self.processors.map { "cpu \($0)" },
      self.memorySizes.isEmpty
        ? nil
        : "memory \(self.memorySizes.map { "\(MemorySize(bytes: $0))" }.joined(separator: ", then "))",
    ]
    .compactMap { $0 }
  }
}
