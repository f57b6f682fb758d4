import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

/// The model gets lives that went wrong, and must say so.
@Suite(.hangLimit) struct PromiseModelTests {
  /// Two procedures, the second of which waits for the first, and what is seen of them.
  private let plan: WorkloadPlan = {
    var plan = WorkloadPlan(seed: 0)
    plan.limits = [1]
    plan.actions = []
    plan.items = [
      WorkloadPlan.Item(kind: .instant, parent: nil, queue: 0),
      WorkloadPlan.Item(kind: .failing, parent: nil, queue: 0),
    ]
    plan.items[1].dependencies = [(0, .success)]
    return plan
  }()

  private func life(of index: Int, failing: Bool = false) -> [WorkloadEvent] {
    let errors = failing ? ["failure"] : []
    let events: [(WorkloadEvent.Kind, ProcedureState)] = [
      (.willExecute, .started), (.executeBegan, .executing),
      (.finishReturned(true, errors), .executing), (.executeEnded, .executing),
      (.didExecute, .executing), (.willFinishOverride, .finishing), (.willFinish, .finishing),
      (.didFinishOverride, .finished), (.didFinish, .finished),
    ]
    return events.map { WorkloadEvent(index: index, kind: $0.0, state: $0.1) }
  }

  private func verdict(_ events: [WorkloadEvent]) -> String? {
    var model = PromiseModel(plan, isExact: true)
    do {
      for event in events { try model.take(event) }
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func expect(
    _ promise: String, _ events: [WorkloadEvent],
    _ location: SourceLocation = #_sourceLocation
  ) {
    let verdict = verdict(events)
    #expect(verdict?.hasPrefix(promise) == true, "\(verdict ?? "")", sourceLocation: location)
  }

  @Test(
    "the model accepts a good life, and none with two of its events exchanged, or one of them twice"
  )
  func order() {
    let good = life(of: 0) + life(of: 1, failing: true)
    #expect(verdict(good) == nil)
    for index in good.indices.dropLast() {
      // What finish() returned may be noted at any time.
      if case .finishReturned = good[index].kind { continue }
      if case .finishReturned = good[index + 1].kind { continue }
      var bad = good
      bad.swapAt(index, index + 1)
      #expect(verdict(bad) != nil, "exchanged at \(index)")
      bad = good
      bad.insert(good[index], at: index)
      #expect(verdict(bad) != nil, "twice: \(good[index])")
    }
  }

  @Test("the model notices a dependent that starts too early, or although its dependency failed")
  func dependencies() {
    expect("X2", life(of: 1))
    expect("C8", life(of: 0, failing: true) + life(of: 1))
  }

  @Test("the model notices more starts than the limit, and starts in a suspended queue")
  func slots() {
    var plan = plan
    plan.items[1].dependencies = []
    var model = PromiseModel(plan, isExact: true)
    #expect(throws: BrokenPromise.self) {
      try model.take(life(of: 0)[0])
      try model.take(life(of: 1)[0])
    }
    expect(
      "Q3", [WorkloadEvent(index: 0, kind: .queueSuspended, state: .initialized)] + life(of: 0))
  }

  @Test(
    "the model notices two of a category at once, and a child that runs outside of its group's time"
  )
  func groups() {
    var plan = plan
    plan.limits = [.max]
    plan.items[0].kind = .group(limit: .max, cancelsRemaining: false, isPlain: false)
    plan.items[1].dependencies = []
    for index in 0...1 { plan.items[index].categories = [0] }
    var model = PromiseModel(plan, isExact: true)
    #expect(throws: BrokenPromise.self) {
      for event in [life(of: 0)[0], life(of: 1)[0]] { try model.take(event) }
    }
    plan.items[1].parent = 0
    model = PromiseModel(plan, isExact: true)
    #expect(throws: BrokenPromise.self) { try model.take(life(of: 1)[0]) }
    model = PromiseModel(plan, isExact: true)
    #expect(throws: BrokenPromise.self) {
      try model.take(WorkloadEvent(index: 1, kind: .added(true), state: .pending))
      for event in life(of: 0) { try model.take(event) }
    }
  }

  @Test(
    "the model notices execute() after a cancel, a second cancel that counts, and a late delivery")
  func cancels() {
    let cancel = WorkloadEvent(index: 0, kind: .cancelReturned(true, []), state: .pending)
    let told = WorkloadEvent(index: 0, kind: .didCancelOverride([]), state: .finished)
    expect("C2", [cancel] + life(of: 0))
    expect("C5", [cancel, cancel])
    expect("C5", life(of: 0) + [told])
  }
}
