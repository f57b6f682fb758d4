import ProcedureExclusion
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import Procedures

/// What happens to one that was granted everything and has not started yet.
@Suite(.hangLimit) struct GrantTests {
  private let domain = ExclusionDomain(name: "grant")
  /// Of the holder, and of the last in line.
  private let near = ManualScheduler()
  /// Of the one in between, whose worker does not come unless it is run.
  private let far = ManualScheduler()
  private let farQueue: ProcedureQueue
  private let holder: TracedProcedure
  private let granted: TracedProcedure
  private let last: TracedProcedure

  /// The holder has finished, and the next in line has been granted what it waited for.
  init() {
    let (domain, near, far) = (domain, near, far)
    let queue = ProcedureQueue(scheduler: near)
    farQueue = ProcedureQueue(maxConcurrentProcedureCount: 2, scheduler: far)
    func add(_ name: String, to queue: ProcedureQueue, _ scheduler: ManualScheduler)
      -> TracedProcedure
    {
      let procedure = TracedProcedure(name, end: .whenToldOrCancelled)
      procedure.add(condition: MutuallyExclusive(named: "x", in: domain))
      queue.add(procedure)
      scheduler.run()
      return procedure
    }
    holder = add("holder", to: queue, near)
    granted = add("granted", to: farQueue, far)
    last = add("last", to: queue, near)
    holder.finish()
    near.run()
  }

  private func expectEnd() {
    for _ in 0..<4 {
      near.run()
      far.run()
      let executing = [granted, last].filter(\.isExecuting)
      #expect(executing.count <= 1)
      for procedure in executing { procedure.finish() }
    }
    #expect(granted.isFinished && last.isFinished)
    let limit = ExclusionLimit(ExclusionCategory(named: "x", in: domain))
    let probe = MemberRequest(
      CategoryLimits([limit.inner]), for: Procedure(), in: ProcedureList(context: .detached))
    let isFree = ExclusionTable.shared.withLock { $0.isGranted(probe) }
    #expect(isFree, "it is still held")
  }

  @Test("L1: a granted procedure starts, and the last one waits for it")
  func starts() {
    #expect(holder.isFinished && granted.isPending && last.isPending)
    far.run()
    #expect(granted.isExecuting && last.isPending)
    expectEnd()
  }

  @Test("L2: a granted procedure that gains a dependency gives the lock up, and asks again later")
  func dependency() {
    let dependency = TracedProcedure(end: .whenTold)
    granted.add(dependency: dependency)
    near.run()
    #expect(last.isExecuting)
    farQueue.add(dependency)
    far.run()
    dependency.finish()
    far.run()
    #expect(granted.isPending)
    expectEnd()
    #expect(granted.outcome == .succeeded)
  }

  @Test(
    "L2: a granted procedure that gains a condition gives the lock up, whatever that says",
    arguments: Verdict.allCases)
  func condition(verdict: Verdict) {
    granted.add(condition: scripted("late", verdict))
    near.run()
    #expect(last.isExecuting)
    expectEnd()
    #expect(granted.outcome == verdict.outcome("late"))
  }

  @Test("L2: a granted procedure that gains a category asks for both in one step")
  func anotherCategory() {
    granted.add(condition: MutuallyExclusive(named: "y", in: domain))
    near.run()
    far.run()
    #expect(last.isExecuting && granted.isPending)
    expectEnd()
  }

  @Test(
    "L2, Q3: a granted procedure gives the lock up in a suspended queue, and goes first when that goes on"
  )
  func suspended() {
    farQueue.isSuspended = true
    far.run()
    near.run()
    #expect(granted.isPending && last.isExecuting)
    farQueue.isSuspended = false
    far.run()
    last.finish()
    near.run()
    far.run()
    #expect(granted.isExecuting)
    expectEnd()
  }

  @Test("Q2: a lower limit takes nothing from a granted procedure")
  func limit() {
    farQueue.maxConcurrentProcedureCount = 1
    let other = TracedProcedure("other", end: .whenTold)
    farQueue.add(other)
    far.run()
    #expect(granted.isExecuting && other.isPending)
    granted.finish()
    far.run()
    #expect(other.isExecuting)
    other.finish()
    expectEnd()
  }

  @Test(
    "L4: a granted procedure that is cancelled finishes without executing, and the last gets the lock"
  )
  func cancelled() {
    granted.cancel()
    far.run()
    near.run()
    #expect(granted.isFinished && !granted.trace.events.contains("granted execute"))
    #expect(last.isExecuting)
    expectEnd()
  }

  @Test(
    "L4, C3: a granted procedure that is cancelled in a suspended queue finishes, and the last gets the lock"
  )
  func cancelledAndSuspended() {
    granted.cancel()
    farQueue.isSuspended = true
    near.run()
    #expect(last.isExecuting)
    far.run()
    #expect(granted.isFinished)
    expectEnd()
  }
}

extension ExclusionTable {
  /// Whether a request would be granted; leaves everything as it was.
  mutating func isGranted(_ request: ExclusionRequest) -> Bool {
    defer { _ = leave(request) }
    return ask(request)
  }
}
