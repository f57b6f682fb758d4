internal import Dispatch
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
final class ProcedureList: Sendable {
  typealias Machine = ListMachine

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
    var itself: ProcedureList?
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
  let arrivals: Arrivals
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

  /// Whether its members are recorded, or are to be: see `ProcedureList+Recording`. Changes under the lock.
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
  static var detached: ProcedureList { DetachedSurroundings.current.list }

  var group: Procedure? { owner?.group }

  /// Calls `body` with the group, for a child that has not finished; nil if the group has gone.
  func withGroup<Result>(
    on context: SchedulingContext, _ body: (Procedure) -> Result
  ) -> Result? {
    owner?.withGroup(isKept: !context.isDetached, body)
  }

  /// The list of the queue that it is on, however deep; of the outermost group if it is on none.
  var outermost: ProcedureList {
    var list = self
    while let next = list.group?.read({ $0.list }) { list = next }
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
  var procedures: [Procedure] { locked { $0.machine.procedures } }
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
    // 1. Nothing arrives beside the lock from here on. A member may still add others, through `list`.
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

extension ProcedureList {
  /// Adds a procedure the way its queue or group would.
  ///
  /// - Parameter role: its role on the queue.
  func add(_ procedure: Procedure, as role: MemberRole = .member) {
    if let group {
      group.takeIn(procedure)
    } else {
      admit(procedure, as: role)
    }
  }

  /// Adds a procedure to the list of a queue, with word to the delegate.
  ///
  /// - Parameter role: its role.
  /// - Returns: whether it was accepted.
  @discardableResult
  func admit(
    _ procedure: Procedure, as role: MemberRole = .member
  ) -> Bool {
    let tells = hasDelegate
    if tells { delegate?.tell(.willAdd, of: procedure, errors: []) }
    guard procedure.enqueue(in: self, as: role) != .refused else {
      procedure.end(refusedBy: self)
      return false
    }
    if tells { delegate?.tell(.didAdd, of: procedure, errors: []) }
    return true
  }

  /// Adds several to the list of a queue, with word to the delegate: none starts before all are members.
  ///
  /// No user code is called while some are members and others are not.
  func admit(_ batch: [Procedure]) {
    if batch.count <= 1 { return batch.forEach { admit($0) } }
    let tells = hasDelegate
    if tells { for procedure in batch { delegate?.tell(.willAdd, of: procedure, errors: []) } }
    var refused: [Procedure] = []
    batch.forEachUncounted { procedure in
      if procedure.enqueue(in: self, isInBatch: true) == .refused { refused.append(procedure) }
    }
    complete(batch)
    for procedure in refused { procedure.end(refusedBy: self) }
    guard tells else { return }
    let unadded = Set(refused)
    for procedure in batch where !unadded.contains(procedure) {
      delegate?.tell(.didAdd, of: procedure, errors: [])
    }
  }

  /// All that were added in one call are members, and may start.
  func complete(_ batch: [Procedure]) {
    let aftermath = storage.withLock { storage in
      storage.machine.complete(batch)
      receiveArrivals(&storage)
      return self.aftermath(of: &storage)
    }
    aftermath.carryOut()
  }

  /// Adds a member. Called under the procedure's lock; what is returned is for afterwards.
  ///
  /// - Parameter mark: marks it as cancelled, if the group is: before others can find it here.
  @inline(__always)
  func insert(
    _ procedure: Procedure, _ standing: Placement,
    asking request: ExclusionRequest?, marking mark: (TreeCancel) -> Void
  ) -> (Insertion, Aftermath) {
    if request == nil, standing.mayArriveLate, owner == nil || standing.role == .founding,
      arrivals.isOpen
    {
      standing.note(in: procedure)
      let answer = arrivals.append(procedure, isExpected: isWorkerComing)
      // What follows comes when the group is made.
      if owner != nil, answer != .closed { return (.accepted(isAnnounced: false), .none) }
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
      if insertion != .refused, storage.isOrphaned { storage.itself = self }
      if insertion != .refused, let cancel = storage.treeCancel {
        if procedure.childList != nil { cancel.expectFollower() }
        mark(cancel)
      }
      return (insertion, aftermath(of: &storage))
    }
  }

  /// One that waits has been added to a queue's list, outside of any critical section.
  func aftermathOfWaiting() -> Aftermath {
    guard isWorkerComing.load() == 0 else { return .none }
    var isNoted = false
    withFixedContext { isNoted = $0.wantsStuckLists }
    return isNoted ? .stuck(self) : .none
  }
}

/// The requests of unfinished members to their list.
extension ProcedureList {
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
      // It waits for its group from here on, which may wait for it.
      if storage.machine.phase == .held {
        return aftermath(
          of: &storage, needsWorker: storage.machine.requestWorker(),
          isStuck: storage.context.wantsStuckLists, foreign: [])
      }
      guard procedure.membership.isInBatch else {
        return asks ? aftermath(of: &storage) : .none
      }
      // Whoever completes the batch says whether members wait.
      return aftermath(
        of: &storage, needsWorker: storage.machine.requestWorker(), isStuck: false, foreign: [])
    }
  }

