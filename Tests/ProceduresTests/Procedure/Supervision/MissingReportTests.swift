import ProcedureTestSupport
import Testing

@testable import Procedures

@Suite(.hangLimit) struct MissingReportTests {
  @Test(
    "a wait for a procedure on no queue is reported on standard error once, unless it is added in time, or nobody waits"
  )
  func report() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let (scheduler, time) = (ManualScheduler(), TestClock())
      let surroundings = DetachedSurroundings(scheduler: scheduler, clock: time.clock)
      let (forgotten, added) = (TracedProcedure("forgotten"), TracedProcedure("added"))
      let (child, givenUp) = (TracedProcedure("child"), TracedProcedure("given up"))
      let group = GroupProcedure(name: "outer", GroupProcedure(name: "inner", child))
      let (source, dependent) = (TracedProcedure("source"), TracedProcedure("dependent"))
      dependent.add(dependency: source)
      let queue = ProcedureQueue(scheduler: scheduler, clock: time.clock)
      queue.add(dependent)
      let waits = surroundings.replacingDispatch {
        [givenUp, forgotten, forgotten, added, child, dependent].map { procedure in
          Task { _ = await procedure.waitUntilFinished() }
        }
      }
      for procedure in [givenUp, forgotten, added, child, dependent] {
        #expect(await eventually { procedure.isAwaited })
      }
      waits[0].cancel()
      await waits[0].value
      // Of two that wait for the same, the second may be there before the first has set the timer.
      #expect(await eventually { time.pendingCount >= 4 })
      try #require(time.pendingCount == 4)
      queue.add(added)
      scheduler.run()
      time.advance(by: .seconds(9))
      #expect(added.isFinished && !forgotten.isFinished)
      time.advance(by: .seconds(100))
      #expect(!group.isFinished)
      // Whoever waits for it now is told like the first.
      let again = surroundings.replacingDispatch { Task { await givenUp.waitUntilFinished() } }
      #expect(await eventually { givenUp.isAwaited })
      #expect(time.pendingCount == 1)
      again.cancel()
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("Procedures: ") }
    #expect(
      lines.map(String.init).sorted() == [
        "Procedures: 'dependent' has waited 10 seconds for 'source', which is on no queue: add that to one, or "
          + "remove the dependency.",
        "Procedures: something has waited 10 seconds for 'child', which is in group 'outer', and "
          + "that is on no queue: add the group to one.",
        "Procedures: something has waited 10 seconds for 'forgotten', which is on no queue: add it "
          + "to one; queue.value(of:) adds it, and waits.",
      ])
  }

  @Test(
    "without a default delay no wait for a missing procedure is reported, nor by queues made from then on"
  )
  func off() async {
    await #expect(processExitsWith: .success) {
      ProcedureQueue.defaultWaitReportDelay = nil
      #expect(ProcedureQueue().waitReportDelay == nil)
      let time = TestClock()
      let surroundings = DetachedSurroundings(scheduler: ManualScheduler(), clock: time.clock)
      let procedure = TracedProcedure("forgotten")
      let wait = surroundings.replacingDispatch { Task { await procedure.waitUntilFinished() } }
      #expect(await eventually { procedure.isAwaited })
      #expect(time.pendingCount == 0)
      ProcedureQueue.defaultWaitReportDelay = .seconds(3)
      #expect(ProcedureQueue().waitReportDelay == .seconds(3))
      wait.cancel()
    }
  }

  @Test("a report of a missing procedure keeps nothing alive, and leaves no timer")
  func memory() async {
    let time = TestClock()
    let surroundings = DetachedSurroundings(scheduler: ManualScheduler(), clock: time.clock)
    var procedure: Procedure? = TracedProcedure("released")
    weak let reference = procedure
    let wait = surroundings.replacingDispatch {
      Task { [procedure] in _ = await procedure?.waitUntilFinished() }
    }
    wait.cancel()
    await wait.value
    #expect(time.pendingCount == 1)
    procedure = nil
    // The closure of a task is released after its value is there.
    #expect(await eventually { reference == nil && time.pendingCount == 0 })
  }
}

extension Procedure {
  fileprivate final var isAwaited: Bool { peek { $0.waiters?.isEmpty == false } }
}
