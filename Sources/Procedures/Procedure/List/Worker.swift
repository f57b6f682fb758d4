internal import Dispatch
internal import ProcedurePrimitives

/// One block on the scheduler of a context: it takes ready procedures and pending turns of a list one after
/// another, until there are none or its stretch is over.
///
/// When it takes one and leaves others behind, another worker is asked for before user code runs. So a
/// blocking procedure never keeps the rest waiting, and a burst of small ones costs a few blocks, not
/// thousands.
struct Worker {
  /// Whose members it runs.
  let list: ProcedureList
  /// What it was submitted on, and runs nothing of another one.
  let context: SchedulingContext

  /// Asks for a worker that looks for something to do.
  static func submit(for list: ProcedureList, on context: SchedulingContext) {
    if list.fixedContext === context {
      // The closure captures the list alone, so it needs no memory of its own.
      context.scheduler.submit(quality: nil) { begin(for: list) }
    } else {
      context.scheduler.submit(quality: nil) { Worker(list: list, context: context).begin() }
    }
    if context.mayLackWorkers { context.supervisor.noteWait(in: list) }
  }

  private static func begin(for list: ProcedureList) {
    list.withFixedContext { Worker(list: list, context: $0).begin() }
  }

  private func begin() {
    if let first = list.takeFirst(on: context) { run(first, for: context.stretch) }
  }

  /// A procedure with a quality of its own gets a worker of that quality.
  private func handOver(_ job: Job, to quality: DispatchQoS.QoSClass) {
    context.scheduler.submit(quality: quality) {
      run(job, for: WorkerStretch(procedures: 1), isHandedOver: true)
    }
  }

  /// Runs `first` and then whatever else there is, on this thread.
  func run(
    _ first: Job, for stretch: WorkerStretch, isHandedOver: Bool = false
  ) {
    var stretch = stretch
    var following = drain(from: first, &stretch, isHandedOver: isHandedOver)
    while let next = following { following = goOn(with: next, &stretch) }
  }

  /// Runs `first` and then whatever else there is in the list.
  ///
  /// - Returns: where the worker goes on.
  func drain(
    from first: Job, _ stretch: inout WorkerStretch,
    isHandedOver: Bool = false
  ) -> Continuation? {
    var next: Job? = first
    var isHandedOver = isHandedOver
    while let job = next {
      if let quality = job.quality, !isHandedOver {
        handOver(job, to: quality)
        next = list.take(on: context)
        continue
      }
      isHandedOver = false
      var end = job.member.with { $0.runTurn(job.kind, on: self) }
      if case .idle(begins: .task(let task)?) = end { end = begin(task, of: job.member, &stretch) }
      switch consume end {
      case .idle(begins: .children(let children)?):
        stretch.advance()
        // This worker goes: the rest of this list gets another one.
        _ = list.take(on: context, after: job, isLast: true)
        return .children(children)
      case .idle:
        stretch.advance()
        // What was evaluated may be ready now, and no other worker was asked for on its behalf.
        next = list.take(on: context, after: job, isLast: stretch.isOver)
      case .retired(let waiters):
        stretch.advance()
        if job.member.with({ $0.failed }), job.member.isOwnedOnce {
          // Before a wait for the whole queue is over, which may be the end of the program.
          job.member.with { $0.reportUnheard() }
        }
        let finishedGroup: Procedure?
        (next, finishedGroup) = list.retire(job.member, on: context, takesNext: !stretch.isOver)
        if let waiters { Self.resume(waiters) }
        job.member.release()
        if let finishedGroup { return .turn(of: finishedGroup) }
      }
    }
    return nil
  }

  @inline(never)
  private static func resume(_ waiters: [FinishWaiter]) {
    for waiter in waiters { waiter.resume() }
  }

  /// The turn is over in which the procedure has made a task: runs its first step, and the turn in which
  /// the procedure finishes, if that step was all of it.
  @inline(never)
  private func begin(
    _ task: ProcedureTask, of member: Member, _ stretch: inout WorkerStretch
  ) -> TurnEnd {
    stretch.advance()
    if stretch.isOver {
      task.submitFirstStep(on: context)
    } else if task.runFirstStep(on: context) {
      return member.with { $0.runTurn(.turn, on: self) }
    }
    return .idle()
  }
}

extension Worker {
  /// Goes on with a turn that is held for the caller, and then with whatever else there is.
  func goOn(withTurnOf procedure: Procedure) {
    var stretch = context.stretch
    stretch.advance()
    guard list.context === context, !stretch.isOver else { return list.requestTurn(of: procedure) }
    run(.turn(of: procedure), for: stretch)
  }

  /// A worker's continuation in another list.
  enum Continuation {
    /// The turn of a group whose last child this was: it is held for the worker.
    case turn(of: Procedure)
    /// The children of a group that has begun, who wait for it.
    case children(ProcedureList)
  }

  /// Runs that, and then whatever else there is in that list, unless the stretch is over.
  func goOn(with next: Continuation, _ stretch: inout WorkerStretch) -> Continuation? {
    switch next {
    case .turn(let group):
      let list = group.listForTurns
      if list.context === context, !stretch.isOver {
        return Worker(list: list, context: context).drain(from: .turn(of: group), &stretch)
      }
      list.requestTurn(of: group)
    case .children(let list):
      let listContext = list.contextNow
      if listContext !== context || stretch.isOver {
        Self.submit(for: list, on: listContext)
      } else if let first = list.takeFirst(on: context) {
        return Worker(list: list, context: context).drain(from: first, &stretch)
      }
    }
    return nil
  }
}
