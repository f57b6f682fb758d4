import Dispatch
internal import ProcedurePrimitives
import ProceduresProcess

/// Finds the steps that are up to date before any step runs: for those no procedure is made.
///
/// 1. It looks at steps with records that come only after such steps: what else comes before may change files.
/// 2. A step is done when it is up to date and all that it comes after is. Nothing will run that changes its
///    files.
/// 3. It has a moment, and as much more as looks take that are quick. What it has not looked at by then is looked at
///    while steps run: they start all the same.
struct FreshnessSweep {
  /// How long it may take: a moment, and for each look what a quick one takes on a machine that has other work too.
  struct Patience {
    var moment = Duration.milliseconds(100)
    var look = Duration.microseconds(200)
  }

  /// For each step of the plan whether it is done.
  let isDone: [Bool]
  /// What was found of steps that are not done, by their numbers, if that still holds when the step begins.
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
      // It changes no file.
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

/// The looks of a sweep, by this thread and, where they take long, by others.
private final class SweepWork: Sendable {
  struct Found {
    var isUpToDate: [Bool]
    /// Of the others.
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
    // 1. This thread alone: most file systems answer before another thread has begun.
    lookAll(for: patience.moment / 10)
    guard !isComplete, let threads = shared.threads, threads.prepare() else { return }
    // 2. Many at once, of which some may hang.
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
