internal import Dispatch
internal import ProcedureExclusion
internal import ProcedurePrimitives

/// The procedures of one queue, or the children of one group, behind one lock.
///
/// Each critical section returns a `FollowUp`, the work to do after all locks: usually to request a
/// worker. A worker (`Worker`) takes the next job.
///
/// A list that is on no queue has no workers. It runs only turns, one block each. The children of a
/// group are on a queue once the group is, and stay there.
///
/// A member does not own its list. The queue owns its list; if the queue is released while members
/// are left, the list owns itself until the last one has left. The list of a group lives as long as
/// the group, which the list around it owns. A worker owns the list that it runs.
///
/// Invariants:
/// 1. Lock order: a procedure's lock, the lock of its queue's barriers, the lock of its list, the
///    exclusion table's lock. Never two procedures' locks. Never two lists' locks, except a group's
///    list inside the list around it.
/// 2. A member's place (waiting, ready, running) changes in the same critical section of the
///    procedure as the reason for it; only a start may be in flight.
final class ProcedureList: Sendable {
  struct Storage: ~Copyable, Sendable {
    var machine: ListMachine
    /// The cancel of the group, or of the whole queue: each member that is added from now on is
    /// cancelled.
    var treeCancel: TreeCancel?
    /// Whether a walk has visited the members of that moment.
    var isWalked = false
    /// The waiters for an empty list. Made for the first waiter.
    var emptyWaiters: FinishWaiters?
    /// The waiters for finished members to leave, which check again after each end. Usually there
    /// are none.
    var leaveWaiters: FinishWaiters?
    /// Cancelled when the queue is closed. Made for the first feed of the queue.
    var closing: CancellationTokenSource?
    /// Whether the queue that owned the list has been deallocated.
    var isOrphaned = false
    /// This list itself, on behalf of its members: while it is orphaned and has some.
    var itself: ProcedureList?
    /// The request of the innermost group around the members that excludes others, while the
    /// members run.
    var exclusionAround: MemberRequest?
    var recording: ListRecording?
    /// Where the members will be recorded once the group is on a queue.
    var awaitedStore: RecordStore?
    /// Called with each procedure that is about to become a member, if there is one.
    var newcomerRecorder: NewcomerRecorder?
  }

  /// Only this list and its extensions use this, `arrivals` and `isWorkerComing`.
  let storage: Contended<Storage>
  let arrivals: Arrivals

  /// Whether a requested worker will look at the arrivals. Changes in critical sections only.
  let isWorkerComing = AtomicByte(0)

  /// The queue's context. The list of a group has none until the group is on a queue.
  private let queueContext: SetOnce<SchedulingContext>

  /// The queue's delegate, if this is the list of a queue.
  let delegate: ListDelegate?

  /// The queue's barriers, if this is the list of a queue.
  let barriers: QueueBarriers?

  /// The group whose children these are, if any.
  let owner: GroupReference?

  /// Whether its members are recorded, or will be: see `ProcedureList+Recording`. Changes under the
  /// lock.
  let recordingStatus = AtomicByte(0)

  /// Whether the group does not keep finished children, whose weights it adds up. Changes under the
  /// lock.
  let forgetsFinished = AtomicByte(0)

  init(context: SchedulingContext, delegate: ListDelegate? = nil) {
    queueContext = SetOnce(context)
    storage = Contended(Storage(machine: ListMachine()))
    arrivals = Arrivals(isOpen: true)
    self.delegate = delegate
    barriers = delegate == nil ? nil : QueueBarriers()
    owner = nil
  }

  init(childrenOf group: GroupReference) {
    queueContext = SetOnce()
    storage = Contended(Storage(machine: ListMachine(isGroup: true)))
    arrivals = Arrivals(isOpen: true)
    delegate = nil
    barriers = nil
    owner = group
  }

  #if MODEL || CHAOS
    deinit {
      requireConsistency(
        storage.withLock { $0.machine.count == 0 } && arrivals.isEmpty,
        "Internal inconsistency: a list was released with members")
    }
  #endif

  // MARK: Where it is

  /// Whether it is the list of a queue, or of a group on a queue. One atomic load.
  var isOnQueue: Bool { queueContext.isSet }

  /// The context of the queue; while it is on none, the context of procedures without a queue.
  var context: SchedulingContext { queueContext.object ?? .detached }

