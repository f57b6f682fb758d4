import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct WithProcedureQueueTests {
  @Test(
    "withProcedureQueue returns the body's value when all procedures have finished, also late ones")
  func waits() async {
    let finished = Counter()
    let procedures = (0..<20).map { index in
      BlockProcedure { procedure in
        if index.isMultiple(of: 2) {
          try procedure.produce(BlockProcedure { finished.increment() })
        }
        finished.increment()
      }
    }
    let result = await withProcedureQueue(maxConcurrentProcedureCount: 2) { queue in
      queue.add(procedures)
      #expect(queue.maxConcurrentProcedureCount == 2)
      return "result"
    }
    #expect(result == "result" && finished.value == 30)
  }

  @Test("a failed procedure neither throws nor cancels the others")
  func failure() async {
    let (failing, other) = (BlockProcedure { throw TestError("e") }, BlockProcedure {})
    await withProcedureQueue { queue in queue.add(failing, other) }
    #expect(failing.failed)
    #expect(other.outcome == .succeeded)
  }

  @Test("when the body throws, the rest is cancelled and waited for, and so is what comes later")
  func bodyThrows() async {
    let running = TracedProcedure(end: .whenToldOrCancelled)
    let late = TracedProcedure("late")
    let producer = TracedProcedure("producer", end: .whenTold)
    let executing = Gate()
    producer.addDidExecuteBlockObserver { _ in executing.open() }
    producer.addDidCancelBlockObserver { producer, _ in
      _ = try? producer.produce(late)
      producer.finish()
    }
    await #expect(throws: TestError("e")) {
      try await withProcedureQueue { queue in
        queue.add(running, producer)
        await executing.wait()
        throw TestError("e")
      }
    }
    for procedure in [running, late, producer] {
      #expect(procedure.isCancelled && procedure.isFinished, "\(procedure)")
    }
    #expect(!late.trace.events.contains("late execute"))
  }

  @Test(
    "when the task is cancelled, in the body or in the wait, the rest is cancelled and waited for")
  func taskCancelled() async {
    for isInBody in [true, false] {
      let (running, late) = (TracedProcedure(end: .whenToldOrCancelled), TracedProcedure("late"))
      let reached = Gate()
      let task = Task {
        await withProcedureQueue { queue in
          queue.add(running)
          reached.open()
          if isInBody {
            _ = await running.waitUntilFinished()
            queue.add(late)
          }
          return 1
        }
      }
      await reached.wait()
      task.cancel()
      #expect(await task.value == 1)
      #expect(running.isCancelled && running.isFinished)
      #expect(late.isCancelled == isInBody && late.isFinished == isInBody)
      #expect(running.cancellationToken.reason == .taskCancelled)
    }
  }

  @Test("a task that is cancelled before cancels what the body adds")
  func cancelledBefore() async {
    let procedure = TracedProcedure()
    let task = Task {
      unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      await withProcedureQueue { queue in queue.add(procedure) }
    }
    await task.value
    #expect(procedure.isFinished && procedure.isCancelled)
    #expect(procedure.trace.events.first != "p execute")
  }

  @Test("everything has finished when the task is cancelled against the end of the body")
  func cancelAgainstEnd() async {
    for _ in 0..<Rounds.few {
      let procedures = (0..<3).map { _ in TracedProcedure() }
      let task = Task { await withProcedureQueue { queue in queue.add(procedures) } }
      await race({ task.cancel() })
      await task.value
      #expect(procedures.allSatisfy { $0.isFinished })
    }
  }

  @Test("Q6: a queue that the body of withProcedureQueue leaves suspended is resumed")
  func suspended() async {
    let procedure = TracedProcedure()
    await withProcedureQueue { queue in
      queue.isSuspended = true
      queue.add(procedure)
    }
    #expect(procedure.outcome == .succeeded)

    let kept = await withProcedureQueue { queue in
      queue.isSuspended = true
      return queue
    }
    #expect(!kept.isSuspended)
    let dropped = TracedProcedure()
    await #expect(throws: TestError("e")) {
      try await withProcedureQueue { queue in
        queue.isSuspended = true
        queue.add(dropped)
        throw TestError("e")
      }
    }
    #expect(dropped.isCancelled && dropped.isFinished)
    #expect(!dropped.trace.events.contains("p execute"))
  }
}