  /// One has a wait less, and others left: among them may be a barrier that waits for it.
  func aftermathOfWaitingOn() -> Aftermath? {
    // Arrivals are closed as soon as there is a barrier.
    owner == nil && !arrivals.isOpen ? aftermathOfWaiting() : nil
  }

  /// Called under the procedure's lock.
  func makeWaiting(_ procedure: Procedure) -> Aftermath {
    locked { makeWaiting(procedure, &$0) }
  }

  private func makeWaiting(_ procedure: Procedure, _ storage: inout Storage) -> Aftermath {
    let offers = storage.machine.makeWaiting(procedure).map { request in
      request.record?.leaveLine()
      return ExclusionTable.shared.withLock { $0.leave(request) }
    }
    return aftermath(of: &storage, offering: offers)
  }

  /// Called under the lock of a procedure that a worker has taken with a slot, and that will not start in that
  /// attempt: it was cancelled. It gives back the slot, and what it excludes others from.
  func surrender(_ procedure: Procedure, in attempt: UInt32) -> Aftermath {
    locked { storage in
      let membership = procedure.membership
      guard membership.line == .running, membership.attempt == attempt else { return .none }
      return makeWaiting(procedure, &storage)
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
      request.record?.leaveLine()
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
}

extension ProcedureList.Aftermath {
  /// Joins what an earlier step in the same critical section of a procedure left to be done.
  func following(_ earlier: Self?) -> Self {
    guard let earlier = earlier?.work else { return self }
    guard let work else { return .work(earlier) }
    return .work(
      Work(
        on: work.list, workerContext: earlier.workerContext ?? work.workerContext,
        supervisor: work.supervisor, offers: earlier.offers + work.offers))
  }

  private var work: Work? {
    switch self {
    case .none: nil
    case .worker(let list):
      Work(on: list, workerContext: list.fixedContext, supervisor: nil, offers: [])
    case .stuck(let list):
      Work(on: list, workerContext: nil, supervisor: list.context.supervisor, offers: [])
    case .work(let work): work
    }
  }
}

/// How a worker takes members from a list, and brings them back.
extension ProcedureList {
  /// A worker has arrived on a thread.
  ///
  /// - Returns: the first thing to run.
  func takeFirst(on context: SchedulingContext) -> Job? {
    take(on: context) { storage in
      storage.machine.workerArrived()
      isWorkerComing.store(0)
      // By a change of the arrivals, not only after a look at them: what a caller has added that
      // still found a worker expected is there, and a later caller finds none expected.
      if storage.machine.hasArrivals {
        arrivals.order()
      } else {
        receive(&storage)
      }
    }
  }

  /// The next job for a worker of that context; nil if there is none, or it runs elsewhere now.
  func take(
    on context: SchedulingContext, after event: (inout Storage) -> Void = { _ in }
  ) -> Job? {
    let (job, aftermath) = storage.withLock { storage -> (Job?, Aftermath) in
      guard storage.context === context else { return (nil, self.aftermath(of: &storage)) }
      event(&storage)
      let job = takeJob(&storage)
      return (job, self.aftermath(of: &storage))
    }
    aftermath.carryOut()
    return job
  }

  /// The turn of a procedure has ended, and the procedure has not.
  ///
  /// - Parameter isLast: whether this worker goes then. Another is asked for if there is work.
  func take(
    on context: SchedulingContext, after last: Job, isLast: Bool
  ) -> Job? {
    let (isGivenBack, job, aftermath) = storage.withLock {
      storage -> (Bool, Job?, Aftermath) in
      var isGivenBack = false
      if case .start = last.kind { isGivenBack = storage.machine.giveBack(last.member) }
      if isLast { receiveArrivals(&storage) }
      let job = isLast || storage.context !== context ? nil : takeJob(&storage)
      return (isGivenBack, job, self.aftermath(of: &storage))
    }
    aftermath.carryOut()
    // Whatever it waits for now, apart from a wait for others, begins at the end of a turn.
    if context.wantsLooks { context.supervisor.noteWait(in: self) }
    if !isGivenBack { last.member.release() }
    return job
  }

  /// The categories of a ready member are granted in the same step as its slot. One that is
  /// not granted it steps aside.
  @inline(__always)
  private func takeJob(_ storage: inout Storage) -> Job? {
    receiveArrivals(&storage)
    // Again, so that a worker is asked for on behalf of those behind the last one of a batch.
    defer { receiveArrivals(&storage) }
    while let taken = storage.machine.take() {
      switch taken {
      case .job(let job): return job
      case .mustAsk(let request): if let job = ask(request, &storage) { return job }
      }
    }
    return nil
  }

  /// One critical section: the finished procedure leaves, and the worker gets its next job, which
  /// may be a dependent that has just become ready. A chain therefore runs on one worker, in
  /// first-in-first-out order.
  func retire(
    _ member: Member, on context: SchedulingContext, takesNext: Bool
  ) -> (next: Job?, finishedGroup: Procedure?) {
    let (job, aftermath, end) = storage.withLock {
      storage -> (Job?, Aftermath, LastEnd?) in
      let (closes, request) = storage.machine.retire(member)
      receiveArrivals(&storage)
      let takes = takesNext && !closes && storage.context === context
      if request == nil, storage.machine.count > 0 || !closes && storage.isPlainWhenEmpty {
        return (takes ? takeJob(&storage) : nil, self.aftermath(of: &storage), nil)
      }
      let (end, offers) = leaveAsLast(request, closes, &storage)
      let job = takes ? takeJob(&storage) : nil
      return (job, self.aftermath(of: &storage, offering: offers), end)
    }
    // As mostly: nothing follows.
    if case .none = aftermath, end == nil { return (job, nil) }
    aftermath.carryOut()
    end?.emptyWaiters.forEach { $0.resume() }
    guard end?.hasClosed == true, let group = owner?.group, group.childrenFinished() else {
      return (job, nil)
    }
    return (job, group)
  }
}

/// The end of a member that is more than that: the last one, or one that excluded others.
extension ProcedureList {
  /// What follows, once the lock is released, from the end of a member that was the last one and waited
  /// for, or excluded others. What it holds is released without the lock.
  final class LastEnd: Sendable {
    let emptyWaiters: [FinishWaiter]
    let hasClosed: Bool
    let request: ExclusionRequest?
    /// The list, which owned itself until now.
    let itself: ProcedureList?

    /// Of a group, the usual case.
    static let closed = LastEnd([], hasClosed: true, request: nil, itself: nil)

    init(
      _ emptyWaiters: [FinishWaiter], hasClosed: Bool, request: ExclusionRequest?,
      itself: ProcedureList?
    ) {
      self.emptyWaiters = emptyWaiters
      self.hasClosed = hasClosed
      self.request = request
      self.itself = itself
    }
  }

  @inline(never)
  func leaveAsLast(
    _ request: ExclusionRequest?, _ closes: Bool, _ storage: inout Storage
  ) -> (LastEnd, [ExclusionRequest]?) {
    let offers = request.map { request in
      accept(ExclusionTable.shared.withLock { $0.leave(request) }, &storage)
    }
    let waiters = storage.machine.count == 0 ? storage.emptyWaiters?.takeAll() ?? [] : []
    let itself = storage.machine.count == 0 ? storage.itself.take() : nil
    let released = closes ? storage.takeExclusionAround(with: request) : request
    if closes, waiters.isEmpty, released == nil { return (.closed, offers) }
    return (LastEnd(waiters, hasClosed: closes, request: released, itself: itself), offers)
  }
}

/// The consequences of a critical section, when all locks have been released: usually a worker to ask for.
extension ProcedureList {
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
    case worker(ProcedureList)
    /// Members of that list wait, and no worker can help them.
    case stuck(ProcedureList)
    case work(Work)

    final class Work: Sendable {
      let list: ProcedureList
      /// The context on which the list needs a worker.
      let workerContext: SchedulingContext?
      /// Receives the note that members wait that no worker can help.
      let supervisor: QueueSupervisor?
      /// Freed categories, for procedures of other lists.
      let offers: [ExclusionRequest]

      init(
        on list: ProcedureList, workerContext: SchedulingContext?, supervisor: QueueSupervisor?,
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
        if !work.offers.isEmpty { ProcedureList.pass(on: work.offers) }
      }
    }
  }
}

/// Settings of a list as a whole.
extension ProcedureList {
  var limit: Int {
    get { locked { $0.machine.limit } }
    set {
      update { storage in
        storage.machine.limit = newValue
        return nil
      }
    }
  }

