internal import ProcedurePrimitives

/// How a turn ended.
enum TurnEnd: Sendable {
  /// Nothing is left to do for now, or the turn goes on elsewhere.
  ///
  /// - Parameter begins: what the procedure has begun in the turn, for the worker to go on with.
  case idle(begins: Begun? = nil)
  /// The procedure has finished.
  case retired(waiters: [FinishWaiter]?)

  /// Takes out the task that the procedure has begun.
  @inline(__always)
  mutating func takeTask() -> ProcedureTask? {
    guard case .idle(begins: .task(let task)?) = self else { return nil }
    self = .idle()
    return task
  }
}

extension Procedure {
  /// Runs steps on this thread until nothing is left to do, or until the turn must wait.
  ///
  /// A turn that was asked for before the procedure was on a queue moves there once it is.
  ///
  /// - Parameters:
  ///   - kind: whether the worker just took it from the ready list. Otherwise the turn is held for it.
  ///   - worker: the worker that this is.
  ///   - detail: none, before and after. The worker's: most turns need none, and one of their own would be destroyed.
  final func runTurn(
    _ kind: JobKind, on worker: Worker, _ detail: inout StepDetail
  ) -> TurnEnd {
    guard var next = beginTurn(kind, on: worker, &detail) else { return .idle() }
    var begun: Begun?
    while true {
      var isHeard = false
      switch next {
      case .idle, .waitForPendingEvents, .waitForGroup:
        if case .movesTo(let list) = detail {
          detail = .none
          requestTurn(in: list)
        }
        return .idle(begins: begun.take())
      case .announceChildren:
        announceChildren()
      case .execute:
        execute()
        switch self.begun {
        case nil: break
        case .task(let task): begun = .task(task)
        case .children(let list):
          guard let following = stepAfterBeginning(list, on: worker, &detail) else {
            return .idle(begins: .children(list))
          }
          next = following
          continue
        }
      case .handOver:
        carryOutHandOvers(onWorkerOf: worker.list)
      case .evaluateConditions:
        evaluateConditions(onWorkerOf: worker.list)
      case .event(let event):
        // 1. The override, once: of an event that was put aside it has been called.
        if !detail.wasPutAside { callOverride(of: event) }
        // 2. Observers, and the delegate. One that is called elsewhere has the turn continued when it returns.
        if detail.isObserved || worker.list?.hasDelegate == true {
          guard deliver(event, &detail, on: worker.list) else { return .idle(begins: begun.take()) }
        }
      case .settleChildren:
        settleChildren()
      case .askGroup:
        isHeard = askGroup(on: worker)
      case .hearChildren:
        hearChildren()
      case .retire:
        releaseWork()
        if case .task(let task)? = begun { task.submitFirstStep(on: worker.context) }
        // Usually it leaves nothing behind.
        if case .none = detail { return .retired(waiters: nil) }
        let end = exchange(&detail, with: .none)
        guard case .end(var leaving) = consume end else { return .retired(waiters: nil) }
        leaving.record?.publish(named: derivedName)
        return .retired(waiters: leave(&leaving, on: worker))
      }
      next = withCore { core in
        if isHeard { _ = core.life.post(.heard) }
        return core.goOn(with: self, on: worker, &detail)
      }
    }
  }

  /// Calls what a subclass may have overridden. The other events have no override.
  @inline(__always)
  private func callOverride(of event: ProcedureEvents) {
    switch event {
    case .didCancel:
      abandonConditions()
      endBecauseOfCancel()
      procedureDidCancel(withErrors: cancelErrors)
    case .willFinish:
      withErrors { procedureWillFinish(withErrors: $0) }
    case .didFinish:
      withErrors { procedureDidFinish(withErrors: $0) }
    default:
      break
    }
  }

  /// The errors, without counting references to no errors.
  @inline(__always)
  private func withErrors(_ body: ([any Error]) -> Void) {
    // Not by `errors`, which is for those who want to know.
    if failed { body(peek { $0.errors }) } else { body([]) }
  }

  /// Nil if another holder has the turn and will see to the start.
  @inline(never)
  private func beginTurn(
    _ kind: JobKind, on worker: Worker, _ detail: inout StepDetail
  ) -> Life.Step? {
    var comesTooLate = false
    let next: Life.Step? = withCore { core in
      core.markIfTokenIsCancelled(for: self)
      switch kind {
      case .turn: break
      case .evaluate(let attempt):
        if core.life.post(.evaluate(attempt: attempt)) == .none { return nil }
      case .start(let attempt):
        comesTooLate = !core.life.mayStart
        if core.life.post(.start(attempt: attempt)) == .none { return nil }
      }
      // An event that was put aside goes on, unless the turn moves.
      if !core.attachments.isEmpty, core.listElsewhere(than: worker) == nil,
        let delivery = core.pending?.suspendedDelivery.take()
      {
        _ = core.life.post(.beginTurn)
        detail = .delivery(delivery)
        return .event(delivery.event)
      }
      return core.nextStep(on: worker, &detail)
    }
    if comesTooLate { surrenderSlot(of: kind) }
    return next
  }

  /// The last step: leaves its ties, and notifies dependents.
  ///
  /// - Returns: what waits for the procedure, to be notified when that has left its list.
  @inline(never)
  private func leave(_ leaving: inout Leaving, on worker: Worker) -> [FinishWaiter]? {
    leaving.attachments.forEach { $0.procedureDidLeave() }
    leaving.ties.release(on: worker)
    return leaving.attachments.existing(FinishWaiters.self)?.takeAll()
  }
}

