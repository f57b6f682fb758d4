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
/// 1. Lock order: a procedure's, then that of its list. Never two procedures', nor two lists'.
/// 2. A worker belongs to the context that it was submitted on, and runs nothing of another one.
///    A list's context changes at most once, from `detached` to that of a queue.
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

  /// A worker that must be submitted when all locks have been let go of.
  struct WorkerRequest: Sendable {
    fileprivate let list: ReadyList
    fileprivate let context: SchedulingContext

    func submit() {
      context.scheduler.submit(quality: nil) { [self] in list.work(on: context) }
    }
  }

  /// What a critical section leaves to be done after it.
  private struct Effects: Sendable {
    var workerRequest: WorkerRequest?
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
    queueStatus = AtomicByte(context === SchedulingContext.detached ? 0 : 1)
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
  static let detached = ReadyList(context: .detached)

  var group: GroupProcedure? { owner?.group }
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
    set { update { $0.machine.limit = newValue } }
  }

  var isSuspended: Bool {
    get { storage.withLock { $0.machine.isSuspended } }
    set { update { $0.machine.isSuspended = newValue } }
  }

  func setDelegate(_ delegate: (any ProcedureQueueDelegate)?, of queue: ProcedureQueue) {
    self.delegate?.set(delegate, of: queue) { delegateStatus.store(delegate == nil ? 0 : 1) }
  }

  // MARK: Members

  /// Adds a member. Called under the procedure's lock; what is returned is for afterwards.
  func insert(
    _ procedure: Procedure, _ standing: ReadyListStateMachine.Standing
  ) -> (ReadyListStateMachine.Insertion, context: SchedulingContext, WorkerRequest?) {
    storage.withLock { storage in
      let insertion = storage.machine.insert(procedure, standing)
      return (insertion, storage.context, workerRequest(&storage))
    }
  }

  /// Called under the procedure's lock.
  ///
  /// - Parameter asks: false if the caller is a worker that will look for more in this list.
  func makeReady(_ procedure: Procedure, asks: Bool) -> WorkerRequest? {
    storage.withLock { storage in
      storage.machine.makeReady(procedure)
      return asks ? workerRequest(&storage) : nil
    }
  }

  /// Called under the procedure's lock.
  func makeWaiting(_ procedure: Procedure) -> WorkerRequest? {
    storage.withLock { storage in
      storage.machine.makeWaiting(procedure)
      return workerRequest(&storage)
    }
  }

  /// Has the turn run that the caller took for `procedure`.
  func requestTurn(of procedure: Procedure) {
    update { $0.machine.requestTurn(of: procedure) }
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
    let (lists, request): ([ReadyList], WorkerRequest?) = storage.withLock { storage in
      guard storage.context === SchedulingContext.detached, storage.context !== context else {
        return ([], nil)
      }
      storage.context = context
      queueStatus.store(1)
      // A worker that is on its way belongs to the old context, and will do nothing.
      storage.machine.workerArrived()
      return (storage.machine.childLists, workerRequest(&storage))
    }
    request?.submit()
    return lists
  }

  func begin() {
    update { $0.machine.begin() }
  }

  /// True if no child is left, and none will be accepted.
  func settle() -> Bool {
    update { $0.machine.settle() }
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

  func abandon() -> (unfinished: [Procedure], finished: [Procedure]) {
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
    let (job, request): (ReadyListStateMachine.Job?, WorkerRequest?) = storage.withLock { storage in
      guard storage.context === context else { return (nil, nil) }
      storage.machine.workerArrived()
      let job = storage.machine.take()
      return (job, workerRequest(&storage))
    }
    request?.submit()
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
      switch job.procedure.runTurn(starting: job.isStart, on: list, context) {
      case .idle:
        next = remaining > 0 ? list.take(on: context) : nil
      case .retired(let waiters):
        let finishedGroup: GroupProcedure?
        (next, finishedGroup) = list.retire(
          job.procedure, waiters, on: context, takesNext: remaining > 0)
        // A group whose last child this was goes on here: its list has nothing else to do.
        guard let finishedGroup else { continue }
        list = finishedGroup.listForTurns
        if list.context === context {
          next = ReadyListStateMachine.Job(procedure: finishedGroup, isStart: false, quality: nil)
          remaining = max(remaining, 1)
        } else {
          list.requestTurn(of: finishedGroup)
        }
      }
    }
  }

  private func take(on context: SchedulingContext) -> ReadyListStateMachine.Job? {
    update { $0.context === context ? $0.machine.take() : nil }
  }

  /// One critical section: the finished procedure leaves, and the worker gets its next job, which
  /// may be a dependent that has just become ready. A chain therefore runs on one worker, in
  /// first-in-first-out order.
  private func retire(
    _ procedure: Procedure, _ waiters: [FinishWaiter], on context: SchedulingContext,
    takesNext: Bool
  ) -> (next: ReadyListStateMachine.Job?, finishedGroup: GroupProcedure?) {
    let (job, effects) = storage.withLock { storage in
      var effects = Effects()
      effects.hasClosed = storage.machine.retire(procedure)
      if storage.machine.count == 0, !storage.emptyWaiters.isEmpty {
        swap(&effects.emptyWaiters, &storage.emptyWaiters)
      }
      let takes = takesNext && !effects.hasClosed && storage.context === context
      let job = takes ? storage.machine.take() : nil
      effects.workerRequest = workerRequest(&storage)
      return (job, effects)
    }
    effects.workerRequest?.submit()
    for waiter in effects.emptyWaiters { waiter.resume() }
    for waiter in waiters { waiter.resume() }
    guard effects.hasClosed, let group = owner?.group, group.childrenFinished() else {
      return (job, nil)
    }
    return (job, group)
  }

  /// Restores the machine's invariant 2 at the end of a critical section.
  private func workerRequest(_ storage: inout Storage) -> WorkerRequest? {
    guard storage.machine.requestWorker() else { return nil }
    return WorkerRequest(list: self, context: storage.context)
  }

  /// A critical section after which a worker is asked for if there is work.
  private func update<Result: Sendable>(_ body: (inout Storage) -> Result) -> Result {
    let (result, request) = storage.withLock { storage in
      let result = body(&storage)
      return (result, workerRequest(&storage))
    }
    request?.submit()
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
