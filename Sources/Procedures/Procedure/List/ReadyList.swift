internal import ProcedurePrimitives

/// The procedures of one queue, or the children of one group, behind one lock.
///
/// Each critical section says, as its *aftermath*, what is to be done when all locks have been released: a
/// worker to be asked for, mostly. A worker (`Worker`) takes what is to run next.
///
/// The list of a queue owns a reference to itself as long as it has members, and another one as long as
/// procedures have arrived that a worker has not seen; so a member need not own one. The list of a group
/// lives as long as the group, which its own list owns.
///
/// Invariants:
/// 1. Lock order: a procedure's lock, the barriers' of its queue, its list's, the exclusion
///    table's. Never two procedures', nor two lists'.
/// 2. A worker belongs to the context that it was submitted on, and runs nothing of another one.
///    A list's context changes at most once, from a detached one to that of a queue.
/// 3. Where a member is (waiting, ready, running) changes in the same critical section of the
///    procedure as the reason for it; only a start may be under way.
final class ReadyList: Sendable {
  struct Storage: Sendable {
    var machine: ReadyListStateMachine<Procedure, ExclusionRequest>
    /// The cancel of the group, or of the queue as a whole: each member that is added from here on is cancelled.
    var treeCancel: TreeCancel?
    var context: SchedulingContext
    var emptyWaiters = EmptyWaiters()
    /// Whether the list of a queue owns a reference to itself, on behalf of its members.
    var isKept = false
    /// Of the innermost group around the members that excludes others, while the members run.
    var exclusionAround: ExclusionRequest?

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

  /// What its members are recorded with, if they are.
  let recording = RecordingReference()

  init(context: SchedulingContext, delegate: ListDelegate? = nil) {
    queueStatus = AtomicByte(context.isDetached ? 0 : 1)
    storage = Contended(
      Storage(machine: ReadyListStateMachine<Procedure, ExclusionRequest>(), context: context))
    arrivals = Arrivals<Procedure>(isOpen: true)
    fixedContext = context
    self.delegate = delegate
    barriers = delegate == nil ? nil : QueueBarriers()
    owner = nil
  }

