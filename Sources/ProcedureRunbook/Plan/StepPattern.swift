#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a step is made for, several times: for each of some values, or of some files.
///
/// ```
/// "each": {"sample": "raw/{sample}.csv", "size": ["small", "large"]}
/// ```
///
/// A name in braces stands for its value in the step's names and files. In commands it is a variable, which a
/// shell takes as it is, whatever is in it.
struct StepPattern {
  /// One combination of values, in the order of the names.
  typealias Values = [(name: String, value: String)]

  private let names: [(name: String, values: [String])]

  /// - Parameters:
  ///   - lists: for each name its values, or one text in which it stands in braces: a pattern of files.
  ///   - directory: where patterns begin.
  init(
    _ lists: [(name: String, value: List)], in directory: String?
  ) throws(NoFile) {
    var names: [(name: String, values: [String])] = []
    for (name, list) in lists {
      switch list {
      case .values(let values): names.append((name, values))
      case .files(let pattern):
        let values = Self.values(of: name, in: pattern, directory)
        guard !values.isEmpty else { throw NoFile(pattern: pattern) }
        names.append((name, values))
      }
    }
    self.names = names
  }

  enum List {
    case values([String])
    case files(String)
  }

  struct NoFile: Error {
    let pattern: String
  }

  /// Each value of the first name with each of the next, and so on.
  var combinations: [Values] {
    names.reduce([[]]) { combinations, list in
      combinations.flatMap { before in list.values.map { before + [(list.name, $0)] } }
    }
  }

  static func filled(_ text: String, _ values: Values) -> String {
    values.reduce(text) { $0.replacing("{\($1.name)}", with: $1.value) }
  }

  /// What stands for the name in the files that there are, in order.
  private static func values(
    of name: String, in pattern: String, _ directory: String?
  ) -> [String] {
    let parts = pattern.split(
      separator: "{\(name)}", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return [] }
    let base = pattern.hasPrefix("/") ? "" : directory.map { "\($0)/" } ?? ""
    let (head, tail) = (base + parts[0], String(parts[1]))
    var found = unsafe glob_t()
    defer { unsafe globfree(&found) }
    guard unsafe glob(escaped(head) + "*" + escaped(tail), 0, nil, &found) == 0 else { return [] }
    return unsafe (0..<Int(found.gl_pathc)).compactMap { index in
      guard let path = unsafe found.gl_pathv[index] else { return nil }
      let text = unsafe String(cString: path)
      guard text.hasPrefix(head), text.hasSuffix(tail), text.count > head.count + tail.count else {
        return nil
      }
      return String(text.dropFirst(head.count).dropLast(tail.count))
    }
  }

  /// Only the place of the name is open.
  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      if "*?[\\".contains(character) { result.append("\\") }
      result.append(character)
    }
  }
}

extension Step {
  /// The step for one combination.
  func filled(with values: StepPattern.Values) -> Step {
    func fill(_ text: String) -> String { StepPattern.filled(text, values) }
    var step = Step(
      name: fill(name), run: run, after: after.map(fill), group: group.map(fill),
      inputs: inputs.map(fill), outputs: outputs.map(fill), details)
    step.line = line
    step.description = self.description.map(fill)
    step.exclusive = self.exclusive.map(fill)
    step.pools = self.pools.map(fill)
    step.depfile = self.depfile.map(fill)
    step.directory = self.directory.map(fill)
    for (name, value) in values { step.environment[name] = value }
    return step
  }
}
