internal import ProcedurePrimitives

/// How a worker continues after a turn.
enum WorkerNext: Sendable {
  /// It takes another job: nothing is left to do for now, or the turn continues elsewhere.
  case anotherJob
  /// It runs the first step of the task that the procedure has made.
  case firstStep(ProcedureTask)
  /// It runs the children of the group that has begun, for which no other worker was requested.
  case children(ProcedureList)
  /// It removes the procedure, which has finished, from the list, and then resumes the waiters.
  case retire([FinishWaiter]?)

  /// Takes out the task whose first step is due.
  @inline(__always)
  mutating func takeTask() -> ProcedureTask? {
    guard case .firstStep(let task) = self else { return nil }
    self = .anotherJob
    return task
  }
}

extension Procedure {
  /// Runs steps on this thread until nothing is left to do, or until the turn must wait.
  ///
  /// A turn that was requested before the procedure was on a queue moves there once it is.
  ///
  /// - Parameters:
  ///   - kind: whether the worker just took it from the ready list. Otherwise the worker holds the
  ///     turn.
  ///   - worker: the calling worker.
  ///   - detail: `none` before and after. It is the worker's: most turns need none, and one of
  ///     their own would have to be destroyed.
  final func runTurn(
    _ kind: JobKind, on worker: Worker, _ detail: inout StepDetail
  ) -> WorkerNext {
    // 1. The machine decides whether the turn may begin, and names the first step.
    guard var next = beginTurn(kind, on: worker, &detail) else { return .anotherJob }
    var following = WorkerNext.anotherJob
    while true {
      // 2. The step is taken without a lock: most steps call user code.
      var isDecided = false
      switch next {
      case .idle, .waitForPendingEvents, .waitForGroup:
        // A turn that moves is still held: a worker of its list continues it.
        if case .movesTo(let list) = detail {
          detail = .none
          requestTurn(in: list)
        }
        return following
      case .announceChildren:
        asGroup?.announceChildren()
      case .execute:
        execute()
        switch begun {
        case .anotherJob, .retire: break
        // The body is no part of the turn (T1): the worker runs its first step afterwards.
        case .firstStep(let task): following = .firstStep(task)
        case .children(let list):
          guard let step = stepAfterBeginning(list, on: worker, &detail) else {
            return .children(list)
          }
          next = step
          continue
        }
      case .handOver:
        carryOutHandOvers(onWorkerOf: worker.list)
      case .evaluateConditions:
        evaluateConditions(onWorkerOf: worker.list)
      case .event(let event):
        // The override comes first, and once: it was called before an event was suspended.
        if !detail.wasPutAside { callOverride(of: event) }
        // Then the observers and the delegate. An observer that is called elsewhere continues the
        // turn when it returns, perhaps on another thread: nothing of the turn is touched here.
        if detail.isObserved || worker.list?.hasDelegate == true {
          guard deliver(event, &detail, on: worker.list) else { return following }
        }
      case .settleChildren:
        asGroup?.settleChildren()
      case .askGroup:
        isDecided = askGroup(on: worker)
      case .decideForChildren:
        asGroup?.decideForChildren()
      case .retire:
        workDidEnter(.over)
        // It was finished in the turn in which its task was made: the caller does not run a step
        // for a procedure that has ended.
        following.takeTask()?.submitFirstStep(on: worker.context)
        // Usually it leaves nothing behind.
        if case .none = detail { return .retire(nil) }
        let end = exchange(&detail, with: .none)
        guard case .end(var leaving) = consume end else { return .retire(nil) }
        leaving.record?.publish(named: text(for: .name))
        return .retire(leave(&leaving, on: worker))
      }
      // 3. One critical section ends the step and names the next one.
      next = withCore { core in
        if isDecided { _ = core.life.post(.parentDecided) }
        return core.goOn(with: self, on: worker, &detail)
      }
    }
  }

