import Dispatch
import ProcedureTestSupport
import Procedures
import Testing

/// Every public call of a procedure at every moment, also the wrong ones: each has a defined
/// answer, and the procedure finishes exactly once all the same.
@Suite(.hangLimit) struct WrongMomentTests {
  enum Moment: String, CaseIterable, Codable, Sendable {
    case initialized, pending, willExecute, execute, executing, didCancelPending
    case didCancelExecuting, willFinish, didFinish, finished
  }

  enum Call: String, CaseIterable, Sendable {
    case cancel, cancelTwice, cancelWhenTokenIs, finish, finishTwice, produce, addObserver
    case removeDependency, readToken, setNameAndPriority, addTimeout
  }

  /// Calls something at one moment of its life, and then lives on.
  private final class Subject: Procedure, @unchecked Sendable {
    let moment: Moment
    let call: @Sendable (Subject) -> Bool
    private(set) var answer: Bool?
    private(set) var finishes = 0

    init(_ moment: Moment, _ call: @escaping @Sendable (Subject) -> Bool) {
      self.moment = moment
      self.call = call
      super.init()
      addWillExecuteBlockObserver { [unowned self] _, _ in reach(.willExecute) }
      addWillFinishBlockObserver { [unowned self] _, _, _ in reach(.willFinish) }
    }

    func reach(_ reached: Moment) {
      if reached == moment { answer = call(self) }
    }

    override func execute() { reach(.execute) }

    override func procedureDidCancel(withErrors errors: [any Error]) {
      reach(isExecuting ? .didCancelExecuting : .didCancelPending)
      if isExecuting { finish() }
    }

    override func procedureDidFinish(withErrors errors: [any Error]) {
      finishes += 1
      reach(.didFinish)
    }

    /// The whole life, on a scheduler that does nothing by itself.
    func live() {
      let scheduler = ManualScheduler()
      let surroundings = DetachedSurroundings(scheduler: scheduler, clock: .continuous)
      surroundings.replacingDispatch {
        let queue = ProcedureQueue(scheduler: scheduler)
        reach(.initialized)
        queue.isSuspended = true
        queue.add(self)
        reach(.pending)
        if moment == .didCancelPending { cancel() }
        scheduler.run()
        queue.isSuspended = false
        scheduler.run()
        reach(.executing)
        if moment == .didCancelExecuting { cancel() }
        scheduler.run()
        finish()
        scheduler.run()
        reach(.finished)
        scheduler.run()
      }
    }
  }

  /// What each call answers at each moment: true if it counts.
  private func expected(_ call: Call, _ moment: Moment) -> Bool {
    switch call {
    case .cancel, .cancelWhenTokenIs:
      moment <= .executing
    case .finish:
      // Refused before the start, unless it was cancelled.
      [.willExecute, .execute, .executing, .didCancelPending, .didCancelExecuting].contains(moment)
    case .cancelTwice, .finishTwice:
      false
    case .produce:
      ![.initialized, .didFinish, .finished].contains(moment)
    case .addObserver, .removeDependency, .readToken, .setNameAndPriority, .addTimeout:
      true
    }
  }

  private func perform(_ call: Call, on subject: Subject, told: Counter) -> Bool {
    switch call {
    case .cancel:
      return subject.cancel(withErrors: [TestError("late")])
    case .cancelTwice:
      subject.cancel()
      return subject.cancel(withErrors: [TestError("late")])
    case .cancelWhenTokenIs:
      let wasCancelled = subject.isCancelled
      let source = CancellationTokenSource()
      source.cancel()
      subject.cancel(when: source.token)
      return subject.isCancelled && !wasCancelled
    case .finish:
      return subject.finish()
    case .finishTwice:
      subject.finish()
      return subject.finish(withErrors: [TestError("late")])
    case .produce:
      return (try? subject.produce(TracedProcedure())) != nil
    case .addObserver:
      subject.addDidFinishBlockObserver { _, _ in told.increment() }
      return true
    case .removeDependency:
      subject.remove(dependency: TracedProcedure())
      return true
    case .readToken:
      return subject.cancellationToken.isCancelled == subject.isCancelled
    case .setNameAndPriority:
      subject.name = "renamed"
      subject.priority = .high
      subject.qualityOfService = .utility
      return subject.name == "renamed" && subject.priority == .high
    case .addTimeout:
      subject.timeout(after: .seconds(3_600))
      return true
    }
  }

