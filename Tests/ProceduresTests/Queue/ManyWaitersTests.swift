import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import Procedures

/// Many that wait for one queue. What looks through all of them for each that leaves does not end
/// within the time limit: 1.3 ms for each of 32,000.
@Suite(.serialized, .hangLimit) struct ManyWaitersTests {
  private static let count = Rounds.size(200_000, otherwise: Rounds.isSanitized ? 10_000 : 60_000)

  private func waiterCount(_ queue: ProcedureQueue) -> Int {
    queue.list.storage.withLock { $0.emptyWaiters?.count ?? 0 }
  }

  @Test("Q5: the cancel of a task that waits for a queue looks at no other that does")
  func cancelled() async {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    queue.add(BlockProcedure {})
    let tasks = (0..<Self.count).map { _ in Task { await queue.waitUntilAllFinished() } }
    #expect(await eventually { waiterCount(queue) >= Self.count })
    // From the end, and from the beginning; one is left.
    for task in tasks[(Self.count / 2)...].reversed() { task.cancel() }
    for task in tasks[1..<(Self.count / 2)] { task.cancel() }
    for task in tasks.dropFirst() { await task.value }
    #expect(waiterCount(queue) == 1)
    queue.isSuspended = false
    await tasks[0].value
    #expect(queue.count == 0 && waiterCount(queue) == 0)
  }

  @Test("Q5: a cancel that comes after the end ends no other's wait")
  func lateCancel() async {
    let waiters = FinishWaiters()
    let places = Recorder<FinishWaiter.Place>()
    for _ in 0..<2 {
      let isOver = await FinishWaiter.wait(in: "a test", for: .ownCancel) { task in
        if let earlier = places.events.last {
          waiters.append(task)
          waiters.remove(at: earlier)?.resume(isOver: false)
        } else {
          if case .task(_, let place) = task { places.note(place) }
          waiters.append(task)
        }
        for waiter in waiters.takeAll() { waiter.resume() }
        return nil
      } leaving: { _ in
        nil
      }
      #expect(isOver)
    }
  }
}