  /// Calls `body` with the context of the queue, if it is on one, without counting a reference.
  @inline(__always)
  func withContext<Result>(_ body: (SchedulingContext) -> Result) -> Result? {
    queueContext.with(body)
  }

  /// The queue that the group is on is known.
  ///
  /// - Parameter storage: unused. It shows that the caller holds the lock, which is necessary: see
  ///   `RecordStore.record(_:)`.
  func setContext(_ context: SchedulingContext, under storage: inout Storage) {
    queueContext.set(context)
  }

  /// Whether the queue has a delegate. One atomic load.
  var hasDelegate: Bool { delegate?.isWanted ?? false }

  /// Whether these are the children of a group.
  var isGroup: Bool { owner != nil }

  var group: GroupProcedure? { owner?.group }

  /// Calls `body` with the group, for a child that has not finished; nil if the group was
  /// deallocated.
  func withGroup<Result>(
    on context: SchedulingContext, _ body: (GroupProcedure) -> Result
  ) -> Result? {
    owner?.withGroup(isKept: !context.isDetached, body)
  }

  /// The list of the queue that it is on, at any depth; if it is on none, the list of the outermost
  /// group.
  var outermost: ProcedureList {
    var list = self
    while let next = list.group?.peek({ $0.list }) { list = next }
    return list
  }

  /// The list of the queue that it is on. Nil if it is on none, or the group has left since the
  /// caller looked at its children: then nothing is left to supervise in it, and the lists around
  /// it are visited on their own.
  var listOfQueue: ProcedureList? {
    let list = outermost
    return list.isGroup ? nil : list
  }

  var procedures: [Procedure] { locked { $0.machine.procedures } }
  var children: [Procedure] { locked { $0.machine.children } }
  var count: Int { locked { $0.machine.count } }

  // MARK: Critical sections

  /// Stops a debug build if the calling thread does not hold the lock.
  @inline(__always)
  func assertHeld() { storage.assertHeld() }

  /// Runs `body` under the lock, with all added procedures in the machine.
  func locked<Result: Sendable>(_ body: (inout Storage) -> Result) -> Result {
    storage.withLock { storage in
      admitAll(&storage)
      return body(&storage)
    }
  }

  /// Runs `body` under the lock. Called under the lock of a member.
  func holdingLock<Result: Sendable>(_ body: () -> Result) -> Result { locked { _ in body() } }

  /// The beginning of each critical section that is not a worker's own. Frequent ones call it
  /// directly: a capture of a closure inside a closure is counted twice.
  @inline(__always)
  func admitAll(_ storage: inout Storage) {
    while true {
      storage.machine.admitArrivals()
      if arrivals.isEmpty { break }
      storage.machine.receive(from: arrivals)
    }
  }

  /// Hands the added procedures to the machine, unless ready ones of the earlier arrivals are left.
  @inline(__always)
  func receiveArrivals(_ storage: inout Storage) {
    if !storage.machine.hasReadyArrivals, !arrivals.isEmpty { receiveNew(&storage) }
  }

  /// Hands all added procedures to the machine. If the arrivals are not closed, more may come at
  /// any time.
  @inline(__always)
  func receiveAll(_ storage: inout Storage) {
    if !arrivals.isEmpty { receiveNew(&storage) }
  }

  @inline(never)
  private func receiveNew(_ storage: inout Storage) {
    // Earlier arrivals that only wait would hide later ones, of which one may need a worker.
    storage.machine.admitArrivals()
    storage.machine.receive(from: arrivals)
  }

  /// A critical section after which a worker is requested if there is work.
  ///
  /// - Parameter body: returns the categories that it has freed.
  func update(_ body: (inout Storage) -> ExclusionOffers) {
    let followUp = locked { storage in
      let offers = body(&storage)
      return self.followUp(of: &storage, offering: offers)
    }
    followUp.perform()
  }

  // MARK: Follow-up work

  /// The work that a critical section leaves for when no lock is held. Usually nothing.
  ///
  /// It has the size of one reference, since each critical section returns one.
  enum FollowUp: Sendable {
    case nothing
    /// The list needs a worker.
    case worker(ProcedureList)
    /// Members of the list wait, and no worker can help them.
    case stuck(ProcedureList)
    /// More than one of these.
    case several(Several)

