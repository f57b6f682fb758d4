import Procedures
import ProcedureTestSupport
import Testing

/// Every public call of a procedure from its own `deinit`: nothing traps, and nothing keeps it.
///
/// A turn would need the procedure, so none comes any more: no override and no observer is called.
/// What happens on the caller's thread happens: the flag, the token's handlers, the cancel of
/// children.
@Suite(.hangLimit) struct DeinitMomentTests {
  /// What happened to it before it was released.
  enum Life: CaseIterable, Sendable {
    case neverAdded, cancelledAndNeverAdded, finished, cancelledAndFinished
  }

  enum Call: CaseIterable, Sendable {
    case cancel, cancelWhenTokenIs, finish, produce, addObserver, addOtherObserver, removeObserver
    case prerequisites, readToken, readAndWrite
  }

  private final class Leaving: Procedure, @unchecked Sendable {
    let call: @Sendable (Leaving) -> Bool
    let answer: Recorder<Bool>
    let told: Counter
    let observer = Recorder<ObserverRegistration>()

    init(_ answer: Recorder<Bool>, _ told: Counter, _ call: @escaping @Sendable (Leaving) -> Bool) {
      (self.answer, self.told, self.call) = (answer, told, call)
      super.init()
    }

    override func execute() { finish() }
    override func procedureDidCancel(withErrors errors: [any Error]) { told.increment() }
    deinit { answer.note(call(self)) }
  }

  private func expected(_ call: Call, _ life: Life) -> Bool {
    switch call {
    case .cancel, .cancelWhenTokenIs, .prerequisites: life == .neverAdded
    // One that was cancelled takes the errors of a finish as long as it has not finished.
    case .finish: life == .cancelledAndNeverAdded
    case .produce: false
    case .removeObserver: life == .neverAdded || life == .cancelledAndNeverAdded
    case .addObserver, .addOtherObserver, .readToken, .readAndWrite: true
    }
  }

  private func perform(_ call: Call, on leaving: Leaving, _ told: Counter) -> Bool {
    switch call {
    case .cancel:
      let handled = Counter()
      leaving.cancellationToken.onCancel { handled.increment() }
      let isFirst = leaving.cancel(withErrors: [TestError("e")])
      leaving.cancel()
      return isFirst && leaving.isCancelled && handled.value == 1
    case .cancelWhenTokenIs:
      // A token cannot reach what is going: it is not cancelled by it, neither now nor later.
      let source = CancellationTokenSource()
      leaving.cancel(when: source.token)
      source.cancel()
      leaving.cancel(when: source.token)
      return leaving.isCancelled == false && !leaving.isFinished
    case .finish:
      return leaving.finish(withErrors: [TestError("e")])
    case .produce:
      return (try? leaving.produce(TracedProcedure())) != nil
    case .addObserver:
      leaving.addDidFinishBlockObserver { _, _ in told.increment() }
      leaving.addDidCancelBlockObserver { _, _ in told.increment() }
      return true
    case .addOtherObserver:
      leaving.add(observer: TraceObserver(trace: Recorder()))
      leaving.add(observer: TimeoutObserver(by: .seconds(1)))
      return true
    case .removeObserver:
      return leaving.observer.events.first!.remove()
    case .prerequisites:
      guard !leaving.isFinished else { return false }
      leaving.add(dependency: TracedProcedure())
      leaving.add(condition: BlockCondition { true })
      leaving.remove(dependency: TracedProcedure())
      return !leaving.isCancelled
    case .readToken:
      return leaving.cancellationToken.isCancelled == leaving.isCancelled
    case .readAndWrite:
      leaving.name = "leaving"
      leaving.priority = .high
      return leaving.description.contains("leaving") && leaving.state != .executing
        && leaving.errors.isEmpty
    }
  }

