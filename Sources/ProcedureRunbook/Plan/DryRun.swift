/// The text of `--dry-run`: the steps that would run, in a possible order.
///
/// A step would run because of its files, or because a step before it would run. `onlyIf` and
/// `unless` are ignored, since they run commands.
struct DryRun {
  private let plan: Plan
  /// The steps that would run, in order, each with its reason.
  private let steps: [(step: Step, reason: String)]
  private let explains: Bool
  /// The number of steps that run only after a failure.
  private let onFailureCount: Int

  /// - Parameters:
  ///   - full: the plan with all steps.
  ///   - journals: the records of earlier runs.
  init(_ plan: Plan, of full: Plan, _ journals: RunJournals, _ options: Options) {
    self.plan = plan
    explains = options.explains
    let shared = StepFreshness.Shared(full, journals, threads: nil, isForced: options.isForced)
    // Steps and groups that would run, each with the name of the step that runs; for a service, the
    // step before it.
    var running: [Name: Name] = [:]
    // The steps without services. `first` runs before every step that comes after all others.
    var indices: Set<Int> = []
    var first: Name?
    var steps: [(index: Int, reason: String)] = []
    onFailureCount = plan.steps.count { $0.occasion == .failure }
    for index in plan.graph.stepOrder where plan.steps[index].occasion != .failure {
      let step = plan.steps[index]
      let comesLast = step.isFollowUp && step.after.isEmpty
      let before = comesLast ? first : step.after.lazy.compactMap { running[$0] }.first
      guard let reason = Self.reason(step, after: before, shared) else { continue }
      steps.append((index, reason))
      if step.isService {
        // A service that runs changes no file.
        guard let before else { continue }
        running[step.name] = before
        if let group = step.group, running[group] == nil { running[group] = before }
      } else {
        indices.insert(index)
        if !step.isFollowUp { first = first ?? step.name }
        running[step.name] = step.name
        if let group = step.group { running[group] = group }
      }
    }
    self.steps = steps.compactMap { index, reason in
      let step = plan.steps[index]
      let needing = step.isService ? plan.graph.stepsNeeding(index, in: plan) : []
      return needing.isEmpty || needing.contains(where: indices.contains) ? (step, reason) : nil
    }
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

  /// Returns nil if the step would not run.
  private static func reason(
    _ step: Step, after before: Name?, _ shared: StepFreshness.Shared
  ) -> String? {
    if step.isService { return "steps need it" }
    guard step.isRemembered else { return "it names neither inputs nor outputs" }
    if let before { return "'\(before.visible)' runs before" }
    return switch StepFreshness(of: step, shared).look() {
    case .upToDate: nil
    case .outOfDate(let reason), .refused(let reason): reason
    }
  }

  private func entry(
    of step: Step, because reason: String, number: Int, width: Int
  ) -> [String] {
    var title = "\(String(number).leftPadded(to: width)). \(step.name.visible)"
    if let group = step.group { title += " [\(group.text)]" }
    if !step.after.isEmpty { title += ", after \(step.after.map(\.text).joined(separator: ", "))" }
    if !step.traits.isEmpty { title += ", \(step.traits.joined(separator: ", "))" }
    if !step.exclusive.isEmpty { title += ", exclusive: \(step.exclusive.joined(separator: ", "))" }
    let indentation = String(repeating: " ", count: width + 2)
    let why = explains ? ["\(indentation)runs: \(reason)"] : []
    let checks = [("only if", step.onlyIf), ("unless", step.unless)].flatMap { word, command in
      (command?.filledLines ?? []).map { "\(indentation)\(word): \($0)" }
    }
    return [title] + why + checks + step.run.filledLines.map { "\(indentation)$ \($0)" }
  }
}