    final class Several: Sendable {
      let list: ProcedureList
      let needsWorker: Bool
      let isStuck: Bool
      /// Freed categories, for procedures of other lists.
      let offers: ExclusionOffers

      fileprivate init(
        _ list: ProcedureList, needsWorker: Bool, isStuck: Bool, offers: ExclusionOffers
      ) {
        self.list = list
        self.needsWorker = needsWorker
        self.isStuck = isStuck
        self.offers = offers
      }
    }

    fileprivate init(
      _ list: ProcedureList, needsWorker: Bool, isStuck: Bool, offers: ExclusionOffers = .none
    ) {
      switch (needsWorker, isStuck, offers.isEmpty) {
      case (false, false, true): self = .nothing
      case (true, false, true): self = .worker(list)
      case (false, true, true): self = .stuck(list)
      default:
        self = .several(
          Several(list, needsWorker: needsWorker, isStuck: isStuck, offers: offers))
      }
    }

    var isNothing: Bool {
      @inline(__always) get { if case .nothing = self { true } else { false } }
    }

    /// Whether the only work is to request a worker.
    var isOnlyWorker: Bool { if case .worker = self { true } else { false } }

    /// Adds the work that an earlier step in the same critical section of a procedure left.
    /// `isStuck` comes from the later follow-up.
    func following(_ earlier: FollowUp) -> FollowUp {
      guard let earlier = earlier.all, earlier.needsWorker || !earlier.offers.isEmpty else {
        return self
      }
      var offers = earlier.offers
      offers.append(contentsOf: all?.offers ?? .none)
      return FollowUp(
        earlier.list, needsWorker: earlier.needsWorker || all?.needsWorker == true,
        isStuck: all?.isStuck == true, offers: offers)
    }

    private var all: Several? {
      switch self {
      case .nothing: nil
      case .worker(let list): Several(list, needsWorker: true, isStuck: false, offers: .none)
      case .stuck(let list): Several(list, needsWorker: false, isStuck: true, offers: .none)
      case .several(let several): several
      }
    }

    /// - Parameter isLast: false if the caller is about to change the list again: then the next
    ///   follow-up says whether members are stuck.
    @inline(__always)
    func perform(isLast: Bool = true) {
      if !isNothing { performRest(isLast) }
    }

    @inline(never)
    private func performRest(_ isLast: Bool) {
      switch self {
      case .nothing: break
      case .worker(let list): Worker.submit(for: list)
      case .stuck(let list): if isLast { list.context.supervisor.noteStuck(list) }
      case .several(let several):
        let list = several.list
        if several.needsWorker { Worker.submit(for: list) }
        if isLast, several.isStuck { list.context.supervisor.noteStuck(list) }
        if !several.offers.isEmpty { ProcedureList.pass(on: several.offers) }
      }
    }
  }

  /// Restores the machine's invariant 1 at the end of a critical section.
  @inline(__always)
  func followUp(
    of storage: inout Storage, offering offers: ExclusionOffers = .none
  ) -> FollowUp {
    let foreign = offers.isEmpty ? .none : accept(offers, &storage)
    storage.recording?.history.note(storage.machine.hindrance, limit: storage.machine.limit)
    let needsWorker = storage.machine.requestWorker()
    let isStuck =
      storage.machine.isStuck(hasMoreArrivals: !arrivals.isEmpty) && wantsStuckLists
    if !needsWorker, !isStuck, foreign.isEmpty { return .nothing }
    return followUp(needsWorker: needsWorker, isStuck: isStuck, foreign: foreign)
  }

  @inline(never)
  private func followUp(
    needsWorker: Bool, isStuck: Bool, foreign: ExclusionOffers = .none
  ) -> FollowUp {
    if needsWorker { isWorkerComing.store(1) }
    return FollowUp(self, needsWorker: needsWorker, isStuck: isStuck, offers: foreign)
  }

  /// A waiting procedure has been added, outside of any critical section.
  @inline(never)
  private func followUpOfWaiting() -> FollowUp {
    isWorkerComing.load() == 0 && wantsStuckLists
      ? .stuck(self) : .nothing
  }

  private var wantsStuckLists: Bool { withContext { $0.wantsStuckLists } ?? false }

