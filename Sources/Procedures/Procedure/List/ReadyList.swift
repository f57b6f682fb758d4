internal import ProcedurePrimitives

/// The procedures of one queue, or the children of one group, behind one lock.
///
/// Each critical section returns its *aftermath*, the work for the time after all locks: usually a
/// worker to ask for. A worker (`Worker`) takes the next job.
///
/// A member does not own its list. The list of a queue is owned by the queue; released by that with members
/// left, it owns itself until the last one has left. The list of a group lives as long as the group, which its
/// own list owns. A worker owns the list that it runs.
///
/// Invariants:
/// 1. Lock order: a procedure's lock, the barriers' of its queue, its list's, the exclusion
///    table's. Never two procedures', nor two lists'.
/// 2. A worker belongs to the context that it was submitted on, and runs nothing of another one.
///    A list's context changes at most once, from a detached one to that of a queue.
/// 3. Where a member is (waiting, ready, running) changes in the same critical section of the
///    procedure as the reason for it; only a start may be under way.
final class ReadyList: Sendable {
  typealias Machine = ReadyListStateMachine<Procedure, ExclusionRequest>

  struct Storage: Sendable {
    var machine: Machine
    /// The cancel of the group, or of the queue as a whole: each member that is added from here on is cancelled.
    var treeCancel: TreeCancel?
    var context: SchedulingContext
    /// The waiters for an empty list. Made for the first of them.
    var emptyWaiters: FinishWaiters?
    /// Whether the queue has been released, which owned the list.
    var isOrphaned = false
    /// This list, on behalf of its members: while it is orphaned and has some.
    var itself: ReadyList?
    /// Whether nothing follows from the end of the last member of a queue.
    var isPlainWhenEmpty: Bool { (emptyWaiters?.isEmpty ?? true) && itself == nil }
    /// Of the innermost group around the members that excludes others, while the members run.
    var exclusionAround: ExclusionRequest?
    /// The recording of its members, if there is one.
    var recording: ListRecording?
    /// Where they are to be recorded once the group is on a queue.
    var awaitedStore: RecordStore?
    /// Called with each procedure that is about to become a member, if anything wants to be.
    var newcomerRecorder: NewcomerRecorder?

    /// The last member has left, with its own request: what is to be released without the lock.
    mutating func takeExclusionAround(with request: ExclusionRequest?) -> ExclusionRequest? {
      guard let around = exclusionAround.take() else { return request }
      guard let request else { return around }
      // It has left the table, and keeps the other as if it had been asked here.
      request.outer = around
      return request
    }
  }

  /// Of this list and its extensions only, as are `arrivals` and `isWorkerComing`.
  let storage: Contended<Storage>
  let arrivals: Arrivals<Procedure>
  /// That of the queue, if this is its list. A group's is known when the group is on a queue.
  let fixedContext: SchedulingContext?

  /// Whether a worker was asked for that will look at arrivals. Changes in critical sections only.
  let isWorkerComing = AtomicByte(0)

  /// The queue's delegate, if this is the list of a queue.
  let delegate: ListDelegate?

  /// Whether the queue has a delegate. One atomic load.
  var hasDelegate: Bool { delegate?.isWanted ?? false }

  /// The queue's barriers, if this is the list of a queue.
  let barriers: QueueBarriers?

  /// The group whose children these are, if any.
  let owner: GroupReference?

  /// Whether it is that of a queue, or of a group on one. One atomic load.
  var isOnQueue: Bool { queueStatus.load() != 0 }

  let queueStatus: AtomicByte

  /// Whether its members are recorded, or are to be: see `ReadyList+Recording`. Changes under the lock.
  let recordingStatus = AtomicByte(0)

  init(context: SchedulingContext, delegate: ListDelegate? = nil) {
    queueStatus = AtomicByte(context.isDetached ? 0 : 1)
    storage = Contended(Storage(machine: Machine(), context: context))
    arrivals = Arrivals(isOpen: true)
    fixedContext = context
    self.delegate = delegate
    barriers = delegate == nil ? nil : QueueBarriers()
    owner = nil
  }

