#if MODEL
  import Cancellation
  import Procedures
  import ProcedureTestSupport
  import Testing

  /// The life of one procedure, whose queue's worker is one of the threads.
  @Suite(.serialized, .hangLimit) struct ProcedureModelTests {
    @Test("C5, F3: a procedure finishes once when it is cancelled against its start and finish")
    func cancelAgainstStart() throws {
      try explore(onQueue: { model in
        let procedure = PlainProcedure()
        model.queue.add(procedure)
        let wins = PlainCounter()
        let cancel: @Sendable () -> Void = {
          if procedure.cancel(withErrors: []) { wins.value += 1 }
        }
        return model.scenario(threads: [cancel, cancel]) {
          try procedure.checkLife()
          try require(wins.value == (procedure.isCancelled ? 1 : 0), "\(wins.value) cancels won")
        }
      })
    }

    @Test("C5, F1: one of a cancel and two finishes wins while a procedure executes")
    func cancelAgainstFinish() throws {
      try explore(onQueue: { model in
        let procedure = PlainProcedure.lasting()
        model.start(procedure)
        let wins = PlainCounter()
        let finish: @Sendable () -> Void = { if procedure.finish() { wins.value += 1 } }
        return model.scenario(threads: [{ procedure.cancel() }, finish, finish]) {
          try procedure.checkLife()
          try require(wins.value <= 1, "\(wins.value) finishes won")
          try require(wins.value == 1 || procedure.isCancelled, "no thread finished it")
        }
      })
    }

    @Test("F3: a procedure finishes when its finish handle is dropped against a cancel")
    func releasedHandle() throws {
      try exploreInFull(onQueue: { model in
        let handle = PlainLog<FinishHandle<Void>>()
        let procedure = AsyncProcedure(.callback) { finish in handle.events.append(finish) }
        model.start(procedure)
        return model.scenario(threads: [{ procedure.cancel() }, { handle.events.removeAll() }]) {
          try require(procedure.isFinished, "not finished")
          let codes = procedure.errors.map { ($0 as? ProcedureError)?.code }
          // Released before the cancel, it may also have ended before.
          let expected = procedure.isCancelled ? [] : [ProcedureError.Code.finishDropped]
          try require(codes == expected, "\(procedure.errors)")
        }
      })
    }

    @Test(
      "C1, K12: a token that is first used against a cancel and a finish fires if the cancel won")
    func tokenAgainstCancel() throws {
      try explore(onQueue: { model in
        let procedure = PlainProcedure.lasting()
        model.start(procedure)
        let calls = PlainCounter()
        return model.scenario(threads: [
          { procedure.cancel() }, { procedure.finish() },
          { procedure.cancellationToken.onCancel { calls.value += 1 } },
        ]) {
          try procedure.checkLife()
          try require(calls.value == (procedure.isCancelled ? 1 : 0), "fired \(calls.value) times")
        }
      })
    }

    @Test("K12: a procedure that joins a token against the token's cancel, and finishes, leaves it")
    func cancelWhen() throws {
      try explore(onQueue: { model in
        let procedure = PlainProcedure.lasting()
        model.start(procedure)
        let source = CancellationTokenSource()
        return model.scenario(threads: [
          { source.cancel() }, { procedure.cancel(when: source.token) },
        ]) {
          try require(procedure.isCancelled, "the token's cancel was missed")
          try procedure.checkLife()
        }
      })
    }

    // MARK: Observers

    @Test("O1: an observer against cancel and finish is called for the cancel exactly once")
    func observerAgainstCancel() throws {
      try explore(onQueue: { model in
        let procedure = PlainProcedure.lasting()
        model.start(procedure)
        let calls = PlainCounter()
        return model.scenario(threads: [
          { procedure.finish() },
          { procedure.addDidCancelBlockObserver { _, _ in calls.value += 1 } },
          { procedure.cancel() },
        ]) {
          try procedure.checkLife()
          try require(calls.value == (procedure.isCancelled ? 1 : 0), "called \(calls.value) times")
        }
      })
    }

    @Test("O1: two observers against the finish are called for it exactly once each")
    func observersAgainstFinish() throws {
      try explore(onQueue: { model in
        let procedure = PlainProcedure.lasting()
        model.start(procedure)
        let calls = PlainCounter()
        let observe: @Sendable () -> Void = {
          procedure.addDidFinishBlockObserver { _, _ in calls.value += 1 }
        }
        return model.scenario(threads: [{ procedure.finish() }, observe, observe]) {
          try procedure.checkLife()
          try require(calls.value == 2, "called \(calls.value) times")
        }
      })
    }

    @Test("O1: an observer that is removed against the finish is called or not, and is released")
    func removalAgainstFinish() throws {
      try exploreInFull(onQueue: { model in
        let procedure = PlainProcedure.lasting()
        model.start(procedure)
        let (calls, removals, released) = (PlainCounter(), PlainCounter(), PlainCounter())
        let registration = observe(procedure, calls, noting: released)
        return model.scenario(threads: [
          { procedure.finish() },
          { if registration.remove() { removals.value += 1 } },
        ]) {
          try procedure.checkLife()
          // Both, if it was taken off while it was told.
          try require(calls.value <= 1, "called \(calls.value) times")
          try require(calls.value + removals.value >= 1, "neither called nor removed")
          try require(released.value == 1, "released \(released.value) times")
        }
      })
    }

    @Test("O3: a held execute event may be released against a cancel")
    func heldExecuteAgainstCancel() throws {
      try exploreInFull(onQueue: { model in
        let procedure = PlainProcedure()
        let held = PlainLog<PendingEvent>()
        procedure.addWillExecuteBlockObserver { _, event in held.events.append(event) }
        model.start(procedure)
        return model.scenario(threads: [{ held.events = [] }, { procedure.cancel() }]) {
          try procedure.checkLife()
        }
      })
    }

    @Test("O3: a held finish event may be released against a cancel and a new observer")
    func heldFinishAgainstCancel() throws {
      try exploreInFull(onQueue: { model in
        let procedure = PlainProcedure()
        let held = PlainLog<PendingEvent>()
        procedure.addWillFinishBlockObserver { _, _, event in held.events.append(event) }
        model.start(procedure)
        let calls = PlainCounter()
        return model.scenario(threads: [
          { held.events = [] }, { procedure.cancel() },
          { procedure.addDidFinishBlockObserver { _, _ in calls.value += 1 } },
        ]) {
          try procedure.checkLife()
          try require(!procedure.isCancelled, "cancelled after willFinish")
          try require(calls.value == 1, "called \(calls.value) times")
        }
      })
    }

    private func observe(
      _ procedure: Procedure, _ calls: PlainCounter, noting released: PlainCounter
    ) -> ObserverRegistration {
      let tracker = Tracker { released.value += 1 }
      return procedure.addDidFinishBlockObserver { _, _ in
        withExtendedLifetime(tracker) { calls.value += 1 }
      }
    }
  }
#endif