  /// The procedures, for a look that has changed the note of stuck lists.
  ///
  /// A caller that adds a waiting procedure without the lock changes the arrivals, and then reads
  /// the note. The look also changes the arrivals before it reads them, so one of the two finds the
  /// change of the other. If the look only read them, both could read the earlier values, by the
  /// rules of the language; no processor that we know does it.
  var proceduresForLook: [Procedure] {
    arrivals.order()
    return procedures
  }
}

/// Adding.
extension ProcedureList {
  /// Adds a procedure in the same way as its queue or group.
  ///
  /// - Parameter role: its role on the queue.
  func add(_ procedure: Procedure, as role: MemberRole = .member) {
    if let group {
      group.add(child: procedure)
    } else {
      admit(procedure, as: role)
    }
  }

  /// Adds a procedure to the list of a queue, and notifies the delegate.
  ///
  /// - Returns: whether it was accepted.
  @discardableResult
  func admit(
    _ procedure: Procedure, as role: MemberRole = .member
  ) -> Bool {
    let notifies = hasDelegate
    if notifies { delegate?.notify(.willAdd, of: procedure, errors: []) }
    guard procedure.enqueue(in: self, as: role) != .refused else {
      procedure.end(refusedBy: self)
      return false
    }
    if notifies { delegate?.notify(.didAdd, of: procedure, errors: []) }
    return true
  }

  /// Adds several procedures to the list of a queue, and notifies the delegate. None starts before
  /// all are members.
  ///
  /// No user code is called while some are members and others are not.
  func admit(_ batch: [Procedure]) {
    if batch.count <= 1 { return batch.forEach { admit($0) } }
    // 1. The delegate first: it is user code, and no member is waiting for the rest yet.
    let notifies = hasDelegate
    if notifies { for procedure in batch { delegate?.notify(.willAdd, of: procedure, errors: []) } }
    // 2. Add all, then let them start together, so that the most urgent one is first.
    var refused: [Procedure] = []
    batch.forEachUncounted { procedure in
      if procedure.enqueue(in: self, isInBatch: true) == .refused { refused.append(procedure) }
    }
    complete(batch)
    // 3. User code again.
    for procedure in refused { procedure.end(refusedBy: self) }
    guard notifies else { return }
    let unadded = Set(refused)
    for procedure in batch where !unadded.contains(procedure) {
      delegate?.notify(.didAdd, of: procedure, errors: [])
    }
  }

  /// All that were added in one call are members, and may start.
  func complete(_ batch: [Procedure]) {
    let followUp = storage.withLock { storage in
      storage.machine.complete(batch)
      receiveArrivals(&storage)
      return self.followUp(of: &storage)
    }
    followUp.perform()
  }

  /// Adds a member. The returned work is for when no lock is held.
  ///
  /// - Parameter mark: marks it as cancelled, if the group is, before other threads can find it
  ///   here.
  @inline(__always)
  func insert(
    _ procedure: Procedure, _ enqueueRequest: EnqueueRequest,
    asking request: MemberRequest?, marking mark: (TreeCancel) -> Void
  ) -> (Insertion, FollowUp) {
    procedure.assertLocked()
    // 1. Usually no lock is needed. A group allows that only while it is being made: later it may
    //    refuse.
    if request == nil, enqueueRequest.mayArriveLate,
      owner == nil || enqueueRequest.role == .initialChild,
      arrivals.isOpen
    {
      let held = HeldList.adding(procedure)
      enqueueRequest.note(in: procedure, held)
      if let mustLook = arrivals.append(procedure, isExpected: isWorkerComing, held) {
        // The follow-up comes when the group is made.
        if owner != nil { return (.accepted(isAnnounced: false), .nothing) }
        guard mustLook else {
          // The caller that completes a batch decides whether members are stuck.
          let waits = enqueueRequest.readiness == .waiting && !enqueueRequest.isInBatch
          return (.accepted(isAnnounced: true), waits ? followUpOfWaiting() : .nothing)
        }
        // If it cannot be taken now, it stays an arrival until the obstacle has changed.
        return storage.withLock { storage in
          if storage.machine.isSuspended { return (.accepted(isAnnounced: true), .nothing) }
          if storage.machine.hasRoom { receiveArrivals(&storage) }
          return (.accepted(isAnnounced: true), followUp(of: &storage))
        }
      }
    }
    // 2. Otherwise it is inserted under the lock, behind all arrivals.
    return storage.withLock { storage in
      admitAll(&storage)
      let insertion = storage.machine.insert(procedure, enqueueRequest, asking: request)
      // 3. A queue that was released keeps its list as long as there are members.
      if insertion != .refused, storage.isOrphaned { storage.itself = self }
      // 4. In a cancelled group it reads cancelled before another thread can find it here. A group
      //    among them counts as unmarked until its own children are.
      if insertion != .refused, let cancel = storage.treeCancel {
        if procedure.childList != nil { cancel.expectGroup(in: self) }
        mark(cancel)
      }
      return (insertion, followUp(of: &storage))
    }
  }
}