  /// Calls the method that a subclass may have overridden. The other events have none.
  @inline(__always)
  private func callOverride(of event: ProcedureEvents) {
    switch event {
    case .didCancel:
      abandonConditions()
      workDidEnter(.cancelled)
      procedureDidCancel(withErrors: cancelErrors)
    case .willFinish:
      withErrors { procedureWillFinish(withErrors: $0) }
    case .didFinish:
      withErrors { procedureDidFinish(withErrors: $0) }
    default:
      break
    }
  }

  /// Calls `body` with the errors, without counting a reference if there are none.
  @inline(__always)
  private func withErrors(_ body: ([any Error]) -> Void) {
    // Not through `errors`, which notes that a caller has read them.
    if failed { body(peek { $0.errors }) } else { body([]) }
  }

  /// Nil if another holder has the turn and will see to the start.
  @inline(never)
  private func beginTurn(
    _ kind: JobKind, on worker: Worker, _ detail: inout StepDetail
  ) -> Life.Step? {
    var comesTooLate = false
    let next: Life.Step? = withCore { core in
      // 1. A token may read cancelled before its cancel has come here. No thread that has seen the
      //    token may see the procedure begin.
      core.markIfTokenIsCancelled(for: self)
      // 2. A worker that comes for an earlier attempt, or while another thread holds the turn,
      //    has nothing to do.
      switch kind {
      case .turn: break
      case .evaluate(let attempt):
        if core.life.post(.evaluate(attempt: attempt)) == .none { return nil }
      case .start(let attempt):
        comesTooLate = !core.life.mayStart
        if core.life.post(.start(attempt: attempt)) == .none { return nil }
      }
      // 3. A suspended event continues with its remaining observers, unless the turn moves.
      if !core.attachments.isEmpty, core.listElsewhere(than: worker) == nil,
        let delivery = core.deferred?.value.suspendedDelivery.take()
      {
        _ = core.life.post(.beginTurn)
        detail = .delivery(delivery)
        return .event(delivery.event)
      }
      // 4. Otherwise the turn begins with the machine's next step.
      return core.nextStep(on: worker, &detail)
    }
    // 5. A worker that came too late still has the slot. Giving it back takes the procedure's lock.
    if comesTooLate { surrenderSlot(of: kind) }
    return next
  }

  /// The last step: leaves its dependencies, and notifies its dependents.
  ///
  /// - Returns: the waiters for the procedure, to be notified when it has left its list.
  @inline(never)
  private func leave(_ leaving: inout Leaving, on worker: Worker) -> [FinishWaiter]? {
    leaving.attachments.forEach { $0.procedureDidLeave() }
    leaving.rows.release(on: worker)
    return leaving.attachments.existing(FinishWaiters.self)?.takeAll()
  }
}

extension Procedure {
  /// A group has executed, and this worker can continue with its children. If the rest of the turn
  /// runs user code, which may block, the children get another worker.
  ///
  /// - Returns: the next step of the turn; nil if it is over.
  @inline(never)
  final func stepAfterBeginning(
    _ children: ProcedureList, on worker: Worker, _ detail: inout StepDetail
  ) -> Life.Step? {
    // 1. Usually a group has nothing to do after `execute()` but to let its children end it, which
    //    runs no user code.
    var next = withCore { $0.nextStep(on: worker, &detail) }
    if next == .settleChildren {
      asGroup?.settleChildren()
      next = withCore { $0.nextStep(on: worker, &detail) }
    }
    // 2. Then the turn is over, and this worker goes on with the children.
    if next == .idle, case .none = detail { return nil }
    // 3. Otherwise they get the worker that this one has left out.
    Worker.submit(for: children)
    return next
  }
}

/// The parts that a step needs besides itself. Small, since several are made in each life.
enum StepDetail: Sendable {
  case none
  /// The list where the turn continues: it is still held.
  case movesTo(ProcedureList)
  /// The observers that receive the event.
  case delivery(ObserverDelivery)
  /// The references to release at the last step.
  case end(Leaving)