  @Test(
    "every call from deinit has its answer, and no turn comes after it", arguments: Call.allCases,
    Life.allCases)
  func table(call: Call, life: Life) {
    let scheduler = ManualScheduler()
    let surroundings = DetachedSurroundings(scheduler: scheduler, clock: .continuous)
    let (answer, told) = (Recorder<Bool>(), Counter())
    surroundings.replacingDispatch {
      do {
        let leaving = Leaving(answer, told) { perform(call, on: $0, told) }
        leaving.observer.note(leaving.addDidFinishBlockObserver { _, _ in })
        if life == .cancelledAndNeverAdded || life == .cancelledAndFinished { leaving.cancel() }
        scheduler.run()
        if life == .finished || life == .cancelledAndFinished {
          ProcedureQueue(scheduler: scheduler).add(leaving)
        }
        scheduler.run()
      }
      let before = told.value
      scheduler.run()
      #expect(told.value == before && answer.events == [expected(call, life)])
    }
  }

  private final class LeavingGroup: GroupProcedure, @unchecked Sendable {
    let answers: Recorder<Bool>
    init(_ answers: Recorder<Bool>, _ children: [Procedure]) {
      self.answers = answers
      super.init(children: children)
    }
    deinit {
      answers.note(finish())
      answers.note(cancel(withErrors: [TestError("e")]))
      answers.note(cancel(withErrors: []))
      answers.note(children.allSatisfy { $0.isCancelled })
      answers.note(add(child: TracedProcedure()))
      isSuspended = true
      addDidFinishBlockObserver { _, _ in }
    }
  }

  @Test(
    "G3: a group that was never added cancels its children from deinit, also those kept elsewhere")
  func group() {
    let scheduler = ManualScheduler()
    let surroundings = DetachedSurroundings(scheduler: scheduler, clock: .continuous)
    let answers = Recorder<Bool>()
    surroundings.replacingDispatch {
      let held = TracedProcedure("held")
      _ = LeavingGroup(answers, [TracedProcedure(), held, GroupProcedure(TracedProcedure())])
      scheduler.run()
      #expect(held.isCancelled && held.trace.events.first == "held procedureDidCancel")
    }
    #expect(answers.events == [false, true, false, true, true])
  }

  @Test("F3: turns that children of a group have pending when it is released are not lost")
  func pendingTurns() {
    let scheduler = ManualScheduler()
    let surroundings = DetachedSurroundings(scheduler: scheduler, clock: .continuous)
    let told = Counter()
    surroundings.replacingDispatch {
      let (cancelled, deep, late) = (TracedProcedure(), TracedProcedure(), TracedProcedure())
      late.cancel()
      scheduler.run()
      do {
        let group = GroupProcedure(cancelled, GroupProcedure(deep), late)
        scheduler.run()
        cancelled.cancel()
        deep.cancel()
        late.addDidCancelBlockObserver { _, _ in told.increment() }
        withExtendedLifetime(group) {}
      }
      scheduler.run()
      #expect(cancelled.isFinished && deep.isFinished && late.isFinished && told.value == 1)
    }
  }

  @Test("every call on a finished group from deinit is late")
  func finishedGroup() {
    let scheduler = ManualScheduler()
    let answers = Recorder<Bool>()
    ProcedureQueue(scheduler: scheduler).add(LeavingGroup(answers, [TracedProcedure()]))
    scheduler.run()
    #expect(answers.events == [false, false, false, false, false])
  }

  @Test("a child of a group that was never added ends, called from deinit")
  func child() {
    let scheduler = ManualScheduler()
    let surroundings = DetachedSurroundings(scheduler: scheduler, clock: .continuous)
    let (answer, told) = (Recorder<Bool>(), Counter())
    surroundings.replacingDispatch {
      _ = GroupProcedure(Leaving(answer, told) { $0.cancel(withErrors: []) })
      scheduler.run()
    }
    #expect(answer.events == [true] && told.value == 0)
  }

  private final class Returning: Procedure, @unchecked Sendable {
    let keep: @Sendable (Procedure) -> Void
    init(_ keep: @escaping @Sendable (Procedure) -> Void) { self.keep = keep }
    deinit { keep(self) }
  }

  /// Swift's own trap: the object is gone when its `deinit` returns, whatever holds it.
  @Test("a call from deinit that would keep the procedure stops the program")
  func resurrection() async {
    await #expect(processExitsWith: .failure) {
      let queue = ProcedureQueue()
      queue.isSuspended = true
      _ = Returning { queue.add($0) }
      // Optimised, it would go at its last use, and what it keeps with it.
      withExtendedLifetime(queue) {}
    }
  }
}
