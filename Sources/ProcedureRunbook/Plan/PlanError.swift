/// A mistake in a plan, as one sentence, with the line if it is known.
struct PlanError: Error, Equatable, CustomStringConvertible {
  enum Problem: Equatable {
    case unreadable(reason: String)
    case syntax(String, column: Int)
    case repeatedKey(String)
    case unknownKey(String, owner: String, allowed: [String])
    case missingKey(String, owner: String)
    case wrongType(key: String, owner: String, expected: String, found: String)
    case emptyPlan
    case emptyText(key: String, owner: String)
    case duplicateName(String)
    case equivalentNames(String)
    case zeroByte(key: String, owner: String)
    case badVariable(String, owner: String)
    case negativeNumber(key: String, owner: String)
    case unknownPool(String, step: String)
    case inputsWithoutOutputs(step: String)
    case noFile(String, owner: String)
    case badName(String, key: String, owner: String)
    case badDotenv(String, line: Int)
    case includedTooDeep
    case shortSecret(String)
    case alwaysAndOnFailure(owner: String)
    case unknownExecutor(String, known: [String])
    case twoPlaces(owner: String)
    case unknownParameter(String, known: [String])
    case depfileWithoutOutputs(step: String)
    case sameOutput(String, String, String)
    case cancelWithoutLauncher(owner: String)
    case unknownTarget(String)
    case stepNamedLikeGroup(String)
    case unknownAfter(String, step: String)
    case cycle([String])
    case cycleOfDepfile(String, [String])
  }

  let problem: Problem
  let line: Int?
  /// An included file that it is in; nil for the plan itself.
  let file: String?

  init(_ problem: Problem, line: Int? = nil, file: String? = nil) {
    (self.problem, self.line, self.file) = (problem, line, file)
  }

  init(_ problem: Problem, in step: Step) { self.init(problem, line: step.line, file: step.file) }

  /// The same, of an included file unless it names one.
  func `in`(_ file: String?) -> Self { Self(problem, line: line, file: self.file ?? file) }

  var description: String {
    guard let line else { return sentence }
    if case .syntax(let problem, let column) = problem {
      return "line \(line), column \(column): this is not JSON: \(problem)"
    }
    return "line \(line): \(sentence)"
  }

  private var sentence: String {
    switch problem {
    case .unreadable(let reason): "the plan cannot be read: \(reason)"
    case .syntax(let problem, _): "this is not JSON: \(problem)"
    case .repeatedKey(let key): "the key '\(key.shortened)' is there twice"
    case .unknownKey(let key, let owner, let allowed):
      "\(owner.shortened) has the unknown key '\(key.shortened)'; "
        + "allowed are \(allowed.map { "'\($0)'" }.joined(separator: ", "))"
    case .missingKey(let key, let owner): "\(owner.shortened) has no '\(key)'"
    case .wrongType(let key, let owner, let expected, let found):
      "'\(key.shortened)' of \(owner.shortened) must be \(expected), not \(found)"
    case .emptyPlan: "the plan has no steps"
    case .emptyText(let key, let owner): "'\(key)' of \(owner.shortened) is empty"
    case .duplicateName(let name): "there are two steps named '\(name.shortened)'"
    case .equivalentNames(let name):
      "there are two steps named '\(name.shortened)', whose letters are only encoded in two ways"
    case .zeroByte(let key, let owner):
      "'\(key.shortened)' of \(owner.shortened) contains a zero byte, which no command can be given"
    case .badVariable(let name, let owner):
      "'environment' of \(owner.shortened) has the variable '\(name.visible.shortened)': "
        + "a name is not empty and contains neither '=' nor a zero byte"
    case .stepNamedLikeGroup(let name):
      "'\(name.shortened)' is the name of a step and of a group"
    case .negativeNumber(let key, let owner):
      "'\(key)' of \(owner.shortened) must be more than 0 seconds"
    case .unknownAfter(let name, let step):
      "step '\(step.shortened)' is after '\(name.shortened)', which is neither a step nor a group"
    case .unknownPool(let name, let step):
      "step '\(step.shortened)' is in the pool '\(name.shortened)', "
        + "which 'pools' of the plan does not name"
    case .inputsWithoutOutputs(let step):
      "step '\(step.shortened)' has 'inputs' and no 'outputs': what would they be compared with?"
    case .noFile(let pattern, let owner):
      "'each' of \(owner.shortened) finds no file '\(pattern.shortened)'"
    case .badName(let name, let key, let owner):
      "'\(key)' of \(owner.shortened) has the name '\(name.shortened)': "
        + "a name is of letters, digits and '_', as that of a variable"
    case .badDotenv(let file, let line):
      "line \(line) of '\(file.shortened)' is not 'NAME=value', nor a comment"
    case .includedTooDeep: "the plan includes a hundred files within each other"
    case .shortSecret(let name):
      "the secret '\(name)' is shorter than 4 characters: to hide it would hide half of the output"
    case .alwaysAndOnFailure(let owner):
      "\(owner.shortened) has 'always' and 'onFailure': one or the other"
    case .unknownParameter(let name, let known):
      "the plan has no parameter '\(name.shortened)'; "
        + (known.isEmpty
          ? "it has none" : "it has \(known.map { "'\($0.shortened)'" }.joined(separator: ", "))")
    case .unknownExecutor(let name, let known):
      "there is no executor '\(name.shortened)'; there are \(known.joined(separator: ", "))"
    case .twoPlaces(let owner):
      "\(owner.shortened) has 'executor' and 'launcher': one or the other"
    case .depfileWithoutOutputs(let step):
      "step '\(step.shortened)' has a 'depfile' and no 'outputs': what would be made from it?"
    case .sameOutput(let file, let first, let second):
      "'\(file.shortened)' is an output of two steps, '\(first.shortened)' and '\(second.shortened)'"
    case .cancelWithoutLauncher(let owner):
      "\(owner.shortened) has a 'launcherCancel' and no 'launcher'"
    case .unknownTarget(let name):
      "there is no step or group '\(name.shortened)' in the plan; see 'runbook --list'"
    case .cycle(let names):
      "these wait for each other in a cycle: \(Self.shortened(names).joined(separator: " → "))"
    case .cycleOfDepfile(let file, let names):
      "because of what '\(file.shortened)' says, these wait for each other in a cycle: "
        + "\(Self.shortened(names).joined(separator: " → ")); delete that file if it is an old one"
    }
  }

  /// The first few, and the last one, which is the first again.
  private static func shortened(_ names: [String]) -> [String] {
    let names =
      names.count <= 12
      ? names : names.prefix(9) + ["(\(names.count - 10) more)"] + names.suffix(1)
    return names.map(\.shortened)
  }
}
