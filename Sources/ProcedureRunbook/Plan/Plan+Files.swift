/// The order that files give: who reads a file comes after who makes it.
extension Plan {
  /// The steps, each after those that make what it reads.
  ///
  /// A file that two steps make is a mistake: what is in it would depend on which of them ended last.
  static func ordered(_ steps: [Step]) throws(PlanError) -> [Step] {
    guard steps.contains(where: { !$0.outputs.isEmpty }) else { return steps }
    var makers: [String: Int] = [:]
    for (index, step) in steps.enumerated() {
      for output in step.outputs {
        let path = step.path(of: output)
        if let other = makers[path], other != index {
          throw PlanError(
            .sameOutput(output, steps[other].name, step.name), in: step)
        }
        makers[path] = index
      }
    }
    var ordered = steps
    for (index, step) in steps.enumerated() {
      for input in step.inputs {
        guard let maker = maker(of: step.path(of: input), makers), maker != index else { continue }
        let name = steps[maker].name
        let isKnown =
          ordered[index].after.contains(name)
          || (steps[maker].group.map(step.after.contains) ?? false)
        if !isKnown { ordered[index].after.append(name) }
      }
    }
    return ordered
  }

  /// Of the file, or of a folder that it is in.
  private static func maker(of path: String, _ makers: [String: Int]) -> Int? {
    if let maker = makers[path] { return maker }
    var rest = path[...]
    while let slash = rest.lastIndex(of: "/"), slash > rest.startIndex {
      rest = rest[..<slash]
      if let maker = makers[String(rest)] { return maker }
    }
    return nil
  }
}

extension Step {
  /// Where one of its files is, without what changes nothing.
  func path(of file: String) -> String {
    guard let directory, !file.hasPrefix("/") else { return FileTree.normal(file) }
    return FileTree.normal(directory + "/" + file)
  }
}
