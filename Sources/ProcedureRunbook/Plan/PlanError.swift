/// What is wrong with a plan, as one sentence, with the line where that is known.
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
    case stepNamedLikeGroup(String)
    case negativeTimeout(step: String)
    case unknownAfter(String, step: String)
    case cycle([String])
  }

  let problem: Problem
  let line: Int?

  init(_ problem: Problem, line: Int? = nil) {
    self.problem = problem
    self.line = line
  }

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
    case .repeatedKey(let key): "the key '\(key)' is there twice"
    case .unknownKey(let key, let owner, let allowed):
      "\(owner) has the unknown key '\(key)'; "
        + "allowed are \(allowed.map { "'\($0)'" }.joined(separator: ", "))"
    case .missingKey(let key, let owner): "\(owner) has no '\(key)'"
    case .wrongType(let key, let owner, let expected, let found):
      "'\(key)' of \(owner) must be \(expected), not \(found)"
    case .emptyPlan: "the plan has no steps"
    case .emptyText(let key, let owner): "'\(key)' of \(owner) is empty"
    case .duplicateName(let name): "there are two steps named '\(name)'"
    case .stepNamedLikeGroup(let name): "'\(name)' is the name of a step and of a group"
    case .negativeTimeout(let step):
      "'timeout' of step '\(step)' must be more than 0 seconds"
    case .unknownAfter(let name, let step):
      "step '\(step)' is after '\(name)', which is neither a step nor a group"
    case .cycle(let names):
      "these wait for each other in a cycle: \(names.joined(separator: " → "))"
    }
  }
}
