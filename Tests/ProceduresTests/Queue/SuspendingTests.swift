import ProcedurePrimitives
import ProcedureTestSupport
import ProceduresTesting
import Testing

@testable import Procedures

/// `ProcedureQueue.suspendAndWait()`.
@Suite(.hangLimit) struct SuspendingTests {
  @Test(
    "Q3: suspend() returns when what has started has finished, its observers too, and starts nothing"
  )
  func waits() async {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 2)
    let (gate, hasReturned, executions) = (Gate(), Gate(), Counter())
    let running = BlockProcedure {
      executions.increment()
      gate.block()
    }
    running.addDidFinishBlockObserver { _, _ in hasReturned.open() }
    let group = GroupProcedure(
      AsyncProcedure { await gate.wait() }, BlockProcedure { gate.block() })
    queue.add(running, group)
    #expect(await eventually { executions.value == 1 && group.isExecuting })
    queue.add((0..<100).map { _ in BlockProcedure { executions.increment() } })
    let suspending = Task { await queue.suspendAndWait() }
    #expect(await eventually { queue.isSuspended })
    #expect(!running.isFinished && !group.isFinished)
    gate.open()
    #expect(await suspending.value)
    #expect(running.isFinished && group.isFinished && hasReturned.isOpen)
    #expect(executions.value == 1 && queue.count == 100)
    queue.isSuspended = false
    await queue.waitUntilAllFinished()
    #expect(executions.value == 101)
  }

  @Test("Q3: nothing runs after suspend(), whatever was about to start")
  func race() async {
    for _ in 0..<Rounds.few {
      let queue = ProcedureQueue(maxConcurrentProcedureCount: 3)
      let running = Counter()
      queue.add(
        (0..<50).map { _ in
          BlockProcedure {
            running.increment()
            running.decrement()
          }
        })
      #expect(await queue.suspendAndWait())
      let left = queue.count
      #expect(running.value == 0 && queue.procedures.allSatisfy { $0.state == .pending })
      #expect(queue.count == left)
      queue.isSuspended = false
      await queue.waitUntilAllFinished()
      #expect(running.highest <= 3)
    }
  }

  @Test("Q3: one whose end is known and that has not left yet is waited for, and counts no more")
  func leaving() async {
    let queue = ProcedureQueue()
    let (first, second) = (ManualProcedure(), ManualProcedure())
    let leave = HeldLeave()
    second.withCore { $0.attachments.prepend(leave) }
    queue.add(first, second)
    #expect(await eventually { first.isExecuting && second.isExecuting })
    let hasReturned = Gate()
    let suspending = Task {
      await queue.suspendAndWait()
      hasReturned.open()
      return queue.count
    }
    // It waits for the first, while the second finishes, and stops before it leaves.
    #expect(await eventually { queue.isSuspended })
    second.finish()
    #expect(await eventually { second.outcome != nil && leave.isHeld.isOpen })
    first.finish()
    #expect(
      await eventually {
        hasReturned.isOpen || queue.list.storage.withLock { $0.leaveWaiters != nil }
      })
    leave.mayGoOn.open()
    #expect(await suspending.value == 0)
  }

  @Test("Q3: a retry between two attempts that has given its slot up is not waited for")
  func resting() async {
    let clock = TestClock()
    let queue = ProcedureQueue(clock: clock.clock)
    let retry = RetryProcedure(max: 2, wait: .constant(.seconds(60))) {
      BlockProcedure { throw TestError("down") }
    }
    retry.keepsSlotWhileWaiting = false
    queue.add(retry)
    #expect(await eventually { clock.pendingCount == 1 })
    #expect(await queue.suspendAndWait())
    #expect(retry.count == 2 && !retry.isFinished)
    clock.advance(by: .seconds(60))
    #expect(await queue.suspendAndWait())
    #expect(!retry.isFinished)
    queue.isSuspended = false
    #expect(await retry.waitUntilFinished() == .failed([TestError("down")]))
  }

  @Test("Q3: a cancel of the waiting task ends the wait, and the queue stays suspended")
  func cancelled() async {
    let queue = ProcedureQueue()
    let lasting = ManualProcedure(endsWhenCancelled: false)
    queue.add(lasting)
    #expect(await eventually { lasting.isExecuting })
    let suspending = Task { await queue.suspendAndWait() }
    #expect(await eventually { queue.isSuspended })
    suspending.cancel()
    #expect(await !suspending.value && queue.isSuspended && !lasting.isFinished)
    lasting.finish()
    await queue.waitUntilAllFinished()
  }

  @Test("Q3, Q7: in a body of its own queue it waits for itself, and ends")
  func ownQueue() async {
    let queue = ProcedureQueue()
    queue.diagnosticsHandler = { _ in }
    let procedure = AsyncProcedure { await queue.suspendAndWait() }
    queue.add(procedure)
    let error = await procedure.waitUntilFinished().errors.first as? ProcedureError
    #expect(error?.code == .dependencyCycle)
    queue.isSuspended = false
  }
}

/// Keeps a procedure between its finish and the moment in which it leaves its queue.
private final class HeldLeave: Procedures.Attachment, @unchecked Sendable {
  let isHeld = Gate()
  let mayGoOn = Gate()

  override func procedureDidLeave() {
    isHeld.open()
    mayGoOn.block()
  }
}
