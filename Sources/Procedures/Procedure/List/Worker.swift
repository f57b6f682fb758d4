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
  let list: ReadyList
  /// What it was submitted on, and runs nothing of another one.
  let context: SchedulingContext

  /// Asks for a worker that looks for something to do.
  static func submit(for list: ReadyList, on context: SchedulingContext) {
    if list.fixedContext === context {
      // The closure captures the list alone, so it needs no memory of its own.
      context.scheduler.submit(quality: nil) { begin(for: list) }
    } else {
      context.scheduler.submit(quality: nil) { Worker(list: list, context: context).begin() }
    }
    if context.mayLackWorkers { context.supervisor.noteWait(in: list) }
  }

  private static func begin(for list: ReadyList) {
    list.withFixedContext { Worker(list: list, context: $0).begin() }
  }

  private func begin() {
    if let first = list.takeFirst(on: context) { run(first, for: context.stretch) }
  }

  /// A procedure with a quality of its own gets a worker of that quality.
  private func handOver(_ job: Job<Procedure>, to quality: DispatchQoS.QoSClass) {
    context.scheduler.submit(quality: quality) {
      run(job, for: WorkerStretch(procedures: 1), isHandedOver: true)
    }
  }

  /// Runs `first` and then whatever else there is, on this thread.
  func run(
    _ first: Job<Procedure>, for stretch: WorkerStretch, isHandedOver: Bool = false
  ) {
    var stretch = stretch
    var following = drain(from: first, &stretch, isHandedOver: isHandedOver)
    while let next = following { following = goOn(with: next, &stretch) }
  }

  /// Runs `first` and then whatever else there is in the list.
  ///
  /// - Returns: where the worker goes on.
  func drain(
    from first: Job<Procedure>, _ stretch: inout WorkerStretch,
    isHandedOver: Bool = false
  ) -> Continuation? {
    var next: Job<Procedure>? = first
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
    _ task: ProcedureTask, of member: Member<Procedure>, _ stretch: inout WorkerStretch
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
