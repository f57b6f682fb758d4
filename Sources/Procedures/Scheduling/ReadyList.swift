internal import Dispatch
internal import Primitives

/// The procedures of one queue, or the children of one group, behind one lock, and the workers
/// that run them.
///
/// A worker is one Dispatch block: it takes ready procedures and pending turns one after another
/// until there are none. When it takes one and leaves others behind, another worker is asked for
/// before user code runs; so a blocking procedure never keeps the rest waiting, and a burst of
/// small ones costs a few Dispatch calls, not thousands.
///
/// Invariants:
/// 1. Lock order: a procedure's, then that of its list, then that of the table of exclusions. Never
///    two procedures', nor two lists'.
/// 2. A worker belongs to the context that it was submitted on, and runs nothing of another one.
///    A list's context changes at most once, from a detached one to that of a queue.
/// 3. Where a member is (waiting, ready, running) changes in the same critical section of the
///    procedure as the reason for it; only a start may be under way.
final class ReadyList: Sendable {
  /// Told when the last procedure has left.
  enum EmptyWaiter: Sendable {
    case thread(DispatchSemaphore)
    case task(UInt64, CheckedContinuation<Void, Never>)
  }

  private struct Storage: Sendable {
    var machine: ReadyListStateMachine
    var context: SchedulingContext
    var emptyWaiters: [EmptyWaiter] = []
    var lastWaiter: UInt64 = 0
  }

  /// What a critical section leaves to be done when all locks have been let go of.
  struct Aftermath: Sendable {
    /// The list that needs a worker, and the context to submit it on.
    fileprivate var worker: (list: ReadyList, context: SchedulingContext)?
    /// The context in which members wait that no worker can help.
    fileprivate var stuck: SchedulingContext?
    /// What was freed, for procedures of other lists.
    fileprivate var offers: [ExclusionRequest] = []

    /// Joins what an earlier step in the same critical section of a procedure left to be done.
    func following(_ earlier: Aftermath?) -> Aftermath {
      guard let earlier else { return self }
      return Aftermath(
        worker: earlier.worker ?? worker, stuck: stuck, offers: earlier.offers + offers)
    }

    func carryOut() {
      if let worker {
        worker.context.scheduler.submit(quality: nil) { worker.list.work(on: worker.context) }
      }
      stuck?.watch.noteStuck()
      if !offers.isEmpty { ReadyList.pass(on: offers) }
    }
  }

  /// What the end of a procedure leaves to be done.
  private struct End: Sendable {
    var aftermath = Aftermath()
    var emptyWaiters: [EmptyWaiter] = []
    var hasClosed = false
  }

  private let storage: Locked<Storage>

  /// Whether the queue has a delegate. One atomic load.
  var hasDelegate: Bool { delegateStatus.load() != 0 }

  private let delegateStatus = AtomicByte(0)

  /// The queue's delegate, if this is the list of a queue.
  let delegate: QueueDelegateReference?

  /// The group whose children these are, if any.
  private let owner: GroupReference?

  /// Whether it is that of a queue, or of a group on one. One atomic load.
  var isOnQueue: Bool { queueStatus.load() != 0 }

  private let queueStatus: AtomicByte

  init(context: SchedulingContext, delegate: QueueDelegateReference? = nil) {
    queueStatus = AtomicByte(context.isDetached ? 0 : 1)
    storage = Locked(Storage(machine: ReadyListStateMachine(), context: context))
    self.delegate = delegate
    owner = nil
  }

  init(childrenOf group: GroupReference) {
    queueStatus = AtomicByte(0)
    storage = Locked(Storage(machine: ReadyListStateMachine(isGroup: true), context: .detached))
    delegate = nil
    owner = group
  }

  /// Where turns of procedures run that are on no queue.
  static var detached: ReadyList { DetachedSurroundings.current.list }

  var group: GroupProcedure? { owner?.group }

  /// Whether the group decides about the errors of its children.
  var hearsChildren: Bool { owner?.hearsChildren ?? false }
  var context: SchedulingContext { storage.withLock { $0.context } }
  var procedures: [Procedure] { storage.withLock { $0.machine.procedures } }
  var children: [Procedure] {
    storage.withLock {
      $0.machine.keepsFinishedChildren ? $0.machine.children : $0.machine.procedures
    }
  }
  var count: Int { storage.withLock { $0.machine.count } }

