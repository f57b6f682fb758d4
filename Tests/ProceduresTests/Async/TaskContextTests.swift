import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct TaskContextTests {
  private enum Request {
    @TaskLocal static var id = 0
  }

  @Test("a body has the task-local values and the priority of the code that added its procedure")
  func adding() async {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    let seen = Recorder<Int>()
    let priorities = Recorder<TaskPriority>()
    func make() -> AsyncProcedure {
      AsyncProcedure {
        seen.note(Request.id)
        await Task.yield()
        seen.note(Request.id)
        priorities.note(Task.currentPriority)
      }
    }
    let (first, second, child) = (make(), make(), make())
    let group = GroupProcedure(children: [])
    second.add(dependency: first)
    await Task.detached(priority: .utility) {
      Request.$id.withValue(1) {
        _ = queue.add(first)
        Request.$id.withValue(2) { _ = queue.add(second) }
        Request.$id.withValue(3) { _ = group.add(child: child) }
      }
    }.value
    group.add(dependency: second)
    queue.add(group)
    queue.isSuspended = false
    await queue.waitUntilAllFinished()
    #expect(seen.events == [1, 1, 2, 2, 3, 3])
    #expect(priorities.events.allSatisfy { $0 >= .utility && $0 < .high })
  }

  @Test(
    "a procedure that never executes leaves no task behind")
  func neverExecuted() async throws {
    let live = LiveInstances()
    for index in 0..<4 {
      let queue = ProcedureQueue()
      queue.isSuspended = true
      let captured = live.track(Tracker {}, as: "capture \(index)")
      let procedure = AsyncProcedure { _ = captured }
      switch index {
      case 0:
        queue.add(procedure)
        procedure.cancel()
        _ = await procedure.waitUntilFinished()
      case 1:
        queue.close()
        queue.add(procedure)
        _ = await procedure.waitUntilFinished()
      case 2:
        _ = GroupProcedure(procedure)
      default:
        queue.add(procedure)
        queue.cancelAll()
        await queue.drain()
      }
    }
    try await live.allReleased(within: .seconds(1_000))
    #expect(live.labels.isEmpty)
  }

  @Test("a cancel reaches a body that was made ready where it was added")
  func cancelled() async {
    let queue = ProcedureQueue()
    let started = Gate()
    let procedure = AsyncProcedure {
      started.open()
      while true {
        try Task.checkCancellation()
        await Task.yield()
      }
    }
    queue.add(procedure)
    await started.wait()
    procedure.cancel()
    #expect(await procedure.waitUntilFinished() == .cancelled([]))
  }
}