/// The requests of unfinished members.
extension ProcedureList {
  /// The procedure waits only for a slot, or for a worker that evaluates its conditions.
  ///
  /// - Parameter asks: false if the caller is a worker that will look for more in this list.
  func advance(
    _ procedure: Procedure, to readiness: Readiness, in attempt: UInt32,
    asking request: MemberRequest?, asks: Bool
  ) -> FollowUp {
    procedure.assertLocked()
    return storage.withLock { storage in
      admitAll(&storage)
      storage.machine.advance(procedure, to: readiness, in: attempt, asking: request)
      // 1. From now on it waits for its group, which may wait for it.
      if storage.machine.phase == .held {
        return followUp(
          needsWorker: storage.machine.requestWorker(), isStuck: wantsStuckLists)
      }
      // 2. The caller that completes the batch decides whether members are stuck.
      if storage.machine.membership(of: procedure).isInBatch {
        return followUp(needsWorker: storage.machine.requestWorker(), isStuck: false)
      }
      // 3. A worker of this list is about to take its next job in any case.
      return asks ? followUp(of: &storage) : .nothing
    }
  }

  /// A member has one wait fewer but still waits; a barrier may now be in a cycle with it.
  func followUpOfWaitingOn() -> FollowUp {
    // Arrivals are closed as soon as there is a barrier.
    owner == nil && !arrivals.isOpen ? followUpOfWaiting() : .nothing
  }

  func makeWaiting(_ procedure: Procedure) -> FollowUp {
    procedure.assertLocked()
    return locked { makeWaiting(procedure, &$0) }
  }

  private func makeWaiting(_ procedure: Procedure, _ storage: inout Storage) -> FollowUp {
    let offers = storage.machine.makeWaiting(procedure).map { request in
      request.record?.leaveLine()
      return request.leave(hasStarted: false)
    }
    return followUp(of: &storage, offering: offers ?? .none)
  }

  /// A procedure that has a slot and was cancelled before it started gives back the slot and its
  /// categories.
  ///
  /// - Parameter attempt: the attempt in which a worker took it; nil for any.
  func surrender(_ procedure: Procedure, in attempt: UInt32? = nil) -> FollowUp {
    procedure.assertLocked()
    return locked { storage in
      let membership = storage.machine.membership(of: procedure)
      guard membership.bucket.hasSlot, attempt == nil || membership.attempt == attempt else {
        return .nothing
      }
      return makeWaiting(procedure, &storage)
    }
  }

  /// The urgency of a procedure that has not started has changed.
  func changeUrgency(of procedure: Procedure, to urgency: Urgency) -> FollowUp {
    procedure.assertLocked()
    return locked { storage in
      // The table draws the new ticket, then the machine moves the member to its place.
      let offers = storage.machine.setUrgency(urgency, of: procedure).map { request in
        let offers = request.setPriority(urgency.priority)
        storage.machine.reorder(procedure, request)
        return offers
      }
      return followUp(of: &storage, offering: offers ?? .none)
    }
  }

  /// A procedure that was cancelled leaves the line in which it waits.
  ///
  /// An offer for it, if there is one, is on its way here, and is declined.
  ///
  /// The members behind it are notified when it has finished, at the latest: this call is made
  /// under a procedure's lock.
  func withdraw(_ procedure: Procedure) {
    procedure.assertLocked()
    locked { storage in
      guard let request = storage.machine.withdraw(procedure) else { return }
      request.record?.leaveLine()
      ExclusionTable.shared.withLock { $0.withdraw(request) }
    }
  }

