import Procedures

/// What the steps on this machine share by the weights that they have: processors and memory.
///
/// A step that says it uses more than there is gets all of it, so it runs, alone.
struct Machine: Sendable {
  private let processors: Int
  private let memory: Int
  /// Whether a step uses several processors: until then the number of jobs is limit enough.
  private let countsProcessors: Bool
  private let domain: ExclusionDomain

  /// - Parameters:
  ///   - jobs: how many steps run at once, each with one processor unless it says more.
  ///   - memory: how many bytes of it there are.
  ///   - domain: what steps exclude each other over.
  init(_ plan: Plan, jobs: Int, memory: Int, domain: ExclusionDomain) {
    processors = jobs
    self.memory = max(1, memory)
    countsProcessors = plan.steps.contains { ($0.processors ?? 1) > 1 }
    self.domain = domain
  }

  /// What a step waits for, together with its other exclusions and its place among the jobs.
  func shares(of step: Step) -> [AtMost] {
    var shares: [AtMost] = []
    if countsProcessors {
      shares.append(share(of: processors, "processors", taking: step.processors ?? 1))
    }
    if step.memorySizes.count == 1 { shares += self.shares(of: step, inAttempt: 1) }
    return shares
  }

  /// The memory of an attempt, where attempts differ: then each waits for its own.
  func shares(of step: Step, inAttempt attempt: Int) -> [AtMost] {
    step.memory(inAttempt: attempt).map { [share(of: memory, "memory", taking: $0)] } ?? []
  }

  private func share(of total: Int, _ name: String, taking places: Int) -> AtMost {
    AtMost(
      total, of: ExclusionCategory(named: "machine \(name)", in: domain),
      taking: min(places, total))
  }
}
