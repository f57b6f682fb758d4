import Procedures
import ProcedureTestSupport
import Testing

/// The costs that do not depend on the machine: bytes, and Dispatch submissions. Times are printed
/// by `benchmarks`, and never asserted.
///
/// Calls of malloc cannot be counted without a library of one's own in front of it; what is held at
/// the end of each step of a life is, and a life that leaves nothing behind.
@Suite(.hangLimit) struct CostTests {
  private let scheduler = ManualScheduler()

  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  // MARK: Dispatch

  @Test("a burst of 3,000 procedures, added one by one, costs 3 Dispatch submissions at most")
  func burst() {
    let queue = makeQueue()
    for _ in 0..<3_000 { queue.add(NoOperation()) }
    #expect(scheduler.submissions == 1)
    scheduler.run()
    #expect(queue.count == 0)
    #expect(scheduler.submissions <= 3)
  }

  @Test("a chain of 3,000 costs 3 Dispatch submissions at most")
  func chain() {
    let queue = makeQueue()
    let procedures = (0..<3_000).map { _ in NoOperation() }
    for (next, last) in zip(procedures.dropFirst(), procedures) { next.add(dependency: last) }
    queue.add(procedures)
    scheduler.run()
    #expect(queue.count == 0)
    #expect(scheduler.submissions <= 3)
  }

  @Test("a group of 3,000 children costs 4 Dispatch submissions at most")
  func group() {
    let queue = makeQueue()
    queue.add(GroupProcedure(children: (0..<3_000).map { _ in NoOperation() }))
    scheduler.run()
    #expect(queue.count == 0)
    #expect(scheduler.submissions <= 4)
  }

  @Test(
    "a group whose turn runs no user code costs no submission of its own, however deep",
    arguments: [1, 2, 5])
  func nestedGroups(depth: Int) {
    let queue = makeQueue()
    var innermost: Procedure = NoOperation()
    for _ in 0..<depth { innermost = GroupProcedure(innermost) }
    queue.add(innermost)
    scheduler.run()
    #expect(queue.count == 0 && scheduler.submissions == 1)
  }

  @Test("the cancel of 3,000 pending procedures costs 3 Dispatch submissions at most")
  func cancel() {
    let queue = makeQueue()
    queue.isSuspended = true
    for _ in 0..<3_000 { queue.add(NoOperation()) }
    queue.cancelAll()
    scheduler.run()
    #expect(queue.count == 0)
    #expect(scheduler.submissions <= 3)
  }

  @Test("3,000 bodies that do not suspend cost 3 Dispatch submissions at most")
  func bodies() {
    let queue = makeQueue()
    for _ in 0..<3_000 { queue.add(AsyncProcedure {}) }
    scheduler.run()
    #expect(queue.count == 0)
    #expect(scheduler.submissions <= 3)
  }

  @Test("a body that suspends costs a Dispatch submission for each time, and its end costs none")
  func suspendingBody() {
    let queue = makeQueue()
    let (first, second) = (Gate(), Gate())
    let procedure = AsyncProcedure {
      await first.wait()
      await second.wait()
    }
    queue.add(procedure)
    for gate in [first, second] {
      scheduler.run()
      #expect(procedure.isExecuting)
      gate.open()
    }
    scheduler.run()
    #expect(procedure.isFinished)
    #expect(scheduler.submissions == 3)
  }

  // MARK: Memory

  // Each in a process of its own, whose live bytes are malloc's own figure, which ThreadSanitizer
  // replaces.
  #if canImport(Glibc) && !TSAN
    @Test("procedures of common kinds fit where malloc takes them back without its lock")
    func sizes() {
      #expect(LiveBytes.usable(by: NoOperation()) <= 104)
      #expect(LiveBytes.usable(by: BlockProcedure {}) <= largestFastChunk)
      #expect(LiveBytes.usable(by: ResultProcedure { 1 }) <= largestFastChunk)
      #expect(LiveBytes.usable(by: DelayProcedure(by: .seconds(1))) <= largestFastChunk)
    }