  /// Has a worker run the turn that the caller holds for `procedure`, which is on a queue.
  ///
  /// - Parameter asks: false if the caller is a worker that will look for more in this list.
  fileprivate func requestTurn(of procedure: Procedure, asks: Bool) {
    let followUp = storage.withLock { storage -> FollowUp in
      admitAll(&storage)
      storage.machine.requestTurn(of: procedure)
      return asks ? self.followUp(of: &storage) : .nothing
    }
    followUp.perform()
  }
}

extension Procedure {
  /// Has a thread run the turn that the caller holds.
  final func requestTurn() { requestTurn(in: peek { $0.list }) }

  /// - Parameters:
  ///   - list: the list whose workers run it, if it is on a queue.
  ///   - workerList: the list of the calling worker, which will look for more there.
  final func requestTurn(in list: ProcedureList?, onWorkerOf workerList: ProcedureList? = nil) {
    // 1. A worker of its list runs it.
    if let list, list.isOnQueue { return list.requestTurn(of: self, asks: list !== workerList) }
    // 2. A turn would come after the deallocation that is under way.
    if list == nil, isBeingReleased(self) { return }
    // 3. Otherwise a block of its own does. If it is on a queue by then, the turn moves there.
    let context = SchedulingContext.detached
    context.scheduler.submit(quality: nil) { Worker.runTurn(of: self, outsideOfQueuesOn: context) }
  }
}

/// How a worker takes members, and brings them back.
extension ProcedureList {
  /// A worker has arrived on a thread.
  ///
  /// - Returns: the first job.
  func takeFirst() -> Job? {
    take { storage in
      storage.machine.workerArrived()
      // The change of the arrivals releases this store: it needs no order of its own.
      isWorkerComing.store(0)
      // This changes the arrivals instead of only reading them: a procedure whose caller still
      // found a worker expected is there, and a later caller finds none expected.
      if storage.machine.hasArrivals {
        arrivals.order()
      } else {
        storage.machine.receive(from: arrivals)
      }
    }
  }

  /// The next job for a worker; nil if there is none.
  func take(after event: (inout Storage) -> Void = { _ in }) -> Job? {
    let (job, followUp) = storage.withLock { storage -> (Job?, FollowUp) in
      event(&storage)
      let job = takeJob(&storage)
      return (job, self.followUp(of: &storage))
    }
    // If there is more to take, another worker is on its way before user code of this job runs.
    followUp.perform()
    return job
  }

  /// The turn of a procedure has ended, and the procedure has not finished.
  ///
  /// - Parameter isLast: whether this worker ends then. Another is requested if there is work.
  func take(after last: Job, isLast: Bool) -> Job? {
    let (isGivenBack, job, followUp) = storage.withLock { storage -> (Bool, Job?, FollowUp) in
      // 1. The list owns it again: it may execute on without a worker.
      var isGivenBack = false
      if case .start = last.kind { isGivenBack = storage.machine.giveBack(last.member) }
      // 2. A worker that ends takes nothing, but must see what it leaves to another.
      if isLast { receiveArrivals(&storage) }
      let job = isLast ? nil : takeJob(&storage)
      return (isGivenBack, job, self.followUp(of: &storage))
    }
    followUp.perform()
    // 3. Its waits begin at the end of a turn, except waits for other procedures.
    _ = withContext { if $0.wantsLooks { $0.supervisor.noteWait(in: self) } }
    // 4. It may be the last reference.
    if !isGivenBack { last.member.release() }
    return job
  }

  /// The categories of a ready member are granted in the same step as its slot. A member that does
  /// not get them steps aside.
  @inline(__always)
  private func takeJob(_ storage: inout Storage) -> Job? {
    receiveArrivals(&storage)
    // Receive again, so that a worker is requested for the procedures behind the last of a batch.
    defer { receiveArrivals(&storage) }
    while true {
      if let job = storage.machine.take() { return job }
      guard let request = storage.machine.requestOfNext else { return nil }
      if let job = ask(request, &storage) { return job }
    }
  }

