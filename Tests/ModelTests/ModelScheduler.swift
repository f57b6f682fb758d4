#if MODEL
  import Dispatch
  import ProcedurePrimitives
  import Procedures

  /// Keeps submitted workers for threads of the explorer, or for the test's own thread.
  ///
  /// Plain state suffices: one thread runs at a time.
  final class ModelScheduler: Scheduler, @unchecked Sendable {
    private struct Submission {
      let worker: @Sendable () -> Void
      /// What the thread knew that submitted it: Dispatch has the worker know it, too.
      let knowledge: View?
    }

    private var workers = Fifo<Submission>()
    let quantum: WorkerQuantum

    init(proceduresPerWorker: Int = .max) {
      quantum = WorkerQuantum(procedures: proceduresPerWorker)
    }

    /// What a thread accesses that submits a worker, or takes one.
    let place = ModelPlace()

    var hasWork: Bool { !workers.isEmpty }

    func submit(quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void) {
      // Others may come between the lock and the worker that it makes necessary.
      ModelSchedule.thread?.step()
      ModelSchedule.thread?.touch(place)
      workers.append(Submission(worker: worker, knowledge: Fiber.knowledge))
    }

    /// There is no search for procedures that wait for each other.
    let lookPace = LookPace()

    func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void) {}

    func runOne() {
      ModelSchedule.thread?.touch(place)
      guard let submission = workers.popFirst() else { return }
      Fiber.learn(submission.knowledge)
      submission.worker()
    }

    /// Runs workers until none is left.
    func run() {
      while looksForWork() { runOne() }
    }

    /// The same as `hasWork`, for a thread that decides by it.
    private func looksForWork() -> Bool {
      (ModelSchedule.thread as? Fiber)?.read(place)
      return hasWork
    }
  }

  /// A queue whose workers are threads of the explorer: what most scenarios begin with.
  struct ModelQueue {
    let scheduler: ModelScheduler
    let queue: ProcedureQueue

    init(limit: Int = .max, proceduresPerWorker: Int = .max) {
      scheduler = ModelScheduler(proceduresPerWorker: proceduresPerWorker)
      queue = ProcedureQueue(maxConcurrentProcedureCount: limit, scheduler: scheduler)
      queue.disableWaitWatch()
    }

    /// Adds procedures, and runs whatever can be run, before the scenario begins.
    func start(_ procedures: Procedure...) {
      for procedure in procedures {
        queue.add(procedure)
        scheduler.run()
      }
    }

    /// The threads given, and as many workers; when all have come to rest the queue must be empty.
    func scenario(
      workers: Int = 1, threads: [@Sendable () -> Void], check: @escaping () throws -> Void
    ) -> Explorer.Scenario {
      .init(threads: threads, workers: Array(repeating: scheduler, count: workers)) { [self] in
        scheduler.run()
        try check()
        try require(queue.count == 0, "still on the queue: \(queue.procedures)")
      }
    }
  }
#endif
