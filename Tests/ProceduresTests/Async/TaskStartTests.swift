import Dispatch
import ProcedureTestSupport
import Testing

@testable import Procedures

/// Tasks that are not made to wait at once: on Apple's systems before version 26.
@Suite struct TaskStartTests {
  @Test(
    "T3: a task that comes late does its work where the procedure runs", arguments: [true, false])
  func late(isKnownFirst: Bool) async {
    let key = DispatchSpecificKey<Bool>()
    let queue = DispatchQueue(label: "serial")
    queue.setSpecific(key: key, value: true)
    let context = SchedulingContext(
      scheduler: DispatchScheduler(underlyingQueue: queue), clock: TestClock().clock,
      supervisor: QueueSupervisor())
    let isThere = Recorder<Bool?>()
    let (start, executor) = (TaskStart(), ProcedureTask())
    let task = start.makeTaskThatComesLater(on: executor)
    if !isKnownFirst { executor.submitFirstStep(on: context) }
    start.begin { isThere.note(DispatchQueue.getSpecific(key: key)) }
    if isKnownFirst { executor.submitFirstStep(on: context) }
    await task.value
    #expect(isThere.events == [true])
  }

  @Test("T3: a task whose procedure never executes ends")
  func neverExecuted() async {
    let (start, executor) = (TaskStart(), ProcedureTask())
    let task = start.makeTaskThatComesLater(on: executor)
    start.begin(nil)
    executor.submitFirstStep(on: .detached)
    await task.value
  }
}
