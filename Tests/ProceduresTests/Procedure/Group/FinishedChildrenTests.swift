import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct FinishedChildrenTests {
  @Test("G13: a group that does not keep finished children lets each go; set at any time")
  func keeps() {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    weak var first: TracedProcedure?
    let open = TracedProcedure("open", end: .whenTold)
    let group: GroupProcedure
    do {
      let early = TracedProcedure("early")
      first = early
      group = GroupProcedure(early, open)
    }
    #expect(group.keepsFinishedChildren)
    queue.add(group)
    scheduler.run()
    #expect(group.children.count == 2 && first != nil)
    group.keepsFinishedChildren = false
    #expect(group.children == [open] && first == nil)
    weak var second: TracedProcedure?
    do {
      let late = TracedProcedure("late")
      second = late
      group.add(child: late)
    }
    scheduler.run()
    #expect(second == nil && group.children == [open])
    group.keepsFinishedChildren = true
    group.add(child: TracedProcedure("kept"))
    scheduler.run()
    #expect(group.children.map(\.name) == ["open", "kept"])
    open.finish()
    scheduler.run()
    #expect(group.outcome == .succeeded)
    #expect(group.children.map(\.name) == ["open", "kept"])
  }

  private struct Failed: Error {
    let number: Int
    let tracker: Tracker
  }

  @Test(
    "G13: a group that does not keep finished children keeps the newest hundred errors, and has failed"
  )
  func errors() {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    let open = TracedProcedure("open", end: .whenTold)
    let group = GroupProcedure(open)
    group.keepsFinishedChildren = false
    queue.add(group)
    let alive = Counter()
    for number in 0..<1_000 {
      alive.increment()
      let failure = Failed(number: number, tracker: Tracker { alive.decrement() })
      group.add(child: TracedProcedure("child", failure: failure))
      scheduler.run()
    }
    #expect(alive.value == 100 && alive.highest <= 102)
    open.finish()
    scheduler.run()
    let numbers = group.errors.compactMap {
      (($0 as? ProcedureError)?.underlyingErrors.first as? Failed)?.number
    }
    #expect(numbers == Array(900..<1_000))
    #expect(group.outcome?.isFailure == true)
  }
}