  init(childrenOf group: GroupReference) {
    queueStatus = AtomicByte(0)
    storage = Contended(Storage(machine: Machine(isGroup: true), context: .detached))
    arrivals = Arrivals(isOpen: true)
    fixedContext = nil
    delegate = nil
    barriers = nil
    owner = group
  }

  /// Where turns of procedures run that are on no queue.
  static var detached: ReadyList { DetachedSurroundings.current.list }

  var group: Procedure? { owner?.group }

  /// Calls `body` with the group, for a child that has not finished; nil if the group has gone.
  func withGroup<Result>(
    on context: SchedulingContext, _ body: (Procedure) -> Result
  ) -> Result? {
    owner?.withGroup(isKept: !context.isDetached, body)
  }

  /// The list of the queue that it is on, however deep; of the outermost group if it is on none.
  var outermost: ReadyList {
    var list = self
    while let home = list.group?.read({ $0.home }) { list = home }
    return list
  }

  /// Calls with the context of a queue's list, without counting a reference.
  @inline(__always)
  func withFixedContext(_ body: (SchedulingContext) -> Void) {
    let context = unsafe fixedContext.map { unsafe Unmanaged.passUnretained($0) }
    unsafe context?._withUnsafeGuaranteedRef(body)
  }

  /// Whether these are the children of a group.
  var isGroup: Bool { owner != nil }
  var context: SchedulingContext { fixedContext ?? locked { $0.context } }
  /// The same, of a group's list; what has arrived stays there.
  var contextNow: SchedulingContext { storage.withLock { $0.context } }
  var procedures: [Procedure] { locked { $0.machine.items } }
  var children: [Procedure] { locked { $0.machine.children } }
  var count: Int { locked { $0.machine.count } }

  /// Runs `body` under the lock. Called under the lock of a member.
  func holdingLock<Result: Sendable>(_ body: () -> Result) -> Result { locked { _ in body() } }

  func position(of procedure: Procedure) -> Machine.Position {
    locked { $0.machine.position(of: procedure) }
  }

  // MARK: Critical sections

  /// Runs `body` under the lock, with all that were added in the machine.
  func locked<Result: Sendable>(_ body: (inout Storage) -> Result) -> Result {
    storage.withLock { storage in
      admitAll(&storage)
      return body(&storage)
    }
  }

  /// The beginning of each critical section that is not a worker's own. Those that are frequent call it
  /// themselves: what a closure inside a closure captures is counted twice.
  @inline(__always)
  func admitAll(_ storage: inout Storage) {
    while true {
      storage.machine.admitArrivals()
      if arrivals.isEmpty { break }
      receive(&storage)
    }
  }

  /// Hands the machine the procedures that were added, unless ready ones of those before are left.
  @inline(__always)
  func receiveArrivals(_ storage: inout Storage) {
    if !storage.machine.hasReadyArrivals, !arrivals.isEmpty { receiveNew(&storage) }
  }

  @inline(never)
  private func receiveNew(_ storage: inout Storage) {
    // Those that only wait would hide the ones behind them, of which one may need a worker.
    storage.machine.admitArrivals()
    receive(&storage)
  }

  /// Takes over all that have arrived.
  func receive(_ storage: inout Storage) {
    storage.machine.receive(from: arrivals)
  }

  /// The queue is being released, and its members are still to run.
  func orphan() {
    // 1. Nothing arrives beside the lock from here on. A member may still add others, through `home`.
    arrivals.close()
    // 2. With members it owns itself; `retire` gives that up with the last one. One that is added after that
    //    is in the same way its first again.
    update { storage in
      storage.machine.isSuspended = false
      storage.isOrphaned = true
      if storage.machine.count > 0 { storage.itself = self }
      return nil
    }
  }

  #if MODEL || CHAOS
    deinit {
      precondition(
        storage.withLock { $0.machine.count == 0 } && arrivals.isEmpty,
        "Internal inconsistency: a list was released with members")
    }
  #endif

  /// A critical section after which a worker is asked for if there is work.
  ///
  /// - Parameter body: returns the categories that it has freed.
  func update(_ body: (inout Storage) -> [ExclusionRequest]?) {
    let aftermath = locked { storage in
      let offers = body(&storage)
      return self.aftermath(of: &storage, offering: offers)
    }
    aftermath.carryOut()
  }
}