  init(childrenOf group: GroupReference) {
    queueStatus = AtomicByte(0)
    storage = Contended(
      Storage(
        machine: ReadyListStateMachine<Procedure, ExclusionRequest>(isGroup: true),
        context: .detached))
    arrivals = Arrivals<Procedure>(isOpen: false)
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
  var procedures: [Procedure] { locked { $0.machine.items } }
  var children: [Procedure] {
    locked { $0.machine.children }
  }
  var count: Int { locked { $0.machine.count } }

  var limit: Int {
    get { locked { $0.machine.limit } }
    set { update { storage, _ in storage.machine.limit = newValue } }
  }

  var isSuspended: Bool {
    get { locked { $0.machine.isSuspended } }
    set {
      guard newValue else { return resume() }
      update { storage, offers in
        storage.machine.isSuspended = true
        offers = storage.machine.revokeGrants().flatMap { request in
          ExclusionTable.shared.withLock { $0.decline(request) }
        }
      }
    }
  }

  private func resume() {
    // Those that have arrived need not be members for it.
    let aftermath = storage.withLock { storage in
      storage.machine.isSuspended = false
      receiveArrivals(&storage)
      return self.aftermath(of: &storage)
    }
    aftermath.carryOut()
  }

  /// Records members that are enqueued from here on.
  func record(in store: RecordStore, by clock: RecordClock, parent: UInt64, root: Int) {
    locked { storage in
      recording.replace(
        with: ListRecording(
          in: store, by: clock, parent: parent, root: root, storage.machine.hindrance,
          replacing: recording.current))
    }
    // Those that have arrived meanwhile have either seen it, or are there to be found.
    arrivals.order()
  }

  /// Runs `body` under the lock. Called under the lock of a member.
  func holdingLock<Result: Sendable>(_ body: () -> Result) -> Result { locked { _ in body() } }

  func position(of procedure: Procedure)
    -> ReadyListStateMachine<Procedure, ExclusionRequest>.Position
  {
    locked { $0.machine.position(of: procedure) }
  }

  // MARK: Members

  /// Adds a member. Called under the procedure's lock; what is returned is for afterwards.
  ///
  /// - Parameter mark: marks it as cancelled, if the group is: before others can find it here.
  func insert(
    _ procedure: Procedure, _ standing: MemberStanding,
    asking request: ExclusionRequest?, marking mark: (TreeCancel) -> Void
  ) -> (Insertion, Aftermath) {
    if owner == nil, request == nil, standing.mayArriveLate {
      standing.note(in: procedure)
      let (answer, isFirst) = arrivals.append(procedure, isExpected: isWorkerComing)
      if isFirst { retain() }
      if answer == .accepted {
        return (
          .accepted(isAnnounced: true),
          standing.readiness == .waiting ? aftermathOfWaiting() : .none
        )
      }
      if answer == .acceptedUnexpected {
        // If it cannot be taken now, it stays there until what keeps it has changed.
        return storage.withLock { storage in
          if storage.machine.isSuspended { return (.accepted(isAnnounced: true), .none) }
          if storage.machine.hasRoom { receiveArrivals(&storage) }
          return (.accepted(isAnnounced: true), aftermath(of: &storage))
        }
      }
    }
    return storage.withLock { storage in
      admitAll(&storage)
      let insertion = storage.machine.insert(procedure, standing, asking: request)
      if owner == nil, insertion != .refused, !storage.isKept {
        storage.isKept = true
        retain()
      }
      if insertion != .refused, let cancel = storage.treeCancel {
        if procedure.childList != nil { cancel.expectFollower() }
        mark(cancel)
      }
      return (insertion, aftermath(of: &storage))
    }
  }

  /// Called under the procedure's lock, when it has nothing left to wait for but a slot, or a worker
  /// that evaluates its conditions.
  ///
  /// - Parameter asks: false if the caller is a worker that will look for more in this list.
  func advance(
    _ procedure: Procedure, to readiness: Readiness, in attempt: UInt32,
    asking request: ExclusionRequest?, asks: Bool
  ) -> Aftermath {
    storage.withLock { storage in
      admitAll(&storage)
      storage.machine.advance(procedure, to: readiness, in: attempt, asking: request)
      return asks ? aftermath(of: &storage) : .none
    }
  }

  /// Called under the procedure's lock.
  func makeWaiting(_ procedure: Procedure) -> Aftermath {
    locked { storage in
      let offers = storage.machine.makeWaiting(procedure).map { request in
        request.wait?.leaveLine(after: 0)
        return ExclusionTable.shared.withLock { $0.leave(request) }
      }
      return aftermath(of: &storage, offering: offers)
    }
  }

  /// Called under the lock of a procedure that was cancelled: it leaves the line it waits in.
  ///
  /// If it has been offered what it waits for, the offer is on its way here, and is declined.
  ///
  /// Those behind it are notified when it has finished, at the latest: this holds a procedure's
  /// lock.
  func withdraw(_ procedure: Procedure) {
    locked { storage in
      guard let request = storage.machine.withdraw(procedure) else { return }
      request.wait?.leaveLine(after: 0)
      ExclusionTable.shared.withLock { $0.withdraw(request) }
    }
  }

  /// Has the turn run that the caller took for `procedure`.
  ///
  /// Not of one that is on no queue and is being released: its turn would come after it.
  func requestTurn(of procedure: Procedure) {
    if owner == nil, !isOnQueue, isBeingReleased(procedure) { return }
    let aftermath = storage.withLock { storage in
      admitAll(&storage)
      storage.machine.requestTurn(of: procedure)
      return self.aftermath(of: &storage)
    }
    aftermath.carryOut()
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
  private func admitAll(_ storage: inout Storage) {
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

  /// Takes over all that have arrived, and the reference to this list that they came with.
  func receive(_ storage: inout Storage) {
    guard storage.machine.receive(from: arrivals) else { return }
    // Not the last one: the other reference is there on behalf of the members.
    if storage.isKept { release() }
    storage.isKept = true
  }

  func retain() { _ = unsafe Unmanaged.passRetained(self) }
  func release() { unsafe Unmanaged.passUnretained(self).release() }

  /// Restores the machine's invariant 1 at the end of a critical section.
  @inline(__always)
  func aftermath(
    of storage: inout Storage, offering offers: [ExclusionRequest]? = nil
  ) -> Aftermath {
    let foreign = offers.map { accept($0, &storage) }
    recording.note(storage.machine.hindrance)
    let needsWorker = storage.machine.requestWorker()
    let isStuck = storage.machine.isStuck(hasMoreArrivals: !arrivals.isEmpty)
    if !needsWorker, !isStuck, foreign == nil { return .none }
    return aftermath(of: &storage, needsWorker: needsWorker, isStuck: isStuck, foreign: foreign)
  }

  @inline(never)
  func aftermath(
    of storage: inout Storage, needsWorker: Bool, isStuck: Bool, foreign: [ExclusionRequest]?
  ) -> Aftermath {
    if needsWorker { isWorkerComing.store(1) }
    let isNoted = isStuck && storage.context.wantsStuckLists
    if !isNoted, foreign == nil {
      guard needsWorker else { return .none }
      if fixedContext != nil { return .worker(self) }
    }
    return .work(
      Aftermath.Work(
        on: self, workerContext: needsWorker ? storage.context : nil,
        supervisor: isNoted ? storage.context.supervisor : nil,
        offers: foreign ?? []))
  }

  /// One that waits has been added, outside of any critical section.
  private func aftermathOfWaiting() -> Aftermath {
    guard isWorkerComing.load() == 0 else { return .none }
    var supervisor: QueueSupervisor?
    withFixedContext { if $0.wantsStuckLists { supervisor = $0.supervisor } }
    guard let supervisor else { return .none }
    return .work(
      Aftermath.Work(on: self, workerContext: nil, supervisor: supervisor, offers: []))
  }

  /// A critical section after which a worker is asked for if there is work.
  func update<Result: Sendable>(
    _ body: (inout Storage, _ offers: inout [ExclusionRequest]?) -> Result
  ) -> Result {
    let (result, aftermath) = locked { storage in
      var offers: [ExclusionRequest]?
      let result = body(&storage, &offers)
      return (result, self.aftermath(of: &storage, offering: offers))
    }
    aftermath.carryOut()
    return result
  }
}
