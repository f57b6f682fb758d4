internal import ProcedurePrimitives

/// How a turn ended.
enum TurnEnd: Sendable {
  /// Nothing is left to do for now, or the turn goes on elsewhere.
  ///
  /// - Parameter begins: what the procedure has begun in the turn, for the worker to go on with.
  case idle(begins: Begun? = nil)
  /// The procedure has finished.
  case retired(waiters: [FinishWaiter]?)
}

extension Procedure {
  /// Runs steps on this thread until nothing is left to do, or until the turn must wait.
  ///
  /// A turn that was asked for before the procedure was on a queue moves there once it is.
  ///
  /// - Parameters:
  ///   - kind: whether the worker just took it from the ready list. Otherwise the turn is held for it.
  ///   - worker: the worker that this is.
  final func runTurn(_ kind: JobKind, on worker: Worker) -> TurnEnd {
    var detail = NextStep.Detail.none
    guard var next = beginTurn(kind, on: worker, &detail) else { return .idle() }
    var begun: Begun?
    while true {
      switch next.step {
      case .idle, .waitForPendingEvents, .waitForGroup:
        if case .movesTo(let home) = detail { home.requestTurn(of: self) }
        return .idle(begins: begun)
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
        if detail.isObserved || worker.list.hasDelegate {
          guard deliver(event, &detail, on: worker.list) else { return .idle(begins: begun) }
        }
      case .settleChildren:
        settleChildren()
      case .askGroup:
        if askGroupAtOnce(on: worker) {
          wasHeard()
        } else {
          askGroupLater(on: worker)
        }
      case .hearChildren:
        hearChildren()
      case .retire:
        releaseWork()
        if case .task(let task)? = begun { task.submitFirstStep(on: worker.context) }
        guard case .end(var leaving) = consume detail else { return .retired(waiters: nil) }
        leaving.record?.publish(named: derivedName)
        return .retired(waiters: leave(&leaving, on: worker))
      }
      let isHeard = next.asksGroup && askGroupAtOnce(on: worker)
      next = update { core in
        if isHeard { _ = core.machine.post(.heardAtOnce) }
        core.heedTokens(for: self)
        return core.nextStep(on: worker, &detail)
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
    if failed { body(read { $0.errors }) } else { body([]) }
  }

  /// Nil if another holder has the turn and will see to the start.
  @inline(never)
  private func beginTurn(
    _ kind: JobKind, on worker: Worker, _ detail: inout NextStep.Detail
  ) -> NextStep? {
    var comesTooLate = false
    let next: NextStep? = update { core in
      core.heedTokens(for: self)
      switch kind {
      case .turn: break
      case .evaluate(let attempt):
        if core.machine.post(.evaluate(attempt: attempt)) == .none { return nil }
      case .start(let attempt):
        comesTooLate = !core.machine.mayStart
        if core.machine.post(.start(attempt: attempt)) == .none { return nil }
      }
      // An event that was put aside goes on, unless the turn moves.
      if !core.attachments.isEmpty, core.homeElsewhere(than: worker) == nil,
        let delivery = core.pending?.suspendedDelivery.take()
      {
        detail = .delivery(delivery)
        return NextStep(.event(delivery.event))
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
    leaving.dependencies.leave()
    // Before this procedure leaves its list: the worker takes its next job in the critical section in which this
    // leaves, and that may be one of them, in its order (Q1).
    leaving.dependents.settleAll(on: worker)
    return leaving.attachments.existing(FinishWaiters.self)?.takeAll()
  }
}