  /// One critical section: the finished procedure leaves, and the worker gets its next job, which
  /// may be a dependent that just became ready. A chain therefore runs on one worker, in
  /// first-in-first-out order.
  ///
  /// - Returns: the next job; and the group whose last child this was, if the caller now holds its
  ///   turn.
  func retire(_ member: Member, takesNext: Bool) -> (next: Job?, finishedGroup: Procedure?) {
    // Read before the list's lock, which comes after the procedure's. A child that leaves while the
    // group begins to forget counts with the default weight.
    let isWeighed = forgetsFinished.load() != 0 && Procedure.weightsAreUsed.load() != 0
    let weight = isWeighed ? member.with { $0.progressWeight } : 1
    let (job, followUp, end) = storage.withLock { storage -> (Job?, FollowUp, LastEnd?) in
      // 1. It leaves, with its slot. If its turn did not begin in this list, it may still be an
      //    arrival: it is on no queue, or it is a cancelled group whose turn is run by the worker
      //    of its last child.
      if storage.machine.membership(of: member).bucket == .none { admitAll(&storage) }
      let hasStarted = storage.machine.membership(of: member).bucket != .granted
      let (closes, request) = storage.machine.retire(member, weight: weight)
      receiveArrivals(&storage)
      // 2. Usually that is all. Its categories are free now, and are offered before the next job is
      //    taken.
      var (end, offers): (LastEnd?, ExclusionOffers) = (nil, .none)
      if request != nil || closes || storage.machine.count == 0 || storage.leaveWaiters != nil {
        (end, offers) = leaveAsLast(request, hasStarted: hasStarted, closes: closes, &storage)
      }
      // 3. The next job.
      let job = takesNext && !closes ? takeJob(&storage) : nil
      return (job, self.followUp(of: &storage, offering: offers), end)
    }
    // 4. Without a lock: request a worker, carry offers to other lists, and resume the waiters.
    if followUp.isNothing, end == nil { return (job, nil) }
    followUp.perform()
    guard let end else { return (job, nil) }
    FinishWaiter.resume(end.waiters)
    // 5. A group does not leave its own list before it is notified of this.
    guard end.hasClosed, let owner else { return (job, nil) }
    let group = owner.withGroup(isKept: isOnQueue) { $0.childrenFinished() ? $0 : nil }
    return (job, group ?? nil)
  }

  /// The work after the lock is released, if the member was waited for, as the last one or to
  /// leave, or excluded others. Its references are released without the lock.
  private final class LastEnd: Sendable {
    let waiters: [FinishWaiter]
    let hasClosed: Bool
    let request: MemberRequest?
    /// The list, if it owned itself until now.
    let itself: ProcedureList?

    /// The usual case for a group.
    static let closed = LastEnd([], hasClosed: true, request: nil, itself: nil)

    init(
      _ waiters: [FinishWaiter], hasClosed: Bool, request: MemberRequest?,
      itself: ProcedureList?
    ) {
      self.waiters = waiters
      self.hasClosed = hasClosed
      self.request = request
      self.itself = itself
    }
  }

  @inline(never)
  private func leaveAsLast(
    _ request: MemberRequest?, hasStarted: Bool, closes: Bool, _ storage: inout Storage
  ) -> (LastEnd?, ExclusionOffers) {
    // 1. Its categories are free. Members of this list get them at once, with their slots.
    var offers = ExclusionOffers()
    if let request {
      offers = accept(request.leave(hasStarted: hasStarted), &storage)
    }
    // 2. The waiters that this member was the last for.
    let isEmpty = storage.machine.count == 0
    var waiters = isEmpty ? storage.emptyWaiters?.takeAll() ?? [] : []
    if let leaveWaiters = storage.leaveWaiters.take() { waiters += leaveWaiters.takeAll() }
    // 3. References that are released without the lock: an orphaned list owns itself until now.
    let itself = isEmpty ? storage.itself.take() : nil
    var released = request
    if closes, let around = storage.exclusionAround.take() {
      // The request has left the table. It keeps the outer request as if it had been made here.
      if let request { request.keep(around) } else { released = around }
    }
    if waiters.isEmpty, released == nil, itself == nil { return (closes ? .closed : nil, offers) }
    return (LastEnd(waiters, hasClosed: closes, request: released, itself: itself), offers)
  }
}

