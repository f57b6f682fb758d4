import Dispatch
internal import ProcedurePrimitives
import ProceduresProcess

/// Finds the steps that are up to date before any step runs: for those no procedure is made.
///
/// 1. It looks at steps with outputs that come only after such steps: what else comes before may change files.
/// 2. A step is done when it is up to date and all that it comes after is. Nothing will run that changes its
///    files.
/// 3. It has a moment for looks that take long. What it has not looked at by then is looked at while steps run:
///    they start all the same.
struct FreshnessSweep {
  private static let moment = Duration.milliseconds(100)

  /// For each step of the plan whether it is done.
  let isDone: [Bool]
  /// For each step what was found, if that still holds when the step begins.
  let looks: [StepFiles.Look?]

  init(_ plan: Plan, _ shared: StepFreshness.Shared?) {
    guard let shared, !shared.isForced else {
      isDone = Array(repeating: false, count: plan.steps.count)
      looks = Array(repeating: nil, count: plan.steps.count)
      return
    }
    let graph = plan.graph
    let canBeDone = graph.closed { !plan.steps[$0].outputs.isEmpty }
    let candidates = graph.stepOrder.filter { canBeDone[$0] }
    let work = SweepWork(plan, candidates, shared)
    work.run(for: Self.moment)
    let found = work.looks
    var looks = [StepFiles.Look?](repeating: nil, count: plan.steps.count)
    isDone = graph.closed { index in
      looks[index] = found[index]
      if case .upToDate? = found[index]?.verdict { return true }
      return false
    }
    self.looks = looks
  }
}

/// The looks of a sweep, by this thread and, where they take long, by others.
private final class SweepWork: Sendable {
  private let plan: Plan
  private let candidates: [Int]
  private let shared: StepFreshness.Shared
  private let state: Locked<State>
  private let found: FoundFiles
  private let isIdle = DispatchSemaphore(value: 0)

  private struct State {
    var next = 0
    var looks: [StepFiles.Look?]
  }

  init(_ plan: Plan, _ candidates: [Int], _ shared: StepFreshness.Shared) {
    self.plan = plan
    self.candidates = candidates
    self.shared = shared
    found = FoundFiles(of: candidates.lazy.map { plan.steps[$0] })
    state = Locked(State(looks: Array(repeating: nil, count: plan.steps.count)))
  }

  var looks: [StepFiles.Look?] { state.withLock { $0.looks } }

  /// - Parameter moment: for what takes long; looks that take no time do not count.
  func run(for moment: Duration) {
    if lookAlone(for: moment / 10) { return }
    let end = ContinuousClock.now + moment
    guard let threads = shared.threads, threads.prepare() else { return }
    for _ in 0..<16 {
      threads.run { [self] in
        while ContinuousClock.now < end, let index = next() { look(at: index) }
        isIdle.signal()
      }
    }
    for _ in 0..<16 {
      let rest = end - .now
      guard rest > .zero,
        isIdle.wait(timeout: .now() + .microseconds(Int(rest / .microseconds(1)))) == .success
      else { return }
    }
  }

  /// False when it took long: the file system is far away.
  private func lookAlone(for moment: Duration) -> Bool {
    var last = ContinuousClock.now
    let end = last + .seconds(1)
    var rest = moment
    while let index = next() {
      look(at: index)
      let now = ContinuousClock.now
      if now - last > .milliseconds(1) { rest -= now - last }
      if rest < .zero || now > end { return false }
      last = now
    }
    return true
  }

  private func look(at index: Int) {
    let files = StepFiles(of: plan.steps[index], digests: shared.digests, found: found)
    let record = shared.journal.record(of: plan.steps[index].name)
    let look = files.look(after: record, mayRead: false)
    state.withLock { $0.looks[index] = look }
  }

  private func next() -> Int? {
    state.withLock { state in
      guard state.next < candidates.count else { return nil }
      state.next += 1
      return candidates[state.next - 1]
    }
  }
}
