import Procedures

/// The processors and the memory of this machine, which its steps share.
///
/// A step that wants more than there is gets all of it, so that it runs alone.
struct Machine: Sendable {
  private let processors: Int
  private let memory: Int
  /// Whether a step uses several processors: if none does, the number of jobs is limit enough.
  private let countsProcessors: Bool
  private let domain: ExclusionDomain

  /// - Parameters:
  ///   - jobs: the number of processors; a step uses one unless it says more.
  ///   - memory: the memory in bytes.
  ///   - domain: the domain of the exclusions of steps.
  init(_ plan: Plan, jobs: Int, memory: Int, domain: ExclusionDomain) {
    processors = jobs
    self.memory = max(1, memory)
    countsProcessors = plan.steps.contains { ($0.processors ?? 1) > 1 }
    self.domain = domain
  }

  /// The shares that a step waits for, together with its other exclusions and its slot.
  func shares(of step: Step) -> [AtMost] {
    var shares: [AtMost] = []
    if countsProcessors {
      shares.append(share(of: processors, "processors", taking: step.processors ?? 1))
    }
    if step.memorySizes.count == 1 { shares += self.shares(of: step, inAttempt: 1) }
    return shares
  }

  /// The memory of one attempt. If attempts differ, each waits for its own.
  func shares(of step: Step, inAttempt attempt: Int) -> [AtMost] {
    step.memory(inAttempt: attempt).map { [share(of: memory, "memory", taking: $0)] } ?? []
  }

  private func share(of total: Int, _ name: String, taking places: Int) -> AtMost {
    AtMost(
      total, of: ExclusionCategory(named: "machine \(name)", in: domain),
      taking: min(places, total))
  }
}
