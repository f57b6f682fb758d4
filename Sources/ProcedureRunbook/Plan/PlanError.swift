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
    case duplicateName(Name)
    case zeroByte(key: String, owner: String)
    case badVariable(String, owner: String)
    case negativeNumber(key: String, owner: String)
    case unknownPool(String, step: Name, nearest: String?)
    case noFile(String, key: String, step: Name)
    case foundNoText(String, String)
    case directoryNoText(String)
    case asteriskInEach(String, name: String, owner: String)
    case patternInMadeFolder(String, owner: Name, folder: String, maker: Name)
    case patternFindsOwn(String, owner: Name, file: String)
    case patternsFeed([String])
    case unknownMaker(Name, step: Name, nearest: String?)
    case makerWithoutOutputs(Name, step: Name)
    case tooLong(key: String, owner: String, bytes: Int)
    case tooManyInputs(step: Name, bytes: Int)
    case notOfService(key: String, step: String)
    case onlyOfService(key: String, step: String)
    case twoWaysToBeReady(owner: String)
    case serviceForNobody(step: Name)
    case badName(String, key: String, owner: String)
    case badDotenv(String, line: Int)
    case unreadableDotenv(owner: String, reason: String)
    case dotenvIsMade(String, step: Name, maker: Name)
    case includedTooDeep
    case cycleOfPlans([String])
    case shortSecret(String)
    case alwaysAndOnFailure(owner: String)
    case unknownExecutor(String, known: [String])
    case twoPlaces(owner: String)
    case unknownParameter(String, known: [String])
    case depfileWithoutOutputs(step: Name)
    case sameOutput(String, Name, Name)
    case cancelWithoutLauncher(owner: String)
    case unknownTarget(String, nearest: String?)
    case stepNamedLikeGroup(Name)
    case unknownAfter(Name, step: Name, nearest: String?)
    case cycle([Name])
    case cycleOfDepfile(String, [Name])
  }

  let problem: Problem
  let line: Int?
  /// The included file that has the mistake; nil for the plan itself.
  let file: String?

  init(_ problem: Problem, line: Int? = nil, file: String? = nil) {
    (self.problem, self.line, self.file) = (problem, line, file)
  }

  init(_ problem: Problem, in step: Step) { self.init(problem, line: step.line, file: step.file) }

  /// Returns the error with a file, unless it already names one.
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
        + (Spelling.hint(Spelling.nearest(to: key, in: allowed))
          ?? "allowed are \(allowed.map { "'\($0)'" }.joined(separator: ", "))")
    case .missingKey(let key, let owner): "\(owner.shortened) has no '\(key)'"
    case .wrongType(let key, let owner, let expected, let found):
      "'\(key.shortened)' of \(owner.shortened) must be \(expected), not \(found)"
    case .emptyPlan: "the plan has no steps"
    case .emptyText(let key, let owner): "'\(key)' of \(owner.shortened) is empty"
    case .duplicateName(let name): "there are two steps named '\(name.shortened)'"
    case .zeroByte(let key, let owner):
      "'\(key.shortened)' of \(owner.shortened) contains a zero byte, which no command can be given"
    case .badVariable(let name, let owner):
      "'environment' of \(owner.shortened) has the variable '\(name.visible.shortened)': "
        + "a name is not empty and contains neither '=' nor a zero byte"
    case .stepNamedLikeGroup(let name):
      "'\(name.shortened)' is the name of a step and of a group"
    case .negativeNumber(let key, let owner):
      "'\(key)' of \(owner.shortened) must be more than 0 seconds"
    case .unknownAfter(let name, let step, let nearest):
      "step '\(step.shortened)' is after '\(name.shortened)', which is neither a step nor a group"
        + Self.hint(nearest)
    case .unknownPool(let name, let step, let nearest):
      "step '\(step.shortened)' is in the pool '\(name.shortened)', "
        + "which 'pools' of the plan does not name" + Self.hint(nearest)
    case .unknownMaker(let name, let step, let nearest):
      "step '\(step.shortened)' has the outputs of '\(name.shortened)', "
        + "which is neither a step nor a group" + Self.hint(nearest)
    case .makerWithoutOutputs(let name, let step):
      "step '\(step.shortened)' has the outputs of '\(name.shortened)', which has none"
    case .foundNoText(let file, let pattern):
      "the pattern '\(pattern.shortened)' finds the file '\(file.shortened)', "
        + "whose name is not UTF-8: a plan cannot say it"
    case .directoryNoText(let directory):
      "the name of the directory '\(directory.shortened)' is not UTF-8: no step can be started there"
    case .asteriskInEach(let pattern, let name, let owner):
      "'each' of \(owner.shortened) has an asterisk in '\(pattern.shortened)': only '{\(name)}' is open; "
        + "an asterisk in the name of a file is '\\*'"
    case .patternInMadeFolder(let pattern, let owner, let folder, let maker):
      "the pattern '\(pattern.shortened)' of step '\(owner.shortened)' is about files in "
        + "'\(folder.shortened)', which '\(maker.shortened)' makes as a whole, so they are not known before "
        + "that has run: name the files in its 'outputs', or the folder in 'inputs'"
    case .patternFindsOwn(let pattern, let owner, let file):
      "the pattern '\(pattern.shortened)' of step '\(owner.shortened)' finds what the step itself makes: "
        + "'\(file.shortened)'"
    case .patternsFeed(let patterns):
      "steps make files without end for the patterns "
        + patterns.prefix(5).map { "'\($0.shortened)'" }.joined(separator: ", ")
    case .tooLong(let key, let owner, let bytes):
      "'\(key.shortened)' of \(owner.shortened) has \(bytes) bytes, more than the 128 KB that a program can "
        + "be given in one piece: put it into a file"
    case .tooManyInputs(let step, let bytes):
      "the names of the inputs of step '\(step.shortened)' have \(bytes) bytes, more than the 1 MB that a "
        + "command can be given: name their folder"
    case .notOfService(let key, let step):
      "step '\(step.shortened)' is a service, which has no '\(key)': it runs beside the steps that need it"
    case .onlyOfService(let key, let step):
      "step '\(step.shortened)' has '\(key)' and is no service; add '\"service\": true'"
    case .twoWaysToBeReady(let owner):
      "\(owner.shortened) has 'ready' and 'readyLine': one or the other"
    case .serviceForNobody(let step):
      "step '\(step.shortened)' is a service, and no step is after it: it would run for nobody"
    case .noFile(let pattern, let key, let step):
      "'\(key)' of step '\(step.shortened)' finds no file '\(pattern.shortened)', "
        + "neither there nor in the 'outputs' of a step"
    case .badName(let name, let key, let owner):
      "'\(key)' of \(owner.shortened) has the name '\(name.shortened)': "
        + "a name is of letters, digits and '_', as that of a variable"
    case .badDotenv(let file, let line):
      "line \(line) of '\(file.shortened)' is not 'NAME=value', nor a comment"
    case .unreadableDotenv(let owner, let reason):
      "'dotenv' of \(owner.shortened) is read before any step runs, and cannot be: \(reason)"
    case .dotenvIsMade(let file, let step, let maker):
      "'dotenv' of step '\(step.shortened)' is read before any step runs, but '\(maker.shortened)' "
        + "makes '\(file.visible.shortened)': name a file that no step makes, or let the command read it"
    case .includedTooDeep: "the plan includes a hundred files within each other"
    case .cycleOfPlans(let files):
      (files.count == 2 ? "a plan includes itself: " : "these plans include each other: ")
        + Self.way(files.map(\.shortened))
    case .shortSecret(let name):
      "the secret '\(name)' is shorter than 4 characters: to hide it would hide half of the output"
    case .alwaysAndOnFailure(let owner):
      "\(owner.shortened) has 'always' and 'onFailure': one or the other"
    case .unknownParameter(let name, let known):
      "the plan has no parameter '\(name.shortened)'; "
        + (known.isEmpty
          ? "it has none"
          : Spelling.hint(Spelling.nearest(to: name, in: known))
            ?? "it has \(known.map { "'\($0.shortened)'" }.joined(separator: ", "))")
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
    case .unknownTarget(let name, let nearest):
      "there is no step or group '\(name.shortened)' in the plan; "
        + (Spelling.hint(nearest) ?? "see 'runbook --list'")
    case .cycle(let names):
      "these wait for each other in a cycle: \(Self.way(names.map(\.shortened)))"
    case .cycleOfDepfile(let file, let names):
      "because of what '\(file.shortened)' says, these wait for each other in a cycle: "
        + "\(Self.way(names.map(\.shortened))); delete that file if it is an old one"
    }
  }

  private static func hint(_ nearest: String?) -> String {
    Spelling.hint(nearest).map { "; \($0)" } ?? ""
  }

  /// Shortens a cycle to its first names and the last one, which is the first again.
  private static func way(_ names: [String]) -> String {
    let shown =
      names.count <= 12
      ? names : names.prefix(9) + ["(\(names.count - 10) more)"] + names.suffix(1)
    return shown.joined(separator: " → ")
  }
}
