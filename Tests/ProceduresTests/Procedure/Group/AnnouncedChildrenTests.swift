import Procedures
import ProcedureTestSupport
import Testing

/// For which children a group's will-add and did-add observers are called, and when.
@Suite(.hangLimit) struct AnnouncedChildrenTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()

  private func run(_ group: GroupProcedure) {
    let queue = ProcedureQueue(scheduler: scheduler)
    queue.add(group)
    scheduler.run()
    #expect(group.isFinished)
  }

  private func child(_ name: String) -> TracedProcedure { TracedProcedure(name, trace: trace) }

  private func observe(_ group: GroupProcedure) {
    group.addWillAddProcedureBlockObserver { [trace] _, child in
      #expect(!child.isExecuting && !child.isFinished)
      trace.note("will add \(child.name)")
    }
    group.addDidAddProcedureBlockObserver { [trace] _, child in trace.note("did add \(child.name)")
    }
  }

  private var announcements: [String] { trace.events.filter { $0.contains(" add ") } }

  @Test("G1: children of init, and those added before, are announced once, before any starts")
  func whenItExecutes() {
    let group = GroupProcedure(child("a"))
    group.add(child: child("b"))
    observe(group)
    group.add(child: child("c"))
    group.addWillExecuteBlockObserver { [self] group, _ in
      trace.note("willExecute")
      group.add(child: child("d"))
    }
    run(group)
    let names = ["a", "b", "c", "d"]
    let expected = ["willExecute"] + names.flatMap { ["will add \($0)", "did add \($0)"] }
    #expect(Array(trace.events.prefix(expected.count)) == expected)
    #expect(announcements.count == names.count * 2)
  }

  @Test("G1: a later child is announced when it is added, and starts after that")
  func whenAdded() {
    let first = child("first")
    let group = GroupProcedure(first)
    observe(group)
    first.addDidExecuteBlockObserver { [self] _ in
      let late = child("late")
      group.add(child: late)
      #expect(late.isEnqueued)
    }
    run(group)
    #expect(
      trace.events.filter { !$0.contains("Finish") } == [
        "will add first", "did add first", "first execute", "will add late", "did add late",
        "late execute",
      ])
  }

  @Test("G1: children that execute() adds are announced once")
  func inExecute() {
    final class Adding: GroupProcedure, @unchecked Sendable {
      override func execute() {
        for name in ["x", "y"] { add(child: TracedProcedure(name)) }
        super.execute()
      }
    }
    let group = Adding()
    group.add(child: child("a"))
    observe(group)
    run(group)
    #expect(
      announcements == ["a", "x", "y"].flatMap { ["will add \($0)", "did add \($0)"] })
  }

  @Test("G1: an observer that is added late hears of later children only")
  func lateObserver() {
    let group = GroupProcedure(child("a"))
    group.addDidExecuteBlockObserver { [self] group in
      observe(group)
      group.add(child: child("b"))
    }
    run(group)
    #expect(announcements == ["will add b", "did add b"])
  }

  @Test("G1, G4: a group that never executes announces nothing, and its children end")
  func cancelled() async {
    let group = GroupProcedure(child("a"))
    observe(group)
    group.cancel()
    _ = await ProcedureQueue().run(group)
    #expect(announcements.isEmpty && group.children.allSatisfy { $0.isFinished })
  }

  @Test("G1: children that several threads add while the group begins are each announced once")
  func race() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let announced = Recorder<String>()
      let group = GroupProcedure(TracedProcedure("first"))
      group.addWillAddProcedureBlockObserver { _, child in announced.note(child.name) }
      let add: @Sendable (String) -> Void = { name in
        for index in 0..<3 { #expect(group.add(child: TracedProcedure("\(name)\(index)"))) }
      }
      // The group cannot end before all are added.
      let last = TracedProcedure("last", end: .whenToldOrCancelled)
      group.add(child: last)
      raceOnThreads({ queue.add(group) }, { add("a") }, { add("b") })
      last.cancel()
      _ = await group.waitUntilFinished()
      #expect(announced.events.sorted() == group.children.map(\.name).sorted())
    }
  }
}
