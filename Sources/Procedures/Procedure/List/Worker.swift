internal import Dispatch
internal import ProcedurePrimitives

/// One block on the scheduler of a queue. It takes ready procedures and pending turns of a list one
/// after another, until there are none or its quantum is over.
///
/// When it takes one and leaves others behind, another worker is requested before user code runs. A
/// blocking procedure therefore never keeps the rest waiting, and a burst of small ones costs a few
/// blocks, not thousands.
struct Worker {
  /// The list whose members it runs; nil if it runs one turn of a procedure that is in no list.
  let list: ProcedureList?
  /// The context that it was submitted on: the context of the list's queue.
  let context: SchedulingContext
  /// Records whose turn it runs; nil if the procedure is on no queue.
  let note: TurnNote?

  /// Requests a worker that looks for something to do, for a list that is on a queue.
  static func submit(for list: ProcedureList) {
    let isSubmitted: Void? = list.withContext { context in
      // The closure captures the list alone, so it needs no memory of its own.
      context.scheduler.submit(quality: nil) { begin(for: list) }
      if context.mayLackWorkers { context.supervisor.noteWait(in: list) }
    }
    requireConsistency(
      isSubmitted != nil, "Internal inconsistency: a worker for a list on no queue")
  }

  private static func begin(for list: ProcedureList) {
    _ = list.withContext { context in
      if let first = list.takeFirst() {
        run(first, in: list, on: context, for: context.quantum)
      }
    }
  }

  /// Runs `first`, and then further jobs, on this thread.
  private static func run(
    _ first: Job, in list: ProcedureList, on context: SchedulingContext,
    for quantum: WorkerQuantum, isHandedOver: Bool = false
  ) {
    TurnNote.with { note in
      var worker = Worker(list: list, context: context, note: note)
      var quantum = quantum
      var elsewhere = worker.drain(from: first, &quantum, isHandedOver: isHandedOver)
      while let (list, job) = elsewhere {
        worker = Worker(list: list, context: context, note: note)
        elsewhere = worker.drain(from: job, &quantum)
      }
    }
  }

  /// Runs `first`, and then further jobs of the list.
  ///
  /// - Returns: the list where the worker continues, and the first job there.
  private func drain(
    from first: Job, _ quantum: inout WorkerQuantum, isHandedOver: Bool = false
  ) -> (ProcedureList, Job)? {
    guard let list else { return nil }
    var next: Job? = first
    var isHandedOver = isHandedOver
    var detail = StepDetail.none
    while let job = next {
      // 1. A procedure with a quality of its own gets a worker of that quality.
      if let quality = job.quality, !isHandedOver {
        context.scheduler.submit(quality: quality) { [context] in
          let quantum = WorkerQuantum(procedures: 1)
          Self.run(job, in: list, on: context, for: quantum, isHandedOver: true)
        }
        next = list.take()
        continue
      }
      isHandedOver = false
      // 2. Run its turn.
      note?.begin(job.member)
      var end = job.member.with { $0.runTurn(job.kind, on: self, &detail) }
      if let task = end.takeTask() { end = runFirstStep(of: task, job.member, &quantum, &detail) }
      note?.end()
      quantum.advance()
      // 3. Get the next job, in the critical section in which this procedure goes back or leaves.
      switch consume end {
      case .anotherJob, .firstStep:
        // The evaluated procedure may be ready now, and no other worker was requested for it.
        next = list.take(after: job, isLast: quantum.isOver)
      case .children(let children):
        // This worker leaves the list, which gets another one.
        _ = list.take(after: job, isLast: true)
        return goOn(withChildrenIn: children, quantum)
      case .retire(let waiters):
        // Only the worker refers to it, so no code can read its errors any more. Report them before
        // a wait for the whole queue is over, which may be the end of the program.
        if job.member.with({ $0.failed }), job.member.isOwnedOnce {
          job.member.with { $0.reportUnobserved() }
        }
        let finishedGroup: Procedure?
        (next, finishedGroup) = list.retire(job.member, takesNext: !quantum.isOver)
        // Its waiters are resumed when it has left: they do not find it on the queue.
        if let waiters { FinishWaiter.resume(waiters) }
        job.member.release()
        if let finishedGroup { return goOn(withTurnOf: finishedGroup, quantum) }
      }
    }
    return nil
  }

  // MARK: Going on elsewhere

  /// The worker continues with the turn of a group whose last child this was. It holds that turn.
  private func goOn(
    withTurnOf group: Procedure, _ quantum: WorkerQuantum
  ) -> (ProcedureList, Job)? {
    guard let list = group.peek({ $0.list }), !quantum.isOver else {
      group.requestTurn()
      return nil
    }
    return (list, .turn(of: group))
  }