  var limit: Int {
    get { storage.withLock { $0.machine.limit } }
    set { update { storage, _ in storage.machine.limit = newValue } }
  }

  var isSuspended: Bool {
    get { storage.withLock { $0.machine.isSuspended } }
    set {
      update { storage, offers in
        storage.machine.isSuspended = newValue
        guard newValue else { return }
        for request in storage.machine.revokeGrants() {
          offers += ExclusionTable.shared.withLock { $0.decline(request) }
        }
      }
    }
  }

  func position(of procedure: Procedure) -> ReadyListStateMachine.Position {
    storage.withLock { $0.machine.position(of: procedure) }
  }

  func setDelegate(_ delegate: (any ProcedureQueueDelegate)?, of queue: ProcedureQueue) {
    self.delegate?.set(delegate, of: queue) { delegateStatus.store($0 ? 1 : 0) }
  }

  func setRecorder(_ recorder: @escaping QueueDelegateReference.Recorder) {
    self.delegate?.set(recorder) { delegateStatus.store($0 ? 1 : 0) }
  }

  // MARK: Members

  /// Adds a member. Called under the procedure's lock; what is returned is for afterwards.
  func insert(
    _ procedure: Procedure, _ standing: ReadyListStateMachine.Standing
  ) -> (ReadyListStateMachine.Insertion, context: SchedulingContext, Aftermath) {
    storage.withLock { storage in
      let insertion = storage.machine.insert(procedure, standing)
      return (insertion, storage.context, aftermath(of: &storage))
    }
  }

  /// Called under the procedure's lock, when it has nothing left to wait for but a slot, or a worker
  /// that evaluates its conditions.
  ///
  /// - Parameter asks: false if the caller is a worker that will look for more in this list.
  func advance(
    _ procedure: Procedure, to readiness: ProcedureStateMachine.Readiness, in attempt: UInt32,
    asking request: ExclusionRequest?, asks: Bool
  ) -> Aftermath {
    storage.withLock { storage in
      storage.machine.advance(procedure, to: readiness, in: attempt, asking: request)
      return asks ? aftermath(of: &storage) : Aftermath()
    }
  }

  /// Called under the procedure's lock.
  func makeWaiting(_ procedure: Procedure) -> Aftermath {
    storage.withLock { storage in
      let offers = storage.machine.makeWaiting(procedure).map { request in
        ExclusionTable.shared.withLock { $0.leave(request) }
      }
      return aftermath(of: &storage, offering: offers ?? [])
    }
  }

  /// Called under the lock of a procedure that was cancelled: it leaves the line it waits in.
  ///
  /// If it has been offered what it waits for, the offer is on its way here, and is declined.
  func withdraw(_ procedure: Procedure) {
    storage.withLock { storage in
      guard let request = storage.machine.withdraw(procedure) else { return }
      ExclusionTable.shared.withLock { $0.withdraw(request) }
    }
  }

  /// Has the turn run that the caller took for `procedure`.
  ///
  /// Not of one that is on no queue and is being released: its turn would come after it.
  func requestTurn(of procedure: Procedure) {
    if owner == nil, !isOnQueue, isBeingReleased(procedure) { return }
    update { storage, _ in storage.machine.requestTurn(of: procedure) }
  }

  // MARK: Groups

  /// For a group that makes children without end. Before it has any.
  func forgetFinishedChildren() {
    storage.withLock { $0.machine.keepsFinishedChildren = false }
  }

  /// The queue that the group is on is known: children run there too, from here on.
  ///
  /// - Returns: the lists of groups among the children, which are to adopt it as well.
  func adopt(_ context: SchedulingContext) -> [ReadyList] {
    let (lists, aftermath): ([ReadyList], Aftermath) = storage.withLock { storage in
      guard storage.context.isDetached, !context.isDetached else { return ([], Aftermath()) }
      storage.context = context
      queueStatus.store(1)
      // A worker that is on its way belongs to the old context, and will do nothing.
      storage.machine.workerArrived()
      return (storage.machine.childLists, self.aftermath(of: &storage))
    }
    aftermath.carryOut()
    return lists
  }

