import Procedures
import ProcedureTestSupport
import Testing

@Suite struct FinishedChildrenTests {
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
}
