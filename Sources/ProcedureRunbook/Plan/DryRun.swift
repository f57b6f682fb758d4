/// What `--dry-run` prints: the steps that would run, in an order in which they can.
///
/// A step would run if its files say so, or if one would run that it is after. What `onlyIf` and `unless`
/// say is not asked: they run commands.
struct DryRun {
  private let plan: Plan
  /// Those that would run, in order, each with why.
  private let steps: [(step: Step, reason: String)]
  private let explains: Bool
  /// How many would run after a failure.
  private let onFailureCount: Int

  /// - Parameter directory: where what succeeded is remembered.
  init(_ plan: Plan, directory: String, _ options: Options) {
    self.plan = plan
    explains = options.explains
    let journal = RunJournal(reading: directory)
    let shared = StepFreshness.Shared(
      journal: journal, digests: options.comparesContent ? FileDigests(journal) : nil,
      threads: nil, isForced: options.isForced)
    // Names of steps and groups.
    var running: Set<String> = []
    var steps: [(Step, String)] = []
    onFailureCount = plan.steps.count { $0.occasion == .failure }
    for step in plan.graph.stepOrder.map({ plan.steps[$0] }) where step.occasion != .failure {
      guard let reason = Self.reason(step, after: running, shared) else { continue }
      steps.append((step, reason))
      running.insert(step.name)
      if let group = step.group { running.insert(group) }
    }
    self.steps = steps
  }

  var text: String {
    let width = String(steps.count).count
    var lines = steps.enumerated().flatMap { index, element in
      entry(of: element.step, because: element.reason, number: index + 1, width: width)
    }
    let rest = plan.steps.count - steps.count - onFailureCount
    if rest > 0 {
      lines.append(rest == 1 ? "1 step is up to date" : "\(rest) steps are up to date")
    }
    if onFailureCount > 0 {
      lines.append(
        onFailureCount == 1
          ? "1 step runs after a failure only" : "\(onFailureCount) steps run after a failure only")
    }
    return lines.joined(separator: "\n")
  }

  /// nil when it would not run.
  private static func reason(
    _ step: Step, after running: Set<String>, _ shared: StepFreshness.Shared
  ) -> String? {
    guard !step.outputs.isEmpty else { return "it has no outputs" }
    if let name = step.after.first(where: running.contains) {
      return "'\(name.visible)' runs before"
    }
    return switch StepFreshness(of: step, shared).look() {
    case .upToDate: nil
    case .outOfDate(let reason), .refused(let reason): reason
    }
  }

  private func entry(
    of step: Step, because reason: String, number: Int, width: Int
  ) -> [String] {
    var title = "\(String(number).leftPadded(to: width)). \(step.name.visible)"
    if let group = step.group { title += " [\(group)]" }
    if !step.after.isEmpty { title += ", after \(step.after.joined(separator: ", "))" }
    if !step.traits.isEmpty { title += ", \(step.traits.joined(separator: ", "))" }
    if !step.exclusive.isEmpty { title += ", exclusive: \(step.exclusive.joined(separator: ", "))" }
    let indentation = String(repeating: " ", count: width + 2)
    let why = explains ? ["\(indentation)runs: \(reason)"] : []
    let checks = [("only if", step.onlyIf), ("unless", step.unless)].flatMap { word, command in
      (command?.split(separator: "\n") ?? []).map { "\(indentation)\(word): \($0)" }
    }
    return [title] + why + checks + step.run.split(separator: "\n").map { "\(indentation)$ \($0)" }
  }
}
