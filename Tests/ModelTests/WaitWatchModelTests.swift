#if MODEL
  import Dispatch
  import ProcedurePrimitives
  import Procedures
  import ProcedureTestSupport
  import Testing

  @Suite(.serialized, .hangLimit) struct WaitWatchModelTests {
    /// Looks are work like any other: the explorer says when they come.
    private final class LookingScheduler: Scheduler, @unchecked Sendable {
      let workers = ModelScheduler()
      let looks = ModelScheduler()
      let lookPace = LookPace()
      var quantum: WorkerQuantum { workers.quantum }

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

    /// Each changes one thing and reads the other's, and no lock is around both:
    ///
    ///     add(second)                   look
    ///     arrives, without the lock
    ///                                   again → once: it is put off, and then begins
    ///     reads the note: again         reads the arrivals: none
    ///
    /// The other one of the cycle is on another queue: nothing on this one leads to it.
    @Test("Q7: a cycle that is closed by a procedure that arrives while a look begins is found")
    func arrivalAgainstLook() throws {
      try explore {
        let scheduler = LookingScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let elsewhere = ModelQueue()
        let (first, second) = (PlainProcedure(), PlainProcedure())
        first.add(dependency: second)
        second.add(dependency: first)
        elsewhere.start(first)
        // Each notes that the list is stuck: once, again.
        let outside = PlainProcedure()
        for _ in 1...2 {
          let other = PlainProcedure()
          other.add(dependency: outside)
          queue.add(other)
        }
        // They are members now, and no arrivals any more.
        guard queue.count == 2 else { preconditionFailure("not added") }
        return .init(threads: [{ queue.add(second) }], workers: [scheduler.looks]) {
          scheduler.run()
          elsewhere.scheduler.run()
          try withExtendedLifetime(queue) {
            try require(first.isFinished && second.isFinished, "the cycle was not found")
          }
        }
      }
    }

    /// Each wait is there once, and never both at the same moment:
    ///
    ///     look                          the other thread
    ///     first waits for second
    ///                                   first.remove(dependency: second)
    ///                                   second.add(dependency: first)
    ///     second waits for first: read again, first does not wait for second
    @Test("Q7: two waits of two moments are no cycle")
    func waitsOfTwoMoments() throws {
      try explore {
        let scheduler = LookingScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let (first, second, outside) = (PlainProcedure(), PlainProcedure(), PlainProcedure())
        first.add(dependencies: second, outside)
        second.add(dependency: outside)
        queue.add(first, second)
        scheduler.workers.run()
        return .init(
          threads: [
            {
              first.remove(dependency: second)
              second.add(dependency: first)
            }
          ], workers: [scheduler.looks]
        ) {
          scheduler.run()
          try withExtendedLifetime(queue) {
            try require(
              !first.isCancelled && !second.isCancelled,
              "waits of two moments were taken for a cycle")
            queue.add(outside)
            scheduler.run()
            try require(second.isFinished && first.isFinished, "not finished")
          }
        }
      }
    }

    /// `login` waits for the slot that the group has, and `south`, a child, for `login`: only the
    /// failure of `north` can end that. Whether it may come says the second reading, too:
    ///
    ///     look                          the other thread
    ///     north waits for elsewhere
    ///                                   north.remove(dependency: elsewhere)
    ///                                   elsewhere.add(dependency: north)
    ///     elsewhere waits for north: read again, north does not wait for elsewhere
    @Test("Q7: a sibling whose wait is of another moment may still cancel a child in a cycle")
    func siblingOfTwoMoments() throws {
      try explore {
        let scheduler = LookingScheduler()
        let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
        let others = ProcedureQueue(scheduler: scheduler)
        let (north, south, login) = (PlainProcedure(), PlainProcedure(), PlainProcedure())
        let (elsewhere, outside) = (PlainProcedure(), PlainProcedure())
        // The first of them is the one that the search follows.
        let group = GroupProcedure(children: [south, north])
        group.failurePolicy = .cancelRemaining
        north.add(dependencies: elsewhere, outside)
        elsewhere.add(dependency: outside)
        south.add(dependency: login)
        others.add(elsewhere)
        queue.add(group, login)
        scheduler.workers.run()
        return .init(
          threads: [
            {
              north.remove(dependency: elsewhere)
              elsewhere.add(dependency: north)
            }
          ], workers: [scheduler.looks]
        ) {
          scheduler.run()
          try withExtendedLifetime((queue, others)) {
            try require(
              !group.isCancelled && !south.isCancelled && !login.isCancelled,
              "a sibling that could end was taken for stuck")
            group.cancel()
            outside.cancel()
            others.add(outside)
            scheduler.run()
            try require(group.isFinished && login.isFinished, "not finished")
          }
        }
      }
    }

    /// The group's turn is in user code, or due, whenever the look comes:
    ///
    ///     worker of the child           look
    ///     the child asks its group
    ///                                   the child waits for the group's answer
    ///     the group decides             the group waits for its children
    @Test("Q7: a child that asks its group, and a group that waits for its child, are no cycle")
    func answerAgainstLook() throws {
      final class Deciding: GroupProcedure, @unchecked Sendable {
        override func child(
          _ child: Procedure, willFinishWithErrors errors: [any Error]
        ) -> [any Error] {
          // The other one asks while the group is in here.
          if child === children.first, let other = children.last { other.finish() }
          return errors
        }
      }
      try explore {
        let scheduler = LookingScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let (first, second) = (PlainProcedure.lasting(), PlainProcedure.lasting())
        let group = Deciding(children: [first, second])
        let after = PlainProcedure()
        after.add(dependency: group)
        queue.add(group, after)
        scheduler.workers.run()
        return .init(
          threads: [{ first.finish() }],
          workers: [scheduler.workers, scheduler.workers, scheduler.looks]
        ) {
          scheduler.run()
          try withExtendedLifetime(queue) {
            try require(!group.isCancelled && !first.isCancelled, "a healthy group was cancelled")
            try require(after.isFinished, "not finished")
          }
        }
      }
    }

    /// A dependency is settled first, and counted off after that:
    ///
    ///     worker of the dependency      look
    ///     settled
    ///                                   twice: the child waits for no dependency,
    ///                                   and its group for the child
    ///     counted off
    @Test("Q7: a child whose last dependency is being counted off does not wait for its group")
    func countedOffAgainstLook() throws {
      try explore {
        let scheduler = LookingScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let (outside, child) = (PlainProcedure.lasting(), PlainProcedure())
        child.add(dependency: outside)
        let group = GroupProcedure(children: [child])
        queue.add(outside, group)
        scheduler.workers.run()
        return .init(
          threads: [{ outside.finish() }], workers: [scheduler.workers, scheduler.looks]
        ) {
          scheduler.run()
          try withExtendedLifetime(queue) {
            try require(!group.isCancelled && !child.isCancelled, "a healthy group was cancelled")
            try require(group.isFinished, "not finished")
          }
        }
      }
    }
  }
#endif