  var isSuspended: Bool {
    get { locked { $0.machine.isSuspended } }
    set {
      guard newValue else { return resume() }
      update { storage in
        storage.machine.isSuspended = true
        return storage.machine.revokeGrants().flatMap { request in
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
}

extension ProcedureList {
  /// Blocks the thread until the last procedure has left.
  func waitUntilEmpty() {
    let semaphore = DispatchSemaphore(value: 0)
    let mustWait = storage.withLock { storage in
      guard hasMembers(storage) else { return false }
      storage.waiters.append(.thread(semaphore))
      return true
    }
    guard mustWait else { return }
    semaphore.wait(
      in: "blockUntilAllFinished()", instead: "await waitUntilAllFinished()", for: procedures)
  }

  /// Returns when the last procedure has left, or the task is cancelled.
  ///
  /// - Returns: false in the latter case.
  func waitUntilEmpty() async -> Bool {
    await FinishWaiter.wait { task in
      storage.withLock { storage in
        if !hasMembers(storage) { return true }
        if Task.isCancelled { return false }
        storage.waiters.append(task)
        return nil
      }
    } leaving: { place in
      storage.withLock { $0.emptyWaiters?.remove(at: place) }
    }
  }

  /// Whether any procedure has not finished, those that have just arrived included.
  private func hasMembers(_ storage: borrowing Storage) -> Bool {
    storage.machine.count > 0 || !arrivals.isEmpty
  }
}

extension ProcedureList.Storage {
  fileprivate var waiters: FinishWaiters {
    mutating get {
      if let emptyWaiters { return emptyWaiters }
      let waiters = FinishWaiters()
      emptyWaiters = waiters
      return waiters
    }
  }
}

/// Receives the events of the members of a queue's list.
class ListDelegate: @unchecked Sendable {
  private let status = AtomicByte(0)

  /// Whether anything wants to be told. One atomic load.
  final var isWanted: Bool { status.load() != 0 }

  final func publish(isWanted: Bool) { status.store(isWanted ? 1 : 0) }

  /// To override.
  func tell(_ event: ProcedureEvents, of procedure: Procedure, errors: [any Error]) {}
}
