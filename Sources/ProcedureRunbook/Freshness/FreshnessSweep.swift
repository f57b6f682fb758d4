import Dispatch
internal import ProcedurePrimitives
import ProceduresProcess

/// Finds the steps that are up to date before any step runs: they get no procedure.
///
/// 1. It checks only steps with records that come after such steps alone: any other step before
///    them may change files.
/// 2. A step is done when it and all steps before it are up to date. Nothing will run that changes
///    its files.
/// 3. Its time is limited: a base time, plus the time of a quick look for each step. Steps that it
///    has not checked by then are checked while others run.
struct FreshnessSweep {
  /// The time limit: a base time, and the time of a quick look on a busy machine for each step.
  struct Patience {
    var moment = Duration.milliseconds(100)
    var look = Duration.microseconds(200)
  }

  /// Whether each step of the plan is done.
  let isDone: [Bool]
  /// The looks at steps that are not done, by step number, if they still hold when the step begins.
  let looks: [Int: StepFiles.Look]

  init(_ plan: Plan, _ shared: StepFreshness.Shared, _ patience: Patience = Patience()) {
    guard !shared.isForced else {
      isDone = Array(repeating: false, count: plan.steps.count)
      looks = [:]
      return
    }
    let graph = plan.graph
    let canBeDone = graph.closed { plan.steps[$0].isRemembered || plan.steps[$0].isService }
    let candidates = graph.stepOrder.filter { canBeDone[$0] && !plan.steps[$0].isService }
    let work = SweepWork(plan, candidates, shared, patience)
    work.run()
    let found = work.found
    var looks: [Int: StepFiles.Look] = [:]
    var isDone = graph.closed { index in
      // A service changes no file.
      if plan.steps[index].isService { return true }
      looks[index] = found.looks[index]
      return found.isUpToDate[index]
    }
    for (index, step) in plan.steps.enumerated() where step.isService {
      let needing = graph.stepsNeeding(index, in: plan)
      isDone[index] = !needing.isEmpty && needing.allSatisfy { isDone[$0] }
    }
    self.isDone = isDone
    self.looks = looks
  }
}

/// The looks of a sweep: this thread begins, and other threads join if it takes long.
private final class SweepWork: Sendable {
  struct Found {
    var isUpToDate: [Bool]
    /// The looks at the other steps.
    var looks: [Int: StepFiles.Look] = [:]
  }

  private let plan: Plan
  private let candidates: [Int]
  private let shared: StepFreshness.Shared
  private let patience: FreshnessSweep.Patience
  private let state: Locked<State>
  private let isIdle = DispatchSemaphore(value: 0)
  private let start = ContinuousClock.now

  private struct State {
    var next = 0
    var found: Found
  }

  init(
    _ plan: Plan, _ candidates: [Int], _ shared: StepFreshness.Shared,
    _ patience: FreshnessSweep.Patience
  ) {
    self.plan = plan
    self.candidates = candidates
    (self.shared, self.patience) = (shared, patience)
    let isUpToDate = [Bool](repeating: false, count: plan.steps.count)
    state = Locked(State(found: Found(isUpToDate: isUpToDate)))
  }

  var found: Found { state.withLock { $0.found } }

  func run() {
    // 1. This thread begins alone: most file systems answer before another thread has started.
    lookAll(for: patience.moment / 10)
    guard !isComplete, let threads = shared.threads, threads.prepare() else { return }
    // 2. Many threads look at the same time, since some may hang.
    for _ in 0..<16 {
      threads.run { [self] in
        lookAll(for: patience.moment)
        isIdle.signal()
      }
    }
    for _ in 0..<16 {
      while isIdle.wait(timeout: .now() + .milliseconds(10)) != .success {
        guard hasTime(patience.moment) else { return }
      }
    }
  }

  private func lookAll(for moment: Duration) {
    while hasTime(moment), let index = next() { look(at: index) }
  }

  private func hasTime(_ moment: Duration) -> Bool {
    ContinuousClock.now - start < moment + patience.look * (state.withLock { $0.next } + 1)
  }

  private var isComplete: Bool { state.withLock { $0.next == candidates.count } }

  private func look(at index: Int) {
    let files = StepFiles(of: plan.steps[index], shared.journals, shared.others)
    let looks = shared.journals.looks(for: files.step)
    guard let look = files.look(looks, limit: FileReader.small) else { return }
    state.withLock { state in
      if case .upToDate = look.verdict {
        state.found.isUpToDate[index] = true
      } else {
        state.found.looks[index] = look
      }
    }
  }

  private func next() -> Int? {
    state.withLock { state in
      guard state.next < candidates.count else { return nil }
      state.next += 1
      return candidates[state.next - 1]
    }
  }
}
