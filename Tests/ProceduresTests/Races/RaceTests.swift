import Procedures
import ProcedureTestSupport
import Testing

/// Each race some hundreds of times; with STRESS set, thousands.
@Suite(.hangLimit) struct RaceTests {
  /// ```
  /// thread 1            thread 2
  /// cancel              finish
  ///   mark                accept      one of the two comes first, and the other is late
  ///   post
  /// ```
  @Test("C5, F1: either a cancel or a finish wins, and didCancel never comes after willFinish")
  func cancelAgainstFinish() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let trace = Recorder<String>()
      let results = Recorder<String>()
      let procedure = TracedProcedure(trace: trace, end: .whenToldOrCancelled)
      let executing = Gate()
      procedure.addDidExecuteBlockObserver { _ in executing.open() }
      queue.add(procedure)
      await executing.wait()
      await race(
        { if procedure.cancel(withErrors: [TestError("c")]) { results.note("cancelled") } },
        { if procedure.finish(withErrors: [TestError("f")]) { results.note("finished") } })
      let outcome = await procedure.waitUntilFinished()
      let events = trace.events
      if results.events.contains("cancelled") {
        #expect(outcome.isCancelled && outcome.errors.first as? TestError == TestError("c"))
        let didCancel = events.firstIndex(of: "p procedureDidCancel")
        #expect(didCancel != nil && didCancel! < events.firstIndex(of: "p procedureWillFinish")!)
      } else {
        #expect(outcome == .failed([TestError("f")]))
        #expect(results.events == ["finished"])
        #expect(!events.contains("p procedureDidCancel"))
      }
      #expect(events.filter { $0 == "p procedureDidFinish" }.count == 1)
    }
  }

  @Test("G2: a child that is added against the group's finish is waited for, or refused and ended")
  func addAgainstGroupFinish() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let first = TracedProcedure(end: .whenTold)
      let group = GroupProcedure(first)
      let executing = Gate()
      first.addDidExecuteBlockObserver { _ in executing.open() }
      queue.add(group)
      await executing.wait()
      let late = TracedProcedure("late")
      let accepted = Recorder<Bool>()
      group.addDidFinishBlockObserver { group, _ in
        #expect(group.children.allSatisfy { $0.isFinished })
      }
      await race({ accepted.note(group.add(child: late)) }, { first.finish() })
      _ = await group.waitUntilFinished()
      let outcome = await late.waitUntilFinished()
      #expect(group.children.contains(late) == accepted.events[0])
      #expect((outcome == .succeeded) == accepted.events[0])
    }
  }

  @Test("G5: a child that others can see reads pending, and in a cancelled group cancelled")
  func visibleChildren() {
    for _ in 0..<Rounds.few {
      let group = GroupProcedure()
      let added = Gate()
      let isCancelled = Gate()
      let children = (0..<20).map { _ in TracedProcedure() }
      raceOnThreads(
        {
          for (index, child) in children.enumerated() {
            if index == 10 {
              group.cancel()
              isCancelled.open()
            }
            group.add(child: child)
          }
          added.open()
        },
        {
          while !added.isOpen {
            let mustBeCancelled = isCancelled.isOpen
            for child in group.children {
              #expect(child.state >= .pending)
              #expect(!mustBeCancelled || child.isCancelled)
            }
          }
        })
    }
  }

  /// ```
  /// thread 1                    thread 2
  /// add a subtree                group.cancel()
  ///   member, marked               walks, if it is not passed by
  ///   its children are marked      tells of the group: all must be marked
  /// ```
  @Test(
    "G3: after cancelRemaining, a subtree that is being added is wholly marked before handlers run")
  func cancelAgainstSubtree() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few / 10 {
      let failing = TracedProcedure(failure: TestError("e"))
      let lasting = TracedProcedure(end: .whenTold)
      let group = GroupProcedure(failing, lasting)
      group.failurePolicy = .cancelRemaining
      queue.add(group)
      _ = await failing.waitUntilFinished()
      let leaves = (0..<2_000).map { _ in TracedProcedure() }
      let subtree = GroupProcedure(children: leaves)
      let late = Counter()
      group.cancellationToken.onCancel {
        guard group.children.contains(subtree) else { return }
        for leaf in leaves where !leaf.isCancelled { late.increment() }
      }
      await race({ group.add(child: subtree) }, { group.cancel() })
      #expect(late.value == 0)
      lasting.finish()
      _ = await group.waitUntilFinished()
    }
  }

  @Test(
    "G3, G5: everything ends cancelled when a group is cancelled while children are added and finish"
  )
  func cancelAgainstChildren() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let first = TracedProcedure(end: .whenToldOrCancelled)
      let inner = GroupProcedure(TracedProcedure(end: .whenToldOrCancelled))
      let group = GroupProcedure(first, inner)
      queue.add(group)
      let added = (0..<4).map { TracedProcedure("\($0)", end: .whenToldOrCancelled) }
      await race(
        { group.cancel(withError: TestError("stop")) },
        { for child in added.prefix(2) { group.add(child: child) } },
        { for child in added.suffix(2) { inner.add(child: child) } })
      _ = await group.waitUntilFinished()
      for procedure in added + [first, inner, group] {
        _ = await procedure.waitUntilFinished()
        #expect(procedure.isCancelled)
      }
    }
  }

  @Test("O1: an observer added against the finish hears of it exactly once")
  func observerAgainstFinish() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let procedure = TracedProcedure(end: .whenTold)
      let executing = Gate()
      procedure.addDidExecuteBlockObserver { _ in executing.open() }
      queue.add(procedure)
      await executing.wait()
      let (calls, told) = (Counter(), Gate())
      await race(
        { procedure.finish() },
        {
          procedure.addDidFinishBlockObserver { _, _ in
            calls.increment()
            told.open()
          }
        })
      await told.wait()
      _ = await procedure.waitUntilFinished()
      #expect(calls.value == 1)
    }
  }

  @Test("K3, K12: a handler registered against the cancel runs exactly once")
  func registerAgainstCancel() async {
    for _ in 0..<Rounds.few {
      let procedure = TracedProcedure()
      let calls = Counter()
      await race(
        { procedure.cancel() },
        { procedure.cancellationToken.onCancel { calls.increment() } })
      #expect(calls.value == 1)
      #expect(procedure.cancellationToken.isCancelled)
    }
  }

  @Test("K12: a cancel by cancel(when:) is never lost, and its place never leaked")
  func cancelWhenAgainstCancel() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let source = CancellationTokenSource()
      let procedure = TracedProcedure(end: .whenToldOrCancelled)
      queue.add(procedure)
      await race({ procedure.cancel(when: source.token) }, { source.cancel() })
      #expect(await procedure.waitUntilFinished() == .cancelled([]))
    }
  }

  @Test("C7, S1: a procedure that is cancelled against its enqueue finishes once, cancelled or not")
  func cancelAgainstEnqueue() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let trace = Recorder<String>()
      let procedure = TracedProcedure(trace: trace)
      await race({ queue.add(procedure) }, { procedure.cancel() })
      _ = await procedure.waitUntilFinished()
      #expect(trace.events.filter { $0 == "p procedureDidFinish" }.count == 1)
      #expect(
        procedure.isCancelled == trace.events.contains("p procedureDidCancel"))
    }
    await queue.waitUntilAllFinished()
  }

  @Test("a dependency may be added against its finish, and against a removal")
  func dependencyAgainstFinish() async {
    let queue = ProcedureQueue()
    let other = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let dependency = TracedProcedure("dependency")
      let removed = TracedProcedure("removed")
      let blocker = TracedProcedure("blocker", end: .whenTold)
      let executing = Gate()
      blocker.addDidExecuteBlockObserver { _ in executing.open() }
      let procedure = TracedProcedure("procedure")
      procedure.add(dependencies: [blocker, removed])
      queue.add(procedure)
      await race(
        { procedure.add(dependency: dependency) },
        { other.add(dependency, blocker, removed) },
        { procedure.remove(dependency: removed) })
      await executing.wait()
      #expect(procedure.isPending)
      blocker.finish()
      #expect(await procedure.waitUntilFinished() == .succeeded)
      #expect(dependency.isFinished && blocker.isFinished)
      _ = await removed.waitUntilFinished()
    }
  }

  @Test(
    "T3, Z3: a group that is added to another one against the enqueue has its queue's clock")
  func adoptionAgainstAdd() async {
    let clock = TestClock()
    let queue = ProcedureQueue(clock: clock.clock)
    for _ in 0..<Rounds.few {
      let holder = TracedProcedure("holder", end: .whenTold)
      let (inner, outer) = (GroupProcedure(), GroupProcedure(holder))
      let delay = DelayProcedure(by: .seconds(3_600))
      inner.add(child: delay)
      let executing = Gate()
      delay.addDidExecuteBlockObserver { _ in executing.open() }
      await race({ outer.add(child: inner) }, { queue.add(outer) })
      await executing.wait()
      #expect(clock.pendingCount == 1)
      clock.advance(by: .seconds(3_600))
      #expect(await eventually { holder.finish() })
      _ = await outer.waitUntilFinished()
    }
  }

  @Test("Q3: nothing is lost when a busy queue is suspended and resumed")
  func suspendAndResume() async {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 3)
    let finishes = Counter()
    await race(
      {
        for _ in 0..<Rounds.few {
          queue.isSuspended = true
          queue.maxConcurrentProcedureCount = .random(in: 1...4)
          queue.isSuspended = false
        }
      },
      {
        for index in 0..<(Rounds.few * 10) {
          let procedure = BlockProcedure {}
          procedure.addDidFinishBlockObserver { _, _ in finishes.increment() }
          queue.add(procedure)
          if index % 5 == 0 { procedure.cancel() }
        }
      })
    queue.isSuspended = false
    await queue.waitUntilAllFinished()
    #expect(finishes.value == Rounds.few * 10)
  }

  @Test(
    "O3: a procedure ends once when its pending event is released against a cancel")
  func pendingEventAgainstCancel() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let (kept, held) = (Recorder<PendingEvent>(), Gate())
      let procedure = TracedProcedure(end: .whenToldOrCancelled)
      procedure.addWillExecuteBlockObserver { _, pending in
        kept.note(pending)
        held.open()
      }
      queue.add(procedure)
      await held.wait()
      await race({ kept.events[0].release() }, { procedure.cancel() })
      #expect(await procedure.waitUntilFinished() == .cancelled([]))
    }
  }

  @Test("Z1: a delay ends once when it is cancelled against its timer")
  func delayAgainstCancel() async {
    let queue = ProcedureQueue()
    for index in 0..<Rounds.few {
      let delay = DelayProcedure(by: .microseconds(index % 300))
      let finishes = Counter()
      delay.addDidFinishBlockObserver { _, _ in finishes.increment() }
      queue.add(delay)
      await race({ delay.cancel() })
      _ = await delay.waitUntilFinished()
      #expect(finishes.value == 1)
    }
  }

  @Test("Q4: procedures that are added while the workers leave all execute")
  func dryQueue() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let batch = (0..<100).map { _ in BlockProcedure {} }
      await race { for procedure in batch { queue.add(procedure) } }
      await queue.waitUntilAllFinished()
      #expect(batch.allSatisfy { $0.isFinished })
    }
  }
}
