import Procedures
import ProcedureTestSupport
import Testing

/// Programmer errors trap with a message that names the procedure, in release builds too.
@Suite(.hangLimit) struct MisuseTests {
  @Test("S3: adding a procedure to a queue twice traps, naming it")
  func twice() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = ProcedureQueue()
      queue.isSuspended = true
      let procedure = BlockProcedure {}
      procedure.name = "upload"
      queue.add(procedure)
      queue.add(procedure)
    }
    #expect(message(of: result).contains("Procedure 'upload' was added to a queue or group twice"))
  }

  @Test("Z5: a repeat every nothing traps, and says what to write")
  func repeatEveryNothing() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = RepeatProcedure(every: .zero) { BlockProcedure {} }
    }
    #expect(message(of: result).contains("A repeat every 0 s would never pause"))
  }

  @Test("D6: a circuit breaker that opens before the first procedure traps, naming it")
  func breakerWithoutFailures() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = CircuitBreaker(named: "search", after: 0, pause: .seconds(1))
    }
    #expect(
      message(of: result).contains("The circuit breaker 'search' would open after 0 failures"))
  }

  @Test("S3: adding a group's child to a queue traps")
  func childToQueue() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let procedure = BlockProcedure {}
      let group = GroupProcedure(procedure)
      ProcedureQueue().add(procedure)
      withExtendedLifetime(group) {}
    }
    #expect(message(of: result).contains("was added to a queue or group twice"))
  }

  @Test("S3: adding a finished procedure again traps")
  func finishedAgain() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = ProcedureQueue()
      let procedure = BlockProcedure {}
      _ = await queue.run(procedure)
      _ = GroupProcedure(procedure)
    }
    #expect(message(of: result).contains("was added to a queue or group twice"))
  }

  @Test("S3: a dependency on itself traps, naming it")
  func ownDependency() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let procedure = BlockProcedure {}
      procedure.name = "ouroboros"
      procedure.add(dependency: procedure)
    }
    #expect(message(of: result).contains("Procedure 'ouroboros' cannot depend on itself"))
  }

  @Test("S3: a dependency added after the start traps, naming the procedure and its state")
  func lateDependency() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = ProcedureQueue()
      let procedure = BlockProcedure {}
      procedure.name = "late"
      _ = await queue.run(procedure)
      procedure.add(dependency: BlockProcedure {})
    }
    #expect(message(of: result).contains("Procedure 'late' is already finished: add dependencies"))
  }

  @Test("S3: a condition added after the start traps, naming the procedure and its state")
  func lateCondition() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let procedure = BlockProcedure {}
      procedure.name = "late"
      _ = await ProcedureQueue().run(procedure)
      procedure.add(condition: BlockCondition { true })
    }
    #expect(message(of: result).contains("Procedure 'late' is already finished: add conditions"))
  }

  @Test("S3: a condition that brings its own procedure traps, naming it")
  func ownPrerequisite() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let procedure = BlockProcedure {}
      procedure.name = "ouroboros"
      procedure.add(condition: BlockCondition { true }.withPrerequisites { [$0] })
      _ = await ProcedureQueue().run(procedure)
    }
    #expect(message(of: result).contains("procedure 'ouroboros' brings that procedure itself"))
  }

  @Test("S3: two groups that are each other's children trap, with both names")
  func circle() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (first, second) = (GroupProcedure(name: "first"), GroupProcedure(name: "second"))
      first.add(child: second)
      second.add(child: first)
    }
    #expect(
      message(of: result).contains(
        "Group 'first' was added to group 'second', which is inside of it"))
  }

  @Test("S3: a longer circle of groups traps, and so does a group that is added to itself")
  func longerCircles() async {
    let long = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var groups = [GroupProcedure(name: "innermost")]
      for _ in 0..<100 { groups.append(GroupProcedure(children: [groups[groups.count - 1]])) }
      groups[0].add(children: BlockProcedure {}, groups[100])
    }
    #expect(message(of: long).contains("was added to group 'innermost', which is inside of it"))
    let itself = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let group = GroupProcedure(name: "ouroboros")
      group.add(child: group)
    }
    #expect(message(of: itself).contains("Group 'ouroboros' was added to itself"))
  }

  @Test("S3: two threads that close a circle at once do not both succeed, whichever is first")
  func circleOnTwoThreads() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      for _ in 0..<10 {
        let groups = (0..<3).map { GroupProcedure(name: "\($0)") }
        await withTaskGroup { tasks in
          for index in 0..<3 {
            tasks.addTask { _ = groups[index].add(child: groups[(index + 1) % 3]) }
          }
        }
      }
    }
    #expect(message(of: result).contains("which is inside of it"))
  }

  @Test("S3: limits below one trap, naming the queue or group")
  func limits() async {
    let queue = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = ProcedureQueue(name: "narrow", maxConcurrentProcedureCount: 0)
    }
    #expect(message(of: queue).contains("of queue 'narrow' must be at least 1, not 0"))
    #expect(message(of: queue).contains("leave it out, or .max, for no limit"))
    let group = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let group = GroupProcedure()
      group.name = "narrow"
      group.maxConcurrentChildCount = -1
    }
    #expect(message(of: group).contains("of group 'narrow' must be at least 1, not -1"))
    #expect(message(of: group).contains("leave it out, or .max, for no limit"))
    let feed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = ProcedureFeed(into: ProcedureQueue(name: "narrow"), atMost: 0)
    }
    #expect(
      message(of: feed).contains("of queue 'narrow' with room for 0 procedures would add nothing"))
  }
}