/// The deallocation of the queue that owns it.
extension ProcedureList {
  /// The queue is being deallocated; its members will still run.
  func orphan() {
    // 1. From now on nothing arrives without the lock. A member may still add others, through its
    //    list.
    arrivals.close()
    // 2. While it has members it owns itself; `retire` ends that with the last one. A procedure
    //    that is added after that makes the list own itself again.
    update { storage in
      storage.machine.isSuspended = false
      storage.isOrphaned = true
      if storage.machine.count > 0 { storage.itself = self }
      return .none
    }
  }
}

/// Settings.
extension ProcedureList {
  var limit: Int {
    get { locked { $0.machine.limit } }
    set {
      update { storage in
        storage.machine.limit = newValue
        return .none
      }
    }
  }

  var isSuspended: Bool {
    get { locked { $0.machine.isSuspended } }
    set {
      guard newValue else { return resume() }
      update { storage in
        storage.machine.isSuspended = true
        var offers = ExclusionOffers()
        for request in storage.machine.revokeGrants() {
          offers.append(contentsOf: request.decline())
        }
        return offers
      }
    }
  }

  private func resume() {
    // Arrivals need not become members for this, unlike in `update(_:)`.
    let followUp = storage.withLock { storage in
      storage.machine.isSuspended = false
      receiveArrivals(&storage)
      return self.followUp(of: &storage)
    }
    followUp.perform()
  }
}

/// Waiting until the list is empty.
extension ProcedureList {
  /// Blocks the thread until the last procedure has left.
  func waitUntilEmpty() {
    // 1. Under the lock it is empty, or the last member finds the waiter.
    let (semaphore, place) = (DispatchSemaphore(value: 0), FinishWaiter.Place())
    let mustWait = storage.withLock { storage in
      guard hasMembers(storage) else { return false }
      storage.emptyWaiters.made.append(.thread(semaphore, place))
      return true
    }
    guard mustWait else { return }
    // 2. A wait for itself ends with an error: the call leaves the line.
    let call = WaitingCall(
      name: "blockUntilAllFinished()", instead: "await waitUntilAllFinished()", target: .all(self),
      in: place)
    if call.block(on: semaphore) != nil {
      _ = storage.withLock { $0.emptyWaiters?.remove(at: place) }
    }
  }

  /// Returns when the last procedure has left, or the task is cancelled.
  ///
  /// - Parameter body: the body task that continues afterwards, if it is one and nothing else ends
  ///   the wait.
  /// - Returns: false if the task was cancelled.
  func waitUntilEmpty(
    as body: BodyTask? = .current, in name: String = "waitUntilAllFinished()"
  ) async -> Bool {
    await FinishWaiter.wait(in: name, for: .all(self), as: body) { task in
      storage.withLock { storage in
        if !hasMembers(storage) { return true }
        if Task.isCancelled { return false }
        storage.emptyWaiters.made.append(task)
        return nil
      }
    } leaving: { [self] place in
      storage.withLock { $0.emptyWaiters?.remove(at: place) }
    }
  }

  /// Returns when a procedure that has finished has left the list.
  func waitUntilLeft(_ procedure: Procedure) async {
    var isMember = true
    while isMember {
      isMember = await withCheckedContinuation { continuation in
        let mustWait = storage.withLock { storage in
          guard storage.machine.membership(of: procedure).bucket != .none else { return false }
          storage.leaveWaiters.made.append(.task(continuation, FinishWaiter.Place()))
          return true
        }
        if !mustWait { continuation.resume(returning: false) }
      }
    }
  }

  /// Whether any procedure has not finished, arrivals included.
  private func hasMembers(_ storage: borrowing Storage) -> Bool {
    storage.machine.count > 0 || !arrivals.isEmpty
  }
}

extension FinishWaiters? {
  /// The waiters, made for the first of them.
  fileprivate var made: FinishWaiters {
    mutating get {
      if let self { return self }
      let waiters = FinishWaiters()
      self = waiters
      return waiters
    }
  }
}

/// Receives the events of the members of a queue's list.
class ListDelegate: @unchecked Sendable {
  private let status = AtomicByte(0)

  /// Whether the delegate wants events. One atomic load.
  final var isWanted: Bool { status.load() != 0 }

  final func publish(isWanted: Bool) { status.store(isWanted ? 1 : 0) }

  /// Subclasses override this.
  func notify(_ event: ProcedureEvents, of procedure: Procedure, errors: [any Error]) {}
}
