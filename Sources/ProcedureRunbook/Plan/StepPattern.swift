/// The values or files of an `each`: a step is made for each of them.
///
/// ```
/// "each": {"sample": "raw/{sample}.csv", "size": ["small", "large"]}
/// ```
///
/// A name in braces stands for its value in the step's names and files. In commands it is a
/// variable, so that a shell never interprets the value.
struct StepPattern {
  /// One combination of values, in the order of the names.
  typealias Values = [(name: String, value: String)]

  enum List {
    case values([String])
    /// The files that match, and the values that the name has in them.
    case files(FilePattern)
  }

  let lists: [(name: String, value: List)]

  var hasFiles: Bool {
    lists.contains { if case .files = $0.value { true } else { false } }
  }

  /// Combines each value of the first name with each value of the next one, and so on.
  ///
  /// - Parameter values: returns the values of a name in a pattern of files.
  func combinations(_ values: (_ name: String) -> [String]) -> [Values] {
    lists.reduce([[]]) { combinations, list in
      let values =
        switch list.value {
        case .values(let values): values
        case .files: values(list.name)
        }
      return combinations.flatMap { before in values.map { before + [(list.name, $0)] } }
    }
  }
}

extension Step {
  /// Returns the step for one combination.
  func filled(with values: StepPattern.Values) -> Step {
    func fill(_ text: String) -> String {
      Braces.filled(text) { name in values.first { $0.name == name }?.value }
    }
    // An asterisk of a value is part of a name.
    func fillInput(_ text: String) -> String {
      Braces.filled(text) { name in
        values.first { $0.name == name }.map { FilePattern.text(ofName: $0.value) }
      }
    }
    func fill(_ name: Name) -> Name { Name(fill(name.text)) }
    var step = Step(
      name: fill(name), run: run, after: after.map(fill), group: group.map(fill),
      inputs: inputs.map(fillInput), outputs: outputs.map(fill), details)
    step.line = line
    step.description = self.description.map(fill)
    step.exclusive = self.exclusive.map(fill)
    step.pools = self.pools.map(fill)
    step.depfile = self.depfile.map(fill)
    step.directory = self.directory.map(fill)
    step.outputsOf = self.outputsOf.map(fill)
    step.readyLine = self.readyLine.map(fill)
    step.eachNames = values.map(\.name)
    for (name, value) in values { step.environment[name] = value }
    return step
  }
}
