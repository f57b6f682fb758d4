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
    context.scheduler.submit(quality: nil) {
      guard let first = list.takeFirst(on: context) else { return }
      Worker(list: list, context: context).run(first, for: context.scheduler.stretch)
    }
  }

  /// A procedure with a quality of its own gets a worker of that quality.
  private func handOver(_ job: ReadyListStateMachine.Job, to quality: DispatchQoS.QoSClass) {
    context.scheduler.submit(quality: quality) {
      run(job, for: WorkerStretch(procedures: 1), isHandedOver: true)
    }
  }

  /// Runs `first` and then whatever else there is, on this thread.
  private func run(
    _ first: ReadyListStateMachine.Job, for stretch: WorkerStretch, isHandedOver: Bool = false
  ) {
    var stretch = stretch
    var finishedGroup = drain(from: first, &stretch, isHandedOver: isHandedOver)
    // A group whose last child was run goes on here: its children's list has nothing else to do.
    while let group = finishedGroup {
      let list = group.listForTurns
      guard list.context === context, !stretch.isOver else { return list.requestTurn(of: group) }
      finishedGroup = Worker(list: list, context: context).drain(from: .turn(of: group), &stretch)
    }
  }

  /// Runs `first` and then whatever else there is in the list.
  ///
  /// - Returns: the group whose last child this was, if its turn is held for the caller.
  private func drain(
    from first: ReadyListStateMachine.Job, _ stretch: inout WorkerStretch,
    isHandedOver: Bool = false
  ) -> GroupProcedure? {
    var next: ReadyListStateMachine.Job? = first
    var isHandedOver = isHandedOver
    while let job = next {
      if let quality = job.quality, !isHandedOver {
        handOver(job, to: quality)
        next = list.take(on: context)
        continue
      }
      isHandedOver = false
      switch job.member.with({ $0.runTurn(job.kind, on: self) }) {
      case .idle:
        stretch.advance()
        // What was evaluated may be ready now, and no other worker was asked for on its behalf.
        next = list.take(on: context, after: job, isLast: stretch.isOver)
      case .retired(let waiters):
        stretch.advance()
        let finishedGroup: GroupProcedure?
        (next, finishedGroup) = job.member.with {
          list.retire($0, waiters, on: context, takesNext: !stretch.isOver)
        }
        job.member.release()
        if let finishedGroup { return finishedGroup }
      }
    }
    return nil
  }
}
