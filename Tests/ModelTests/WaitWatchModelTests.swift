#if MODEL
  import Dispatch
  import ProcedurePrimitives
  import Procedures
  import Testing

  @Suite(.serialized) struct WaitWatchModelTests {
    /// Looks are work like any other: the explorer says when they come.
    private final class LookingScheduler: Scheduler, @unchecked Sendable {
      let workers = ModelScheduler()
      let looks = ModelScheduler()
      var stretch: WorkerStretch { workers.stretch }

      func submit(quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void) {
        workers.submit(quality: quality, worker)
      }

      func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        looks.submit(quality: nil, work)
      }

      func run() {
        while workers.hasWork || looks.hasWork {
          workers.run()
          looks.runOne()
        }
      }
    }

    /// What closes the cycle is not seen by the look that goes on, so that its note must count:
    ///
    ///     look                          add(dependency:)
    ///     goes through the waits
    ///                                   closes the cycle; none → once: no, a look is scheduled
    ///     once → none: it is over
    ///                                   once → again: no, there is none any more
    @Test("Q7: a cycle that is closed while a look ends is found")
    func noteAgainstLook() throws {
      try explore {
        let scheduler = LookingScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let (first, second) = (PlainProcedure(), PlainProcedure())
        let outside = PlainProcedure()
        first.add(dependency: second)
        second.add(dependency: outside)
        queue.add(first, second)
        scheduler.workers.run()
        return .init(
          threads: [
            {
              second.add(dependency: first)
              second.remove(dependency: outside)
            }
          ], workers: [scheduler.looks]
        ) {
          scheduler.run()
          // One that has gone looks more often.
          try withExtendedLifetime(queue) {
            try require(first.isFinished && second.isFinished, "the cycle was not found")
          }
        }
      }
    }
  }
#endif
