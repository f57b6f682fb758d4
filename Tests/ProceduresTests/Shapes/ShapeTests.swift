import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

/// Deep and wide graphs: no stack overflow, no quadratic time. Smaller by default, which
/// overflows a stack as well; with STRESS set, the full size.
@Suite(.serialized, .hangLimit) struct ShapeTests {
  /// When a shape is cancelled.
  enum Moment: CaseIterable, Sendable {
    case never
    case beforeEnqueue
    case whilePending
    case whileRunning
  }

  /// Less where the ordinary suite tries one more moment of the same shape.
  private static func size(_ full: Int, _ moment: Moment = .never) -> Int {
    switch moment {
    case .never, .whilePending: Rounds.size(full, otherwise: full / 32)
    case .beforeEnqueue, .whileRunning: Rounds.size(full, otherwise: full / 80)
    }
  }

  final class Node: Procedure, @unchecked Sendable {
    override func execute() { finish() }
  }

  /// Not the quality of the test runner's own threads: this is long work.
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(qualityOfService: .utility) }

  @Test("a long chain ends, run or cancelled at any moment", arguments: Moment.allCases)
  func chain(cancelled moment: Moment) async {
    await run(cancelled: moment) {
      var nodes: [Procedure] = []
      for _ in 0..<Self.size(200_000, moment) {
        let node = Node()
        if let last = nodes.last { node.add(dependency: last) }
        nodes.append(node)
      }
      return nodes
    }
  }

  @Test("a long chain that was never added is released without recursion")
  func chainReleased() async {
    let count = await onSmallStack {
      var last: Procedure = Node()
      for _ in 0..<Self.size(200_000) {
        let node = Node()
        node.add(dependency: last)
        last = node
      }
      return last.dependencies.count
    }
    #expect(count == 1)
  }

  @Test("deeply nested groups end, run or cancelled at any moment", arguments: Moment.allCases)
  func nested(cancelled moment: Moment) async {
    await run(cancelled: moment) { [Self.nestedGroups()] }
  }

  @Test(
    "groups that are added one inside the other under a cancelled group take linear time, and little stack"
  )
  func nestedLate() async {
    let isFinished = await onSmallStack {
      let scheduler = ManualScheduler()
      let queue = ProcedureQueue(scheduler: scheduler)
      let lasting = TracedProcedure(end: .whenTold)
      let outermost = GroupProcedure(lasting)
      queue.add(outermost)
      scheduler.run()
      outermost.cancel()
      var innermost = outermost
      for _ in 0..<Rounds.size(100_000, otherwise: 4_000) {
        let next = GroupProcedure()
        #expect(innermost.add(child: next))
        innermost = next
      }
      lasting.finish()
      scheduler.run()
      return outermost.isFinished && innermost.isCancelled && innermost.isFinished
    }
    #expect(isFinished)
  }

  @Test("groups nested deep that were never added are released without recursion")
  func nestedReleased() async {
    let count = await onSmallStack { Self.nestedGroups().children.count }
    #expect(count == 2)
  }

  @Test(
    "compositions nested deep that were never added, or have run, are released without recursion",
    arguments: [false, true])
  func compositionsReleased(areRun: Bool) async {
    let queue = ProcedureQueue()
    let isFinished = await onSmallStack {
      var outermost: Procedure = Node()
      for _ in 0..<Rounds.size(20_000, otherwise: 6_000) {
        outermost = ComposedProcedure(outermost)
      }
      if areRun {
        queue.add(outermost)
        outermost.blockUntilFinished()
      }
      return outermost.isFinished
    }
    #expect(isFinished == areRun)
  }

  private static let depth = Rounds.size(5_000, otherwise: 1_000)

  private static func nestedGroups() -> GroupProcedure {
    var group = GroupProcedure(Node())
    for _ in 0..<depth { group = GroupProcedure(group, Node()) }
    return group
  }

  @Test("a wide group ends, run or cancelled at any moment", arguments: Moment.allCases)
  func wide(cancelled moment: Moment) async {
    await run(cancelled: moment) {
      [GroupProcedure(children: (0..<Self.size(100_000, moment)).map { _ in Node() })]
    }
  }

  @Test("a wide group that was never added is released in linear time")
  func wideReleased() async {
    let count = await onThreadOfItsOwn {
      GroupProcedure(children: (0..<Self.size(100_000)).map { _ in Node() }).children.count
    }
    #expect(count == Self.size(100_000))
  }

  @Test("groups nested deep, cancelled from the inside out, are cancelled in linear time")
  func insideOut() async {
    let areCancelled = await onSmallStack {
      var groups = [GroupProcedure()]
      for _ in 0..<Self.depth { groups.append(GroupProcedure(groups[groups.count - 1])) }
      for group in groups { group.cancel() }
      return groups.allSatisfy { $0.isCancelled }
    }
    #expect(areCancelled)
  }

  @Test("many dependents of one procedure end, and one dependent of many")
  func fanOutFanIn() async {
    let queue = makeQueue()
    let middle = await onThreadOfItsOwn {
      let (first, last) = (Node(), Node())
      let middle = (0..<Self.size(100_000)).map { _ in Node() }
      for node in middle { node.add(dependency: first) }
      last.add(dependencies: middle)
      queue.add(last)
      queue.add(middle)
      queue.add(first)
      return middle + [first, last]
    }
    await queue.waitUntilAllFinished()
    #expect(middle.allSatisfy { $0.isFinished })
  }

  private func run(
    cancelled moment: Moment, _ make: @escaping @Sendable () -> [Procedure]
  ) async {
    let queue = makeQueue()
    queue.isSuspended = true
    let procedures = await onThreadOfItsOwn {
      let procedures = make()
      func cancel() { for procedure in procedures { procedure.cancel() } }
      if moment == .beforeEnqueue { cancel() }
      queue.add(procedures)
      if moment == .whilePending { cancel() }
      queue.isSuspended = false
      if moment == .whileRunning { cancel() }
      return procedures
    }
    await queue.waitUntilAllFinished()
    let areFinished = await onThreadOfItsOwn {
      procedures.allSatisfy { procedure in
        procedure.isFinished
          && (procedure as? GroupProcedure)?.children.allSatisfy { $0.isFinished } ?? true
      }
    }
    #expect(areFinished)
  }
}