  /// The worker continues with the children of a group that has begun, which wait for it.
  private func goOn(
    withChildrenIn list: ProcedureList, _ quantum: WorkerQuantum
  ) -> (ProcedureList, Job)? {
    if quantum.isOver { Self.submit(for: list) }
    return quantum.isOver ? nil : list.takeFirst().map { (list, $0) }
  }

  /// The turn in which the procedure made a task is over: runs the task's first step, and the turn
  /// in which the procedure finishes, if that step was the whole body.
  @inline(never)
  private func runFirstStep(
    of task: ProcedureTask, _ member: Member, _ quantum: inout WorkerQuantum,
    _ detail: inout StepDetail
  ) -> WorkerNext {
    // 1. The steps are recorded from the first one on.
    if let list, list.isRecorded { member.with { $0.recordSteps(of: task) } }
    // 2. The step may take as long as a turn, so it counts like one.
    quantum.advance()
    if quantum.isOver {
      task.submitFirstStep(on: context)
    } else if task.runFirstStep(on: context) {
      return member.with { $0.runTurn(.turn, on: self, &detail) }
    }
    return .anotherJob
  }

  /// A thread of the queue has run a step of a task, and got the turn of its procedure: it
  /// continues as a worker.
  static func goOn(withTurnOf procedure: Procedure, on context: SchedulingContext) {
    var quantum = context.quantum
    quantum.advance()
    guard let list = procedure.peek({ $0.list }), !quantum.isOver else {
      return procedure.requestTurn()
    }
    run(.turn(of: procedure), in: list, on: context, for: quantum)
  }

  /// Runs one turn of a procedure that is on no queue. If it is on one by now, the turn moves
  /// there.
  static func runTurn(
    of procedure: Procedure, outsideOfQueuesOn context: SchedulingContext
  ) {
    // 1. It is in no list, or in that of a group on no queue, which has no workers. Or it has come
    //    to a queue since the turn was requested: then `runTurn` moves the turn there.
    let list = procedure.peek { $0.list }
    let worker = Worker(list: list, context: context, note: nil)
    var detail = StepDetail.none
    let end = procedure.runTurn(.turn, on: worker, &detail)
    // 2. A cancelled child finishes even in a group that is on no queue.
    guard case .retire(let waiters) = end else { return }
    let group = list?.retire(.unowned(procedure), takesNext: false).finishedGroup
    if let waiters { FinishWaiter.resume(waiters) }
    group?.requestTurn()
  }
}

/// Records whose turn the calling thread runs, for blocking calls in it.
@safe struct TurnNote {
  /// The address of the present worker's `member`.
  private static let place = ThreadWord()

  /// It is on the worker's stack, which outlives each use: only the same thread finds the address.
  private let member: UnsafeMutablePointer<Member?>

  /// Runs `body` with a note. There may be an outer one: a turn on the main queue that spins the
  /// run loop.
  static func with(_ body: (TurnNote) -> Void) {
    unsafe withUnsafeTemporaryAllocation(of: Member?.self, capacity: 1) { buffer in
      guard let address = buffer.baseAddress else { return }
      unsafe address.initialize(to: nil)
      let outer = place.value
      place.value = UInt(bitPattern: address)
      body(unsafe TurnNote(member: address))
      place.value = outer
    }
  }

  @inline(__always)
  func begin(_ member: Member) { unsafe self.member.pointee = member }

  /// Called before the procedure may be deallocated.
  @inline(__always)
  func end() { unsafe member.pointee = nil }

  /// Runs `body`, which is user code of `procedure`, on any thread: a value is handed over on the
  /// worker of another procedure, and an observer may be called on a queue of its own.
  static func running<Failure: Error>(
    _ procedure: Procedure, _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    let member = Member.unowned(procedure)
    if let current = unsafe UnsafeMutablePointer<Member?>(bitPattern: place.value) {
      let outer = unsafe exchange(&current.pointee, with: member)
      defer { unsafe current.pointee = outer }
      return try body()
    }
    var failure: Failure?
    with { note in
      note.begin(member)
      do throws(Failure) { try body() } catch { failure = error }
      note.end()
    }
    if let failure { throw failure }
  }

  /// The procedure whose turn the thread runs; nil outside of turns.
  static var procedure: Procedure? {
    let member = unsafe UnsafePointer<Member?>(bitPattern: place.value)
    return unsafe member?.pointee?.procedure
  }
}
