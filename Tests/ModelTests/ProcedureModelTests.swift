#if MODEL
  import Procedures
  import TestSupport
  import Testing

  /// The worker of the queue is one of the threads; what it has not done when the others have ended
  /// is done before the check.
  @Suite(.serialized) struct ProcedureModelTests {
    /// Notes its own events without a lock.
    private final class Plain: Procedure, @unchecked Sendable {
      let log: PlainLog<String>
      let finishesItself: Bool
      init(_ log: PlainLog<String> = PlainLog(), finishesItself: Bool = true) {
        self.log = log
        self.finishesItself = finishesItself
      }
      override func execute() {
        log.events.append("execute")
        if finishesItself { finish() }
      }
      override func procedureDidCancel(withErrors errors: [any Error]) {
        log.events.append("didCancel")
        if isExecuting { finish() }
      }
      override func procedureWillFinish(withErrors errors: [any Error]) {
        log.events.append("willFinish")
      }
      override func procedureDidFinish(withErrors errors: [any Error]) {
        log.events.append("didFinish")
      }
    }

    private func checkLife(_ procedure: Plain) throws {
      let events = procedure.log.events
      try require(procedure.isFinished, "not finished: \(events)")
      try require(events.filter { $0 == "didFinish" }.count == 1, "\(events)")
      try require(events.suffix(2) == ["willFinish", "didFinish"], "\(events)")
      try require(procedure.isCancelled == events.contains("didCancel"), "\(events)")
    }

    @Test("C5, F3: cancel against start and finish")
    func cancelAgainstFinish() throws {
      let schedules = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let procedure = Plain()
        queue.add(procedure)
        return .init(threads: [{ scheduler.run() }, { procedure.cancel() }]) {
          scheduler.run()
          try checkLife(procedure)
          try require(queue.count == 0, "still on the queue")
        }
      }
      #expect(schedules > 50)
    }

    @Test("C5, F1: cancel against finish from outside, while it executes")
    func cancelAgainstOutsideFinish() throws {
      _ = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let procedure = Plain(finishesItself: false)
        queue.add(procedure)
        scheduler.run()
        return .init(
          threads: [{ procedure.cancel() }, { procedure.finish() }, { scheduler.run() }]
        ) {
          scheduler.run()
          try checkLife(procedure)
        }
      }
    }

    @Test("O1: an observer against the finish is told exactly once")
    func observerAgainstFinish() throws {
      _ = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let procedure = Plain(finishesItself: false)
        queue.add(procedure)
        scheduler.run()
        let calls = PlainCounter()
        return .init(
          threads: [
            { procedure.finish() },
            { procedure.addDidCancelBlockObserver { _, _ in calls.value += 1 } },
            { procedure.cancel() },
          ]
        ) {
          scheduler.run()
          try checkLife(procedure)
          try require(calls.value == (procedure.isCancelled ? 1 : 0), "called \(calls.value) times")
        }
      }
    }

    @Test("dependencies: enqueue of a dependent against the dependency's finish")
    func enqueueAgainstFinish() throws {
      _ = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let (dependency, dependent) = (Plain(), Plain())
        dependent.add(dependency: dependency)
        queue.add(dependency)
        return .init(threads: [{ queue.add(dependent) }, { scheduler.run() }]) {
          scheduler.run()
          try checkLife(dependency)
          try checkLife(dependent)
        }
      }
    }

    @Test("dependencies: cancel and removal against the dependency's finish")
    func dependencyAgainstFinish() throws {
      _ = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let (dependency, dependent) = (Plain(), Plain())
        dependent.add(dependency: dependency)
        queue.add(dependency, dependent)
        return .init(
          threads: [
            { scheduler.run() }, { dependent.cancel() },
            { dependent.remove(dependency: dependency) },
          ]
        ) {
          scheduler.run()
          try checkLife(dependency)
          try checkLife(dependent)
          try require(queue.count == 0, "still on the queue")
        }
      }
    }

    @Test("G2: add(child:) against the group's finish: accepted and waited for, or refused")
    func addAgainstGroupFinish() throws {
      _ = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let first = Plain(finishesItself: false)
        let group = GroupProcedure(first)
        queue.add(group)
        scheduler.run()
        let late = Plain()
        let accepted = PlainLog<Bool>()
        return .init(
          threads: [
            { first.finish() }, { accepted.events.append(group.add(child: late)) },
            { scheduler.run() },
          ]
        ) {
          scheduler.run()
          try require(group.isFinished && late.isFinished, "somebody did not finish")
          try require(late.isCancelled != accepted.events[0], "refused, but not ended as such")
        }
      }
    }

    @Test("G3: cancel of a group against add and finish of children")
    func cancelAgainstChildren() throws {
      _ = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let first = Plain(finishesItself: false)
        let group = GroupProcedure(first)
        queue.add(group)
        scheduler.run()
        let late = Plain(finishesItself: false)
        return .init(
          threads: [{ group.cancel() }, { group.add(child: late) }, { scheduler.run() }]
        ) {
          scheduler.run()
          try require(group.isFinished && late.isFinished, "somebody did not finish")
          try require(late.isCancelled && first.isCancelled, "a child was missed")
          try checkLife(first)
        }
      }
    }

    @Test("G3: nothing of a tree is told before all of it is marked, children added meanwhile too")
    func treeIsMarkedFirst() throws {
      _ = try Explorer().explore {
        let leaf = Plain(finishesItself: false)
        let inner = GroupProcedure(leaf)
        let outer = GroupProcedure(inner)
        let late = Plain()
        let early = PlainCounter()
        late.cancellationToken.onCancel {
          if !(outer.isCancelled && inner.isCancelled && leaf.isCancelled) { early.value += 1 }
        }
        let scheduler = ManualScheduler()
        ProcedureQueue(scheduler: scheduler).add(outer)
        scheduler.run()
        return .init(threads: [{ outer.cancel() }, { outer.add(child: late) }]) {
          scheduler.run()
          try require(early.value == 0, "told before the tree was marked")
          try require(outer.isFinished && late.isFinished, "somebody did not finish")
          try require(late.isCancelled, "the late child was missed")
        }
      }
    }

    @Test("G2, F3: a child that is added, against the end of the last one, and cancelled")
    func addAndCancelAgainstGroupFinish() throws {
      _ = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let first = Plain(finishesItself: false)
        let group = GroupProcedure(first)
        queue.add(group)
        scheduler.run()
        first.finish()
        let late = Plain(finishesItself: false)
        let accepted = PlainLog<Bool>()
        return .init(
          threads: [{ scheduler.run() }, { accepted.events.append(group.add(child: late)) }]
        ) {
          if accepted.events[0] { late.cancel() }
          scheduler.run()
          try require(group.isFinished, "the group did not finish")
          try require(late.isCancelled, "not ended")
          if accepted.events[0] { try checkLife(late) }
        }
      }
    }

    @Test("Q2: a dependency added against the start on a serial queue holds no slot")
    func dependencyAgainstStart() throws {
      _ = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
        let (procedure, dependency, blocker) = (Plain(), Plain(), Plain())
        procedure.add(dependency: blocker)
        return .init(
          threads: [
            {
              queue.add(procedure)
              scheduler.run()
            },
            {
              procedure.add(dependency: dependency)
              procedure.remove(dependency: blocker)
            },
          ]
        ) {
          queue.add(dependency)
          scheduler.run()
          try checkLife(dependency)
          try checkLife(procedure)
        }
      }
    }

    @Test("Q3: add and suspend against a worker: nothing is lost")
    func suspendAgainstAdd() throws {
      _ = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
        let (first, second) = (Plain(), Plain())
        queue.add(first)
        return .init(
          threads: [
            { scheduler.run() }, { queue.add(second) },
            {
              queue.isSuspended = true
              queue.isSuspended = false
            },
          ]
        ) {
          scheduler.run()
          try checkLife(first)
          try checkLife(second)
        }
      }
    }
  }
#endif