    @Test("a pending no-op procedure holds 200 bytes at most, as does a child of a group")
    func procedureBytes() async {
      await #expect(processExitsWith: .success) {
        let queue = ProcedureQueue(scheduler: ManualScheduler())
        expectBytes(200) { for _ in 0..<items { queue.add(NoOperation()) } }
        precondition(queue.count == items)
      }
      await #expect(processExitsWith: .success) {
        let group = GroupProcedure()
        expectBytes(200) { for _ in 0..<items { group.add(child: NoOperation()) } }
        precondition(group.children.count == items)
      }
    }

    @Test(
      "an observer holds 80 bytes at most, and each dependency 64")
    func belongingsBytes() async {
      await #expect(processExitsWith: .success) {
        let procedures = (0..<items).map { _ in NoOperation() }
        expectBytes(80) {
          for procedure in procedures { procedure.addDidFinishBlockObserver { _, _ in } }
        }
      }
      await #expect(processExitsWith: .success) {
        let procedures = (0..<items).map { _ in NoOperation() }
        expectBytes(64) {
          for (next, last) in zip(procedures.dropFirst(), procedures) { next.add(dependency: last) }
        }
        expectBytes(64) {
          for (next, last) in zip(procedures.dropFirst(2), procedures) {
            next.add(dependency: last)
          }
        }
      }
      await #expect(processExitsWith: .success) {
        let queue = ProcedureQueue(scheduler: ManualScheduler())
        var last: Procedure?
        // One object for both ends.
        expectBytes(200) {
          for _ in 0..<items {
            let next = NoOperation()
            if let last { next.add(dependency: last) }
            queue.add(next)
            last = next
          }
        }
        precondition(queue.count == items)
      }
    }

    @Test("F4: dependents that come and go leave nothing behind at a procedure that lives on")
    func comingAndGoing() async {
      await #expect(processExitsWith: .success) {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        // On a slow machine the first look comes meanwhile, and what it makes only once counts,
        // too.
        queue.waitReportDelay = nil
        let dependency = NoOperation()
        var waiting: [NoOperation] = []
        // Two wait at any time, so that the one that goes is never the latest.
        func round() {
          let dependent = NoOperation()
          dependent.add(dependency: dependency)
          queue.add(dependent)
          waiting.append(dependent)
          if waiting.count > 2 { waiting.removeFirst().cancel() }
          scheduler.run()
        }
        for _ in 0..<100 { round() }
        let growth = LiveBytes.growth { for _ in 0..<items { round() } }
        precondition(growth < 64 * 1_024, "live bytes grew by \(growth)")
      }
    }

    @Test("a token holds 256 bytes at most, a registration 80")
    func tokenBytes() async {
      await #expect(processExitsWith: .success) {
        var sources: [CancellationTokenSource] = []
        sources.reserveCapacity(items)
        expectBytes(256) { for _ in 0..<items { sources.append(CancellationTokenSource()) } }
        precondition(sources.count == items)
      }
      await #expect(processExitsWith: .success) {
        let source = CancellationTokenSource()
        expectBytes(80) { for _ in 0..<items { source.token.onCancel {} } }
        precondition(!source.isCancelled)
      }
    }

    @Test(
      "procedures, children, observers and handlers leave nothing behind when they have finished")
    func lives() async {
      await #expect(processExitsWith: .success) {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let source = CancellationTokenSource()
        func round() {
          for _ in 0..<100 {
            let procedure = NoOperation()
            procedure.addDidFinishBlockObserver { _, _ in }
            let dependent = NoOperation()
            dependent.add(dependency: procedure)
            queue.add(GroupProcedure(procedure, dependent), cancelledBy: source.token)
          }
          scheduler.run()
          precondition(queue.count == 0)
        }
        for _ in 0..<10 { round() }
        let growth = LiveBytes.growth { for _ in 0..<30 { round() } }
        // Less than a leak of the smallest block in each of 3,000 groups.
        precondition(growth < 64 * 1_024, "live bytes grew by \(growth)")
      }
    }
  #endif
}

private final class NoOperation: Procedure, @unchecked Sendable {
  override func execute() { finish() }
}

#if canImport(Glibc) && !TSAN
  /// So many that what exists once does not matter.
  private let items = 10_000

  /// Chunks of glibc's malloc up to this size are kept in lists that need no lock.
  private let largestFastChunk = 120

  private func expectBytes(_ ceiling: Int, _ make: () -> Void) {
    let bytes = LiveBytes.growth(make) / items
    precondition(bytes <= ceiling, "\(bytes) bytes instead of \(ceiling)")
  }
#endif