/// Work that a procedure has begun in `execute()`, with which the worker goes on after the turn.
enum Begun: Sendable {
  /// A task, whose first step it is.
  case task(ProcedureTask)
  /// The children of a group, for whom no other worker was asked.
  case children(ProcedureList)
}

extension Procedure {
  /// A group has executed, and this worker can go on with its children, unless more of the turn runs user code, which
  /// may block: then they get another one.
  ///
  /// - Returns: the rest of the turn; nil if it is over.
  @inline(never)
  final func stepAfterBeginning(
    _ children: ProcedureList, on worker: Worker, _ detail: inout StepDetail
  ) -> Life.Step? {
    var next = withCore { $0.nextStep(on: worker, &detail) }
    if next == .settleChildren {
      settleChildren()
      next = withCore { $0.nextStep(on: worker, &detail) }
    }
    if next == .idle, case .none = detail { return nil }
    Worker.submit(for: children)
    return next
  }
}

/// The parts that a step needs besides itself. Small, since several are made in each life.
enum StepDetail: Sendable {
  case none
  /// Where the turn goes on: it is still held.
  case movesTo(ProcedureList)
  /// The observers that receive the event.
  case delivery(ObserverDelivery)
  /// At the last step.
  case end(Leaving)

  /// Whether observers receive the event.
  var isObserved: Bool {
    @inline(__always) get { if case .delivery = self { true } else { false } }
  }

  /// Whether the event was put aside, after its override had been called.
  var wasPutAside: Bool {
    @inline(__always) get {
      if case .delivery(let delivery) = self { delivery.wasPutAside } else { false }
    }
  }
}

extension ProcedureCore {
  /// Advances the machine, and gathers what the step needs, all in one critical section.
  @inline(__always)
  mutating func nextStep(
    on worker: Worker, _ detail: inout StepDetail
  ) -> Life.Step {
    if worker.context.isDetached, let list = listElsewhere(than: worker) {
      _ = life.post(.turnGoesOn)
      detail = .movesTo(list)
      return .idle
    }
    if isObserved { noteObserversReturned() }
    let step = life.next(wants: observers.wants)
    switch step {
    case .event(let event):
      if !observers.isEmpty {
        prepareDelivery(of: event, &detail)
        if isWatched, detail.isObserved { noteObservers(of: event) }
      }
    case .retire:
      leave(&detail)
    case .idle, .waitForPendingEvents, .waitForGroup, .handOver, .evaluateConditions,
      .announceChildren, .execute, .settleChildren, .askGroup, .hearChildren:
      break
    }
    return step
  }

  /// The next step, after user code has run in the turn of the procedure.
  @inline(__always)
  fileprivate mutating func goOn(
    with procedure: Procedure, on worker: Worker, _ detail: inout StepDetail
  ) -> Life.Step {
    markIfTokenIsCancelled(for: procedure)
    return nextStep(on: worker, &detail)
  }

  /// The list that its turn moves to, if this worker serves no queue, and it has become a member
  /// of a list since, or its list is on a queue now.
  func listElsewhere(than worker: Worker) -> ProcedureList? {
    guard worker.context.isDetached, let list, list !== worker.list || list.isOnQueue
    else { return nil }
    return list
  }
}

/// All that a procedure gives up at its last step.
struct Leaving: Sendable {
  let attachments: Attachments
  var ties: Ties
  /// Its record, if it is recorded.
  let record: ProcedureRecord?

  var isEmpty: Bool { attachments.isEmpty && ties.isEmpty && record == nil }
}

extension ProcedureCore {
  /// The last step: takes out the references to release.
  @inline(never)
  mutating func leave(_ detail: inout StepDetail) {
    // A procedure that asks why it did not succeed learns its group: that reports the cause.
    let origin = isMember && (life.isCancelled || life.isFailed) ? groupReference : nil
    let record = endRecord()
    leaveList()
    // Its dependents know how it ended.
    if !dependents.isEmpty { noteHearer() }
    let leaving = Leaving(
      attachments: attachments.takeLeaving(), ties: takeTies(), record: record)
    if !leaving.isEmpty { detail = .end(leaving) }
    if let origin { attachments.with(EndDetails.self) { $0.origin = origin } }
  }
}

/// A child asks its group, before it finishes, which of its errors the group takes over.
extension Procedure {
  /// - Returns: whether the group has decided. If not, it posts `.heard` when it has.
  private func askGroup(on worker: Worker) -> Bool {
    let isHeard = worker.list?.withGroup(on: worker.context) { group in
      // 1. On this worker, usually.
      if group.hearAtOnce(self, on: worker.context) { return true }
      // 2. In the group's next turn.
      group.note { core in
        core.attachments.with(TurnWork.self) { $0.unheard.append(self) }
        return core.life.post(.childAsks)
      }
      return false
    }
    return isHeard ?? true
  }
}

extension ProcedureCore {
  /// Whether the turns of this group run on the context of a child that asks. Children run on that of their group,
  /// once it is the context of a queue.
  @inline(__always)
  func runsTurns(on context: SchedulingContext) -> Bool {
    !context.isDetached || list?.isOnQueue != true
  }

  /// The next child that has asked; nil also if a cancel is to be delivered first: the answers come after that.
  mutating func takeUnheardChild() -> Procedure? {
    guard let pending, !pending.unheard.isEmpty else { return nil }
    guard life.cancel.isDue else { return pending.unheard.popFirst() }
    _ = life.post(.childAsks)
    return nil
  }
}