  /// Whether observers receive the event.
  var isObserved: Bool {
    @inline(__always) get { if case .delivery = self { true } else { false } }
  }

  /// Whether the event was suspended after its override had been called.
  var wasPutAside: Bool {
    @inline(__always) get {
      if case .delivery(let delivery) = self { delivery.wasPutAside } else { false }
    }
  }
}

extension ProcedureCore {
  /// Advances the machine, and collects the details of the step, in one critical section.
  @inline(__always)
  mutating func nextStep(
    on worker: Worker, _ detail: inout StepDetail
  ) -> Life.Step {
    // 1. A turn that began on no queue continues on the queue that the procedure is on now.
    if worker.context.isDetached, let list = listElsewhere(than: worker) {
      _ = life.post(.turnGoesOn)
      detail = .movesTo(list)
      return .idle
    }
    // 2. The observers of the previous step have returned, which the record notes.
    if isObserved { noteObserversReturned() }
    // 3. The machine names the step. Its details are taken in the same critical section, so that
    //    an observer that is added after it belongs to a later step.
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
      .announceChildren, .execute, .settleChildren, .askGroup, .decideForChildren:
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

  /// The list that the turn moves to, if this worker serves no queue, and the procedure has become
  /// a member of a list since, or its list is on a queue now.
  func listElsewhere(than worker: Worker) -> ProcedureList? {
    guard worker.context.isDetached, let list, list !== worker.list || list.isOnQueue
    else { return nil }
    return list
  }
}

/// Everything that a procedure gives up at its last step.
struct Leaving: Sendable {
  let attachments: Attachments
  var rows: DependencyRows
  let record: ProcedureRecord?

  var isEmpty: Bool { attachments.isEmpty && rows.isEmpty && record == nil }
}

extension ProcedureCore {
  /// The last step: takes out the references to release.
  @inline(never)
  mutating func leave(_ detail: inout StepDetail) {
    // 1. Before it leaves the list: its group, which reports the cause if this one did not succeed,
    //    and its record, which that list's lock may guard.
    let origin = isMember && (life.isCancelled || life.isFailed) ? groupReference : nil
    let record = endRecord()
    leaveList()
    // 2. Its dependents observe how it ended.
    if !dependents.isEmpty { markObserved() }
    // 3. References are only taken out here, and released without the lock: they may be the last
    //    ones to the user's objects.
    let leaving = Leaving(
      attachments: attachments.takeLeaving(), rows: takeRows(), record: record)
    if !leaving.isEmpty { detail = .end(leaving) }
    if let origin { attachments.with(EndDetails.self) { $0.value.origin = origin } }
  }
}

/// A child asks its group, before it finishes, which of its errors the group takes over.
extension Procedure {
  /// - Returns: whether the group has decided. If not, it posts `.parentDecided` when it has.
  private func askGroup(on worker: Worker) -> Bool {
    let isDecided = worker.list?.withGroup(on: worker.context) { group in
      // 1. Usually the group decides on this worker.
      if group.decideInline(self, on: worker.context) { return true }
      // 2. Otherwise it decides in its next turn.
      group.note { core in
        core.attachments.with(TurnWork.self) { $0.value.undecidedChildren.append(self) }
        return core.life.post(.childAsks)
      }
      return false
    }
    return isDecided ?? true
  }
}

extension ProcedureCore {
  /// Whether the turns of this group run on the context of a child that asks. Children run on the
  /// context of their group, once it is the context of a queue.
  @inline(__always)
  func runsTurns(on context: SchedulingContext) -> Bool {
    !context.isDetached || list?.isOnQueue != true
  }

  /// The next child that has asked. Nil if a cancel must be delivered first: the answers come after
  /// it.
  mutating func takeUndecidedChild() -> Procedure? {
    guard let deferred, !deferred.value.undecidedChildren.isEmpty else { return nil }
    guard life.cancel.isDue else { return deferred.value.undecidedChildren.popFirst() }
    _ = life.post(.childAsks)
    return nil
  }
}
