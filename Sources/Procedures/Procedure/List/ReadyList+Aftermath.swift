internal import ProcedurePrimitives

/// The consequences of a critical section, when all locks have been released: usually a worker to ask for.
extension ReadyList {
  /// Restores the machine's invariant 1 at the end of a critical section.
  @inline(__always)
  func aftermath(
    of storage: inout Storage, offering offers: [ExclusionRequest]? = nil
  ) -> Aftermath {
    let foreign = offers.map { accept($0, &storage) } ?? []
    storage.recording?.history.note(storage.machine.hindrance, limit: storage.machine.limit)
    let needsWorker = storage.machine.requestWorker()
    let isStuck =
      storage.machine.isStuck(hasMoreArrivals: !arrivals.isEmpty) && storage.context.wantsStuckLists
    if !needsWorker, !isStuck, foreign.isEmpty { return .none }
    return aftermath(of: &storage, needsWorker: needsWorker, isStuck: isStuck, foreign: foreign)
  }

  @inline(never)
  func aftermath(
    of storage: inout Storage, needsWorker: Bool, isStuck: Bool, foreign: [ExclusionRequest]
  ) -> Aftermath {
    if needsWorker { isWorkerComing.store(1) }
    if !isStuck, foreign.isEmpty {
      guard needsWorker else { return .none }
      if fixedContext != nil { return .worker(self) }
    }
    return .work(
      Aftermath.Work(
        on: self, workerContext: needsWorker ? storage.context : nil,
        supervisor: isStuck ? storage.context.supervisor : nil,
        offers: foreign))
  }

  /// The work that a critical section leaves for the time after all locks. Usually none.
  enum Aftermath: Sendable {
    case none
    /// That list, whose context never changes, needs a worker.
    case worker(ReadyList)
    /// Members of that list wait, and no worker can help them.
    case stuck(ReadyList)
    case work(Work)

    final class Work: Sendable {
      let list: ReadyList
      /// The context on which the list needs a worker.
      let workerContext: SchedulingContext?
      /// Receives the note that members wait that no worker can help.
      let supervisor: QueueSupervisor?
      /// Freed categories, for procedures of other lists.
      let offers: [ExclusionRequest]

      init(
        on list: ReadyList, workerContext: SchedulingContext?, supervisor: QueueSupervisor?,
        offers: [ExclusionRequest]
      ) {
        self.list = list
        self.workerContext = workerContext
        self.supervisor = supervisor
        self.offers = offers
      }
    }

    /// - Parameter isLast: false if the caller is about to change the list again: then that step says whether
    ///   members wait.
    @inline(__always)
    func carryOut(isLast: Bool = true) {
      if case .none = self { return }
      carryOutWork(isLast)
    }

    @inline(never)
    private func carryOutWork(_ isLast: Bool) {
      switch self {
      case .none: break
      case .worker(let list):
        list.withFixedContext { Worker.submit(for: list, on: $0) }
      case .stuck(let list):
        if isLast { list.withFixedContext { $0.supervisor.noteStuck(list) } }
      case .work(let work):
        let list = work.list
        if let context = work.workerContext { Worker.submit(for: list, on: context) }
        if isLast { work.supervisor?.noteStuck(list) }
        if !work.offers.isEmpty { ReadyList.pass(on: work.offers) }
      }
    }
  }
}
