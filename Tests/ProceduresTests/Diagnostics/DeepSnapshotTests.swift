import Procedures
import ProcedureTestSupport
import Testing

/// Groups nested deep, and queues with much in them, on a stack of half a megabyte, which recursion
/// overflows at 2,500.
@Suite(.serialized, .hangLimit) struct DeepSnapshotTests {
  private let scheduler = ManualScheduler()
  private static let depth = Rounds.size(30_000, otherwise: 1_500)

  private func nested(_ depth: Int = depth) -> GroupProcedure {
    var group = GroupProcedure(TracedProcedure("leaf", end: .whenToldOrCancelled))
    for _ in 0..<depth { group = GroupProcedure(group) }
    return group
  }

  @Test("a snapshot of groups nested deep, its texts, and its end, take no stack")
  func deep() async {
    let queue = ProcedureQueue(scheduler: scheduler)
    await onSmallStack {
      let group = nested()
      queue.add(group)
      while scheduler.runOne() {}
      do {
        let snapshot = queue.snapshot()
        let lines = snapshot.description.split(separator: "\n")
        precondition(lines.count == Self.depth + 3)
        precondition(
          lines[Self.depth + 2].hasSuffix(
            "[\(Self.depth + 2)] 'leaf' executing: execute() has returned, waits for finish()"))
        precondition(lines[3].hasPrefix("      'GroupProcedure' executing"))
        precondition(snapshot.description.utf8.count < 200 * Self.depth)
        precondition(snapshot.mermaid.split(separator: "\n").count == 2 * Self.depth + 4)
        var (entry, depth) = (snapshot.entries[0], 0)
        while let child = entry.children.first { (entry, depth) = (child, depth + 1) }
        precondition(depth == Self.depth + 1 && entry.name == "leaf")
      }
      // Looks for cycles, and is looked through, as well.
      scheduler.run()
      group.cancel()
      scheduler.run()
    }
    #expect(queue.count == 0)
  }

  @Test("progress nodes of deeply nested groups are released without recursion")
  func progressNodes() async {
    let count = await onSmallStack {
      var updates: ProgressUpdates?
      do {
        let group = nested()
        updates = group.progressUpdates
        precondition(group.fractionCompleted == 0)
      }
      return updates == nil ? 0 : 1
    }
    #expect(count == 1)
  }

  @Test("progress of nested groups that have run is released without recursion")
  func progressNodesOfRun() async {
    let queue = ProcedureQueue(scheduler: scheduler)
    await onSmallStack {
      var updates: ProgressUpdates?
      do {
        let group = nested()
        updates = group.progressUpdates
        queue.add(group)
        scheduler.run()
        group.cancel()
        scheduler.run()
      }
      precondition(updates != nil)
    }
    #expect(queue.count == 0)
  }
}
