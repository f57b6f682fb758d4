#if MODEL
  import Dispatch
  @testable import Procedures
  import ProcedureTestSupport
  import Testing

  /// Callers that wait for room in a feed. Threads of the explorer cannot block on a semaphore: the
  /// check looks whether it was signalled.
  @Suite(.serialized, .hangLimit) struct FeedModelTests {
    /// A caller that takes a place, or waits in line for one.
    private final class Caller: @unchecked Sendable {
      private let permits: Permits
      private var line: (semaphore: DispatchSemaphore, place: FinishWaiter.Place)?

      init(of feed: ProcedureFeed) { permits = feed.permits }

      func call() { line = permits.takeOrStandInLine() }

      /// That it has a place, and was resumed once if it had to wait.
      func check() throws {
        guard let (semaphore, place) = line else { return }
        try require(
          semaphore.wait(timeout: .now()) == .success && !place.isWaiting,
          "a caller waits for room in a closed queue")
        try require(semaphore.wait(timeout: .now()) == .timedOut, "a caller was resumed twice")
      }
    }

    private struct Parts: Sendable {
      let model = ModelQueue()
      let feed: ProcedureFeed
      let procedure = PlainProcedure.lasting()
      let caller: Caller

      /// The feed has one place, which `procedure` has.
      init() {
        feed = ProcedureFeed(into: model.queue, atMost: 1)
        caller = Caller(of: feed)
        feed.addIfRoom(procedure)
        model.scheduler.run()
      }

      func check() throws {
        try caller.check()
        procedure.finish()
        model.scheduler.run()
        try procedure.checkLife()
        // That of the caller, which adds nothing.
        try require(feed.count == 1, "\(feed.count) places are taken")
      }
    }

    /// No lock is around the flag of the queue and the line of the feed:
    ///
    ///     caller                        close()
    ///     the queue is open
    ///                                   the queue is closed
    ///                                   the waiters are resumed: there are none
    ///     stands in line, for ever
    @Test("Q8: a caller that asks for room while the queue is closed does not wait")
    func closeAgainstCaller() throws {
      try explore {
        let parts = Parts()
        return parts.model.scenario(
          workers: 0, threads: [{ parts.caller.call() }, { parts.model.queue.close() }]
        ) {
          try parts.check()
        }
      }
    }

    @Test("Q8: a caller gets one place, from the close or from the procedure that leaves")
    func closeAgainstLeaving() throws {
      try explore {
        let parts = Parts()
        parts.caller.call()
        return parts.model.scenario(
          threads: [{ parts.procedure.finish() }, { parts.model.queue.close() }]
        ) {
          try parts.check()
        }
      }
    }
  }
#endif
