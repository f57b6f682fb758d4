import ProcedureTestSupport
import Testing

@testable import Procedures

/// The object that two procedures share, and the row that each of them keeps it in.
@Suite(.hangLimit) struct DependencyRowTests {
  private final class Node: Procedure, @unchecked Sendable {
    override func execute() { finish() }
  }

  /// Notes which dependent it let go.
  private final class Noted: Dependency, @unchecked Sendable {
    let trace: Recorder<ObjectIdentifier>

    init(on dependency: Procedure, _ trace: Recorder<ObjectIdentifier>) {
      self.trace = trace
      super.init(on: dependency)
    }

    override func letGo(_ dependent: Procedure, on worker: Worker?) {
      trace.note(ObjectIdentifier(dependent))
      super.letGo(dependent, on: worker)
    }
  }

  private let scheduler = ManualScheduler()

  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  // MARK: The object

  @Test(
    "C2, F3: the first of settling and revoking a dependency counts, and releases the dependent")
  func firstCounts() {
    for isRevokedFirst in [true, false] {
      let (dependency, trace) = (Node(), Recorder<ObjectIdentifier>())
      let link = Noted(on: dependency, trace)
      weak var released: Node?
      do {
        let dependent = Node()
        released = dependent
        // Counted twice, so that it may be counted off.
        dependent.add(dependency: Node())
        makeQueue().add(dependent)
        dependent.withCore { _ in link.arm(for: dependent) }
        if isRevokedFirst { #expect(link.revoke()) }
        link.settle(on: nil)
        #expect(!link.revoke())
        #expect(trace.events == (isRevokedFirst ? [] : [ObjectIdentifier(dependent)]))
        dependent.cancel()
        scheduler.run()
      }
      #expect(released == nil && link.isSettled == !isRevokedFirst)
    }
  }

  // MARK: The rows

  @Test("several dependencies stay in the order of adding, whichever are removed")
  func order() {
    let (node, others) = (Node(), (0..<4).map { _ in Node() })
    for other in others { node.add(dependency: other) }
    #expect(node.dependencies == others)
    node.remove(dependency: others[0])
    #expect(node.dependencies == Array(others[1...]))
    for other in others[1...] { node.remove(dependency: other) }
    #expect(node.dependencies.isEmpty)
    node.add(dependency: others[3])
    node.add(dependency: others[2], requiring: .success)
    node.add(dependency: others[3])
    #expect(node.dependencies == [others[3], others[2], others[3]])
    node.remove(dependency: others[3])
    #expect(node.dependencies == [others[2]])
  }

  @Test(
    "Q1: dependents are released in the order in which they were enqueued, without revoked ones")
  func dependents() {
    let (queue, trace) = (makeQueue(), Recorder<ObjectIdentifier>())
    let (dependency, dependents) = (Node(), (0..<100).map { _ in Node() })
    for dependent in dependents { dependent.add(Noted(on: dependency, trace)) }
    queue.add(dependents)
    for index in stride(from: 0, to: 100, by: 3) { dependents[index].cancel() }
    for index in stride(from: 1, to: 100, by: 3) {
      dependents[index].remove(dependency: dependency)
    }
    scheduler.run()
    queue.add(dependency)
    scheduler.run()
    let left = dependents.indices.filter { $0 % 3 == 2 }.map { ObjectIdentifier(dependents[$0]) }
    #expect(trace.events == left)
    let areAllFinished = dependents.allSatisfy(\.isFinished)
    #expect(areAllFinished)
  }

  @Test("R1: dependencies that have finished already are settled in the order of adding")
  func finishedAlready() {
    let (queue, trace) = (makeQueue(), Recorder<Int>())
    let sources = (0..<5).map { _ in Node() }
    queue.add(sources)
    scheduler.run()
    let target = Node()
    for (index, source) in sources.enumerated() {
      target.inject(dependency: source) { _, _, _ in trace.note(index) }
    }
    queue.add(target)
    scheduler.run()
    #expect(trace.events == [0, 1, 2, 3, 4] && target.dependencies.isEmpty)
  }

  @Test(
    "F4: dependents that have gone keep a dependency alive in no order of going, though it never ran",
    arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 2, 1]])
  func revoked(order: [Int]) {
    weak var released: Node?
    do {
      let (queue, dependency) = (makeQueue(), Node())
      released = dependency
      let dependents = (0..<3).map { _ in Node() }
      for dependent in dependents { dependent.add(dependency: dependency) }
      queue.add(dependents)
      for index in order {
        if index == 1 {
          dependents[index].remove(dependency: dependency)
        } else {
          dependents[index].cancel()
        }
        scheduler.run()
        #expect(dependents[index].isFinished)
      }
    }
    #expect(released == nil)
  }

  @Test("F4: a dependency that its dependents know no more is released before they have finished")
  func released() {
    weak var released: Node?
    let (queue, dependent) = (makeQueue(), Node())
    dependent.add(dependency: Node())
    queue.add(dependent)
    do {
      let dependency = Node()
      released = dependency
      dependent.add(dependency: dependency)
      dependent.remove(dependency: dependency)
    }
    #expect(released == nil && dependent.isPending)
    dependent.cancel()
    scheduler.run()
  }
}