  func begin() {
    update { storage, _ in storage.machine.begin() }
  }

  /// True if no child is left, and none will be accepted.
  func settle() -> Bool {
    update { storage, _ in storage.machine.settle() }
  }

  /// Marks the group as cancelled and returns the children that may not be.
  func cancel(_ cancel: TreeCancel) -> [Procedure] {
    // Below a cancel that has been everywhere, and with what was added since, all are marked.
    if let earlier = storage.withLock({ $0.machine.treeCancel }), earlier.isMarked { return [] }
    return storage.withLock { storage in
      storage.machine.cancel(cancel)
      return storage.machine.procedures
    }
  }

  func abandon() -> ReadyListStateMachine.Remains {
    storage.withLock { $0.machine.abandon() }
  }

  // MARK: Waiting until all have left

  func waitUntilEmpty() {
    let semaphore = DispatchSemaphore(value: 0)
    let mustWait = storage.withLock { storage in
      guard storage.machine.count > 0 else { return false }
      storage.emptyWaiters.append(.thread(semaphore))
      return true
    }
    if mustWait { semaphore.wait() }
  }

  func waitUntilEmpty() async {
    let waiter = storage.withLock { storage in
      storage.lastWaiter += 1
      return storage.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mustWait = storage.withLock { storage in
          guard storage.machine.count > 0, !Task.isCancelled else { return false }
          storage.emptyWaiters.append(.task(waiter, continuation))
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      let found = storage.withLock { storage -> EmptyWaiter? in
        let index = storage.emptyWaiters.firstIndex {
          if case .task(waiter, _) = $0 { true } else { false }
        }
        return index.map { storage.emptyWaiters.remove(at: $0) }
      }
      if case .task(_, let continuation) = found { continuation.resume() }
    }
  }

  // MARK: Workers

  private func work(on context: SchedulingContext) {
    let job = update { storage, _ -> ReadyListStateMachine.Job? in
      guard storage.context === context else { return nil }
      storage.machine.workerArrived()
      return takeJob(&storage)
    }
    if let job { run(job, on: context, limit: context.scheduler.proceduresPerWorker) }
  }

  /// Runs `first` and then whatever else there is, on this thread.
  private func run(
    _ first: ReadyListStateMachine.Job, on context: SchedulingContext, limit: Int,
    isHandedOver: Bool = false
  ) {
    var list = self
    var next: ReadyListStateMachine.Job? = first
    var remaining = limit
    var isHandedOver = isHandedOver
    while let job = next {
      if let quality = job.quality, !isHandedOver {
        // A procedure with a quality of its own gets a worker of that quality.
        context.scheduler.submit(quality: quality) { [list] in
          list.run(job, on: context, limit: 1, isHandedOver: true)
        }
        next = list.take(on: context)
        continue
      }
      isHandedOver = false
      remaining -= 1
      switch job.procedure.runTurn(job.kind, on: list, context) {
      case .idle:
        // What was evaluated may be ready now, and nobody else has been asked for on its behalf.
        next = remaining > 0 ? list.take(on: context) : list.leaveToOthers()
      case .retired(let waiters):
        let finishedGroup: GroupProcedure?
        (next, finishedGroup) = list.retire(
          job.procedure, waiters, on: context, takesNext: remaining > 0)
        // A group whose last child this was goes on here: its list has nothing else to do.
        guard let finishedGroup else { continue }
        list = finishedGroup.listForTurns
        if list.context === context {
          next = ReadyListStateMachine.Job(procedure: finishedGroup, kind: .turn, quality: nil)
          remaining = max(remaining, 1)
        } else {
          list.requestTurn(of: finishedGroup)
        }
      }
    }
  }

  private func take(on context: SchedulingContext) -> ReadyListStateMachine.Job? {
    update { storage, _ in storage.context === context ? takeJob(&storage) : nil }
  }

  /// This worker goes: another is asked for if there is work.
  private func leaveToOthers() -> ReadyListStateMachine.Job? {
    update { _, _ in nil }
  }

  /// What a ready member excludes others from is granted in the same step as its slot. One that is
  /// not granted it steps aside.
  private func takeJob(_ storage: inout Storage) -> ReadyListStateMachine.Job? {
    while let taken = storage.machine.take() {
      switch taken {
      case .job(let job):
        return job
      case .mustAsk(let request):
        guard ExclusionTable.shared.withLock({ $0.ask(request) }) else {
          storage.machine.exclude(request.procedure)
          continue
        }
        return storage.machine.takeGranted(request.procedure)
      }
    }
    return nil
  }

  /// One critical section: the finished procedure leaves, and the worker gets its next job, which
  /// may be a dependent that has just become ready. A chain therefore runs on one worker, in
  /// first-in-first-out order.
  private func retire(
    _ procedure: Procedure, _ waiters: [FinishWaiter], on context: SchedulingContext,
    takesNext: Bool
  ) -> (next: ReadyListStateMachine.Job?, finishedGroup: GroupProcedure?) {
    let (job, end) = storage.withLock { storage in
      var end = End()
      let (closes, request) = storage.machine.retire(procedure)
      end.hasClosed = closes
      if storage.machine.count == 0, !storage.emptyWaiters.isEmpty {
        swap(&end.emptyWaiters, &storage.emptyWaiters)
      }
      var offers: [ExclusionRequest] = []
      if let request {
        let freed = ExclusionTable.shared.withLock { $0.leave(request) }
        offers = accept(freed, &storage)
      }
      let takes = takesNext && !end.hasClosed && storage.context === context
      let job = takes ? takeJob(&storage) : nil
      end.aftermath = aftermath(of: &storage, offering: offers)
      return (job, end)
    }
    end.aftermath.carryOut()
    for waiter in end.emptyWaiters { waiter.resume() }
    for waiter in waiters { waiter.resume() }
    guard end.hasClosed, let group = owner?.group, group.childrenFinished() else {
      return (job, nil)
    }
    return (job, group)
  }

  // MARK: Exclusions

  /// Grants what was freed to those members of this list that have a slot for it, in the same step.
  ///
  /// - Returns: offers to procedures of other lists.
  private func accept(_ offers: [ExclusionRequest], _ storage: inout Storage) -> [ExclusionRequest]
  {
    var open = offers
    var foreign: [ExclusionRequest] = []
    while let offer = open.popLast() {
      if offer.list !== self {
        foreign.append(offer)
      } else if !storage.machine.grant(offer) {
        open += ExclusionTable.shared.withLock { $0.decline(offer) }
      }
    }
    return foreign
  }

  /// Brings offers to the lists that they are for. Called with no lock held.
  private static func pass(on offers: [ExclusionRequest]) {
    var open = offers
    while let offer = open.popLast() {
      var aftermath = offer.list.storage.withLock { storage in
        let foreign = offer.list.accept([offer], &storage)
        return offer.list.aftermath(of: &storage, offering: foreign)
      }
      swap(&open, &aftermath.offers)
      open += aftermath.offers
      aftermath.offers = []
      aftermath.carryOut()
    }
  }

  // MARK: Critical sections

  /// Restores the machine's invariant 2 at the end of a critical section.
  private func aftermath(
    of storage: inout Storage, offering offers: [ExclusionRequest] = []
  ) -> Aftermath {
    let foreign = offers.isEmpty ? [] : accept(offers, &storage)
    let needsWorker = storage.machine.requestWorker()
    return Aftermath(
      worker: needsWorker ? (self, storage.context) : nil,
      stuck: storage.machine.isStuck && storage.context.watch.wantsNote ? storage.context : nil,
      offers: foreign)
  }

  /// A critical section after which a worker is asked for if there is work.
  private func update<Result: Sendable>(
    _ body: (inout Storage, _ offers: inout [ExclusionRequest]) -> Result
  ) -> Result {
    let (result, aftermath) = storage.withLock { storage in
      var offers: [ExclusionRequest] = []
      let result = body(&storage, &offers)
      return (result, self.aftermath(of: &storage, offering: offers))
    }
    aftermath.carryOut()
    return result
  }
}

extension ReadyList.EmptyWaiter {
  fileprivate func resume() {
    switch self {
    case .thread(let semaphore): semaphore.signal()
    case .task(_, let continuation): continuation.resume()
    }
  }
}
