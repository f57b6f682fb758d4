import Procedures
import TestSupport
import Testing

/// Deep and wide graphs: no stack overflow, no quadratic time.
@Suite(.timeLimit(.minutes(2))) struct ShapeTests {
  /// When a shape is cancelled.
  enum Moment: CaseIterable {
    case never
    case beforeEnqueue
    case whilePending
    case whileRunning
  }

  final class Node: Procedure, @unchecked Sendable {
    override func execute() { finish() }
  }

  @Test("a chain of 200,000, run or cancelled at any moment", arguments: Moment.allCases)
  func chain(cancelled moment: Moment) async {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    var nodes: [Procedure] = []
    for _ in 0..<200_000 {
      let node = Node()
      if let last = nodes.last { node.add(dependency: last) }
      nodes.append(node)
    }
    await run(nodes, on: queue, cancelled: moment)
    #expect(nodes.allSatisfy { $0.isFinished })
  }

  @Test("a chain of 200,000 that was never added is released without recursion")
  func chainReleased() {
    var last: Procedure = Node()
    for _ in 0..<200_000 {
      let node = Node()
      node.add(dependency: last)
      last = node
    }
    #expect(last.dependencies.count == 1)
  }

  @Test("groups nested 5,000 deep, run or cancelled at any moment", arguments: Moment.allCases)
  func nested(cancelled moment: Moment) async {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    var group = GroupProcedure(Node())
    for _ in 0..<5_000 { group = GroupProcedure(group, Node()) }
    await run([group], on: queue, cancelled: moment)
    #expect(group.isFinished)
  }

  @Test("groups nested 5,000 deep that were never added are released without recursion")
  func nestedReleased() {
    var group = GroupProcedure(Node())
    for _ in 0..<5_000 { group = GroupProcedure(group, Node()) }
    #expect(group.children.count == 2)
  }

  @Test("a group of 100,000 children, run or cancelled at any moment", arguments: Moment.allCases)
  func wide(cancelled moment: Moment) async {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    let group = GroupProcedure(children: (0..<100_000).map { _ in Node() })
    await run([group], on: queue, cancelled: moment)
    #expect(group.isFinished && group.children.allSatisfy { $0.isFinished })
  }

  @Test("100,000 dependents of one, and one dependent of 100,000")
  func fanOutFanIn() async {
    let queue = ProcedureQueue()
    let (first, last) = (Node(), Node())
    let middle = (0..<100_000).map { _ in Node() }
    for node in middle { node.add(dependency: first) }
    last.add(dependencies: middle)
    queue.add(last)
    queue.add(middle)
    queue.add(first)
    _ = await last.waitUntilFinished()
    #expect(middle.allSatisfy { $0.isFinished })
  }

  private func run(
    _ procedures: [Procedure], on queue: ProcedureQueue, cancelled moment: Moment
  ) async {
    func cancel() { for procedure in procedures { procedure.cancel() } }
    if moment == .beforeEnqueue { cancel() }
    queue.add(procedures)
    if moment == .whilePending { cancel() }
    queue.isSuspended = false
    if moment == .whileRunning { cancel() }
    await queue.waitUntilAllFinished()
  }
}