  @Test(
    "every call at every moment counts or is ignored, and the procedure finishes once",
    arguments: Call.allCases, Moment.allCases)
  func table(call: Call, moment: Moment) {
    let told = Counter()
    let subject = Subject(moment) { perform(call, on: $0, told: told) }
    subject.live()
    #expect(subject.answer == expected(call, moment))
    #expect(subject.isFinished && subject.finishes == 1)
    if call == .addObserver { #expect(told.value == 1, "O1: told once, also late") }
  }

  @Test(
    "S3: a dependency or a condition added since the start traps",
    arguments: [Moment.willExecute, .executing, .willFinish, .didFinish, .finished])
  func prerequisites(moment: Moment) async {
    await #expect(processExitsWith: .failure) { [moment] in
      Subject(moment) {
        $0.add(dependency: TracedProcedure()); return true
      }.live()
    }
    await #expect(processExitsWith: .failure) { [moment] in
      Subject(moment) {
        $0.add(condition: BlockCondition { true }); return true
      }.live()
    }
  }

  @Test("prerequisites may be added before the start, also to a cancelled procedure")
  func prerequisitesInTime() {
    for moment in [Moment.initialized, .pending, .didCancelPending] {
      let done = TracedProcedure()
      let scheduler = ManualScheduler()
      ProcedureQueue(scheduler: scheduler).add(done)
      scheduler.run()
      let subject = Subject(moment) { subject in
        subject.add(dependency: done)
        subject.add(condition: BlockCondition { true })
        return true
      }
      subject.live()
      #expect(subject.finishes == 1, "\(moment)")
    }
  }

  @Test("G2, G11: every call of a group at every moment has its answer", arguments: Moment.allCases)
  func groups(moment: Moment) {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    let first = TracedProcedure("first", end: .whenToldOrCancelled)
    let group = GroupProcedure(first)
    let late = TracedProcedure("late")
    let answers = Recorder<Bool>()
    @Sendable func reach(_ reached: Moment) {
      guard reached == moment else { return }
      #expect(!group.finish(), "G11")
      group.isSuspended = true
      group.isSuspended = false
      group.maxConcurrentChildCount = 1
      answers.note(group.add(child: late))
    }
    group.addWillExecuteBlockObserver { _, _ in reach(.willExecute) }
    group.addDidExecuteBlockObserver { _ in reach(.execute) }
    group.addDidCancelBlockObserver { group, _ in
      reach(group.isExecuting ? .didCancelExecuting : .didCancelPending)
    }
    group.addWillFinishBlockObserver { _, _, _ in reach(.willFinish) }
    group.addDidFinishBlockObserver { _, _ in reach(.didFinish) }
    reach(.initialized)
    queue.isSuspended = true
    queue.add(group)
    reach(.pending)
    if moment == .didCancelPending { group.cancel() }
    queue.isSuspended = false
    scheduler.run()
    reach(.executing)
    if moment == .didCancelExecuting { group.cancel() }
    scheduler.run()
    first.finish()
    scheduler.run()
    reach(.finished)
    scheduler.run()
    let accepts = moment < .willFinish
    #expect(answers.events == [accepts] && group.isFinished && late.isFinished)
    #expect(late.isCancelled == !(moment <= .executing))
  }

  @Test("every call of a queue may come twice, and from inside a procedure of it")
  func queues() {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    let added = TracedProcedure("added")
    let procedure = BlockProcedure { procedure in
      queue.isSuspended = true
      queue.isSuspended = true
      queue.maxConcurrentProcedureCount = 1
      queue.add(added)
      queue.cancelAll()
      queue.cancelAll()
      queue.isSuspended = false
    }
    queue.add(procedure)
    scheduler.run()
    queue.cancelAll()
    queue.blockUntilAllFinished()
    #expect(procedure.isCancelled && added.isCancelled && added.isFinished && queue.count == 0)
  }
}

extension WrongMomentTests.Moment: Comparable {
  static func < (left: Self, right: Self) -> Bool {
    allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
  }
}
