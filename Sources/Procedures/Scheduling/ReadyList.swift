internal import Dispatch
internal import Primitives

/// The procedures of one queue, or the children of one group, behind one lock, and the workers
/// that run them.
///
/// A worker is one Dispatch block: it takes ready procedures and pending turns one after another
/// until there are none. When it takes one and leaves others behind, another worker is asked for
/// before user code runs; so a blocking procedure never keeps the rest waiting, and a burst of
/// small ones costs a few Dispatch calls, not thousands.
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

  /// What a critical section leaves to be done after it.
  private struct Effects: Sendable {
    var submitTo: SchedulingContext?
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

  /// Whether it only runs turns of procedures that are on no queue.
  let isDetached: Bool

  init(
    context: SchedulingContext, delegate: QueueDelegateReference? = nil, isDetached: Bool = false
  ) {
    self.isDetached = isDetached
    storage = Locked(Storage(machine: ReadyListStateMachine(), context: context))
    self.delegate = delegate
    owner = nil
  }

  init(childrenOf group: GroupReference) {
    isDetached = false
    storage = Locked(
      Storage(machine: ReadyListStateMachine(phase: .held), context: .detached))
    delegate = nil
    owner = group
  }

  /// Where turns of procedures run that are on no queue.
  static let detached = ReadyList(context: .detached, isDetached: true)

  var group: GroupProcedure? { owner?.group }
  var context: SchedulingContext { storage.withLock { $0.context } }
  var procedures: [Procedure] { storage.withLock { $0.machine.procedures } }
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
    self.delegate?.set(delegate, of: queue)
    delegateStatus.store(delegate == nil ? 0 : 1)
  }

  // MARK: Members

  func insert(
    _ procedure: Procedure, _ standing: ReadyListStateMachine.Standing
  ) -> ReadyListStateMachine.Insertion {
    update { $0.machine.insert(procedure, standing) }
  }

  func makeReady(_ procedure: Procedure) {
    update { $0.machine.makeReady(procedure) }
  }

  func makeWaiting(_ procedure: Procedure) {
    storage.withLock { $0.machine.makeWaiting(procedure) }
  }

  /// Has the turn run that the caller took for `procedure`.
  func requestTurn(of procedure: Procedure) {
    update { $0.machine.requestTurn(of: procedure) }
  }

  // MARK: Groups

  /// The queue that the group is on is known: children run there too.
  ///
  /// - Returns: the lists of groups among the children, which are to adopt it as well.
  func adopt(_ context: SchedulingContext) -> [ReadyList] {
    storage.withLock { storage in
      guard storage.context !== context else { return [] }
      storage.context = context
      return storage.machine.childLists
    }
  }

  func begin() {
    update { $0.machine.begin() }
  }

  /// True if no child is left, and none will be accepted.
  func settle() -> Bool {
    update { $0.machine.settle() }
  }

  /// Marks the group as cancelled and returns the children there are.
  func cancel(_ cancel: TreeCancel) -> [Procedure] {
    storage.withLock { storage in
      storage.machine.cancel(cancel)
      return storage.machine.procedures
    }
  }

  func abandon() -> [Procedure] {
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

  private func submitWorker(on context: SchedulingContext) {
    context.scheduler.submit(quality: nil) { self.work() }
  }

  private func work() {
    let (job, submitTo, limit) = storage.withLock { storage in
      storage.machine.workerArrived()
      let job = storage.machine.take()
      return (
        job, storage.machine.requestWorker() ? storage.context : nil,
        storage.context.scheduler.proceduresPerWorker
      )
    }
    if let submitTo { submitWorker(on: submitTo) }
    if let job { run(job, limit: limit) }
  }

  /// Runs `first` and then whatever else there is, on this thread.
  private func run(_ first: ReadyListStateMachine.Job, limit: Int, isHandedOver: Bool = false) {
    var list = self
    var next: ReadyListStateMachine.Job? = first
    var remaining = limit
    var isHandedOver = isHandedOver
    while let job = next {
      if let quality = job.quality, !isHandedOver {
        // A procedure with a quality of its own gets a worker of that quality.
        list.context.scheduler.submit(quality: quality) { [list] in
          list.run(job, limit: 1, isHandedOver: true)
        }
        next = list.take()
        continue
      }
      isHandedOver = false
      remaining -= 1
      switch job.procedure.runTurn(starting: job.isStart, on: list) {
      case .idle:
        next = remaining > 0 ? list.take() : nil
      case .retired(let retirement):
        let finishedGroup: GroupProcedure?
        (next, finishedGroup) = list.retire(job.procedure, retirement, takesNext: remaining > 0)
        // A group whose last child this was goes on here: its list has nothing else to do.
        if let finishedGroup {
          list = finishedGroup.listForTurns
          next = ReadyListStateMachine.Job(procedure: finishedGroup, isStart: false, quality: nil)
          remaining = max(remaining, 1)
        }
      }
    }
  }

  private func take() -> ReadyListStateMachine.Job? {
    update { $0.machine.take() }
  }

  /// One critical section: the finished procedure leaves, its dependents become ready, and the
  /// worker gets its next job. A chain therefore runs on one worker, in first-in-first-out order.
  private func retire(
    _ procedure: Procedure, _ retirement: Retirement, takesNext: Bool
  ) -> (next: ReadyListStateMachine.Job?, finishedGroup: GroupProcedure?) {
    let (job, effects) = storage.withLock { storage in
      var effects = Effects()
      effects.hasClosed = storage.machine.retire(procedure)
      retirement.ready.forEach { storage.machine.makeReady($0) }
      if storage.machine.count == 0, !storage.emptyWaiters.isEmpty {
        swap(&effects.emptyWaiters, &storage.emptyWaiters)
      }
      let job = takesNext ? storage.machine.take() : nil
      if storage.machine.requestWorker() { effects.submitTo = storage.context }
      return (job, effects)
    }
    if let context = effects.submitTo { submitWorker(on: context) }
    for waiter in effects.emptyWaiters { waiter.resume() }
    for waiter in retirement.waiters { waiter.resume() }
    guard effects.hasClosed, let group = owner?.group, group.childrenFinished() else {
      return (job, nil)
    }
    return (job, group)
  }

  /// A critical section after which a worker is asked for if there is work.
  private func update<Result: Sendable>(_ body: (inout Storage) -> Result) -> Result {
    let (result, submitTo) = storage.withLock { storage in
      let result = body(&storage)
      return (result, storage.machine.requestWorker() ? storage.context : nil)
    }
    if let submitTo { submitWorker(on: submitTo) }
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
