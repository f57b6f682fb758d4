internal import Dispatch
internal import ProcedurePrimitives

/// The procedures of one queue, or the children of one group, behind one lock, and the workers
/// that run them.
///
/// A worker is one Dispatch block: it takes ready procedures and pending turns one after another
/// until there are none, or its stretch is over. When it takes one and leaves others behind,
/// another worker is asked for before user code runs; so a blocking procedure never keeps the
/// rest waiting, and a burst of small ones costs a few Dispatch calls, not thousands.
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
  /// A thread or task that waits until the last procedure has left.
  enum EmptyWaiter: Sendable {
    case thread(DispatchSemaphore)
    case task(UInt64, CheckedContinuation<Void, Never>)
  }

  private struct Storage: Sendable {
    var machine: ReadyListStateMachine
    var context: SchedulingContext
    var emptyWaiters: [EmptyWaiter]?
    var lastWaiter: UInt64 = 0
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

  private let storage: Contended<Storage>
  private let arrivals: Arrivals
  /// That of the queue, if this is its list. A group's is known when the group is on a queue.
  let fixedContext: SchedulingContext?

  /// Whether a worker was asked for that will look at arrivals. Changes in critical sections only.
  private let isWorkerComing = AtomicByte(0)

  /// Whether the queue has a delegate. One atomic load.
  var hasDelegate: Bool { delegateStatus.load() != 0 }

  private let delegateStatus = AtomicByte(0)

  /// The queue's delegate, if this is the list of a queue.
  let delegate: QueueDelegateReference?

  /// The queue's barriers, if this is the list of a queue.
  let barriers: QueueBarriers?

  /// The group whose children these are, if any.
  let owner: GroupReference?

  /// Whether it is that of a queue, or of a group on one. One atomic load.
  var isOnQueue: Bool { queueStatus.load() != 0 }

  private let queueStatus: AtomicByte

  /// What its members are recorded with, if they are.
  let recording = RecordingReference()

  init(context: SchedulingContext, delegate: QueueDelegateReference? = nil) {
    queueStatus = AtomicByte(context.isDetached ? 0 : 1)
    storage = Contended(Storage(machine: ReadyListStateMachine(), context: context))
    arrivals = Arrivals(isOpen: true)
    fixedContext = context
    self.delegate = delegate
    barriers = delegate == nil ? nil : QueueBarriers()
    owner = nil
  }

  init(childrenOf group: GroupReference) {
    queueStatus = AtomicByte(0)
    storage = Contended(Storage(machine: ReadyListStateMachine(isGroup: true), context: .detached))
    arrivals = Arrivals(isOpen: false)
    fixedContext = nil
    delegate = nil
    barriers = nil
    owner = group
  }

  /// Where turns of procedures run that are on no queue.
  static var detached: ReadyList { DetachedSurroundings.current.list }

  var group: GroupProcedure? { owner?.group }

  /// Calls `body` with the group, for a child that has not finished; nil if the group has gone.
  func withGroup<Result>(
    on context: SchedulingContext, _ body: (GroupProcedure) -> Result
  ) -> Result? {
    owner?.withGroup(isKept: !context.isDetached, body)
  }

  /// The list of the queue that it is on, however deep; of the outermost group if it is on none.
  var outermost: ReadyList {
    var list = self
    while let home = list.group?.read({ $0.home }) { list = home }
    return list
  }

  /// Whether these are the children of a group.
  var isGroup: Bool { owner != nil }
  var context: SchedulingContext { fixedContext ?? locked { $0.context } }
  var procedures: [Procedure] { locked { $0.machine.procedures } }
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

  func position(of procedure: Procedure) -> ReadyListStateMachine.Position {
    locked { $0.machine.position(of: procedure) }
  }

  func setDelegate(_ delegate: (any ProcedureQueueDelegate)?, of queue: ProcedureQueue) {
    self.delegate?.set(delegate, of: queue) { delegateStatus.store($0 ? 1 : 0) }
  }

  func addRecorder(_ recorder: @escaping QueueDelegateReference.Recorder) -> Int? {
    self.delegate?.add(recorder) { delegateStatus.store($0 ? 1 : 0) }
  }

  func removeRecorder(_ key: Int) {
    self.delegate?.removeRecorder(key) { delegateStatus.store($0 ? 1 : 0) }
  }

  // MARK: Members

  /// Adds a member. Called under the procedure's lock; what is returned is for afterwards.
  ///
  /// - Parameter mark: marks it as cancelled, if the group is: before others can find it here.
  func insert(
    _ procedure: Procedure, _ standing: ReadyListStateMachine.Standing,
    asking request: ExclusionRequest?, marking mark: (TreeCancel) -> Void
  ) -> (ReadyListStateMachine.Insertion, Aftermath) {
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
      if insertion != .refused, let cancel = storage.machine.treeCancel {
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
    _ procedure: Procedure, to readiness: ProcedureStateMachine.Readiness, in attempt: UInt32,
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
    update { storage, _ in storage.machine.requestTurn(of: procedure) }
  }

  // MARK: Groups

  /// Whether children are kept that have finished.
  var keepsFinishedChildren: Bool {
    get { locked { $0.machine.keepsFinishedChildren } }
    set {
      let forgotten = locked { $0.machine.keepFinishedChildren(newValue) }
      _ = forgotten
    }
  }

  /// The error of a procedure that this list refuses.
  var refusal: ProcedureError {
    owner == nil
      ? .queueClosed(context.diagnostics.queueName) : .groupFinished(group?.name ?? "")
  }

  /// What is added from here on waits for the barriers of the queue.
  ///
  /// - Returns: all procedures that were added before.
  func holdAdditions() -> [Procedure] {
    arrivals.close()
    return locked { storage in
      storage.machine.holdAdditions()
      return storage.machine.procedures
    }
  }

  /// The queue refuses from here on.
  func close() {
    // A caller that adds after this asks the machine, which by then has all that arrived before.
    arrivals.close()
    locked { $0.machine.close() }
  }

  /// The queue that the group is on is known: children run there too, from here on.
  ///
  /// Iterative: groups may be nested thousands deep.
  func adoptEverywhere(_ context: SchedulingContext) {
    var unadopted = [self]
    while let next = unadopted.popLast() {
      unadopted += next.adopt(context)
      next.recording.takeAwaited()?.beginRecording(of: next)
    }
  }

  /// - Returns: the lists of groups among the children, which are to adopt it as well.
  private func adopt(_ context: SchedulingContext) -> [ReadyList] {
    let (lists, aftermath): ([ReadyList], Aftermath) = locked { storage in
      guard storage.context.isDetached, !context.isDetached else { return ([], .none) }
      storage.context = context
      queueStatus.store(1)
      // A worker that is on its way belongs to the old context, and will do nothing.
      storage.machine.workerArrived()
      isWorkerComing.store(0)
      return (storage.machine.childLists, self.aftermath(of: &storage))
    }
    aftermath.carryOut()
    return lists
  }

  /// The group is about to execute.
  ///
  /// - Returns: the children so far. Later ones are announced when they are added.
  func announce() -> [Procedure] {
    locked { storage in
      storage.machine.announce()
      return storage.machine.children
    }
  }

  func begin() {
    // The group has started, so that it holds what it asked for, as do those around it.
    let around = group.flatMap { group in
      let (request, home) = group.read { ($0.rarities?.conditions?.request, $0.home) }
      return request ?? home?.exclusionAround
    }
    update { storage, _ in
      if storage.exclusionAround == nil { storage.exclusionAround = around }
      storage.machine.begin()
    }
  }

  /// That of the innermost group around its members that excludes others.
  private var exclusionAround: ExclusionRequest? {
    owner == nil ? nil : locked { $0.exclusionAround }
  }

  /// True if no child is left, and none will be accepted.
  func settle() -> Bool {
    let (isClosed, around) = update { storage, _ in
      let isClosed = storage.machine.settle()
      // It keeps the group, which keeps this.
      return (isClosed, isClosed ? storage.exclusionAround.take() : nil)
    }
    _ = around
    return isClosed
  }

  /// Marks the group, or queue, as cancelled and returns the members that may not be.
  func cancel(_ cancel: TreeCancel) -> [Procedure] {
    arrivals.close()
    // Below a cancel that has been everywhere, and with what was added since, all are marked.
    if let earlier = locked({ $0.machine.treeCancel }), earlier.isEverywhere { return [] }
    return locked { storage in
      storage.machine.cancel(cancel)
      return storage.machine.procedures
    }
  }

  func abandon() -> ReadyListStateMachine.Remains {
    locked { $0.machine.abandon() }
  }

  // MARK: Waiting until all have left

  func waitUntilEmpty() {
    let semaphore = DispatchSemaphore(value: 0)
    let mustWait = storage.withLock { storage in
      guard hasMembers(storage) else { return false }
      storage.emptyWaiters = (storage.emptyWaiters ?? []) + [.thread(semaphore)]
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
          guard hasMembers(storage), !Task.isCancelled else { return false }
          storage.emptyWaiters = (storage.emptyWaiters ?? []) + [.task(waiter, continuation)]
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      let found = storage.withLock { storage -> EmptyWaiter? in
        let index = storage.emptyWaiters?.firstIndex {
          if case .task(waiter, _) = $0 { true } else { false }
        }
        return index.flatMap { storage.emptyWaiters?.remove(at: $0) }
      }
      if case .task(_, let continuation) = found { continuation.resume() }
    }
  }

  /// Whether any procedure has not finished, those that have just arrived included.
  private func hasMembers(_ storage: borrowing Storage) -> Bool {
    storage.machine.count > 0 || !arrivals.isEmpty
  }

  // MARK: Workers

  func work(on context: SchedulingContext) {
    let job = take(on: context) { storage in
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
    if let job { run(job, on: context, for: context.scheduler.stretch) }
  }

  /// Goes on with a turn that is held for the caller, and then with whatever else there is.
  func work(onTurnOf procedure: Procedure, on context: SchedulingContext) {
    var stretch = context.scheduler.stretch
    stretch.advance()
    guard self.context === context, !stretch.isOver else { return requestTurn(of: procedure) }
    run(.turn(of: procedure), on: context, for: stretch)
  }

  /// Runs `first` and then whatever else there is, on this thread.
  private func run(
    _ first: ReadyListStateMachine.Job, on context: SchedulingContext, for stretch: WorkerStretch,
    isHandedOver: Bool = false
  ) {
    var stretch = stretch
    var finishedGroup = drain(first, on: context, &stretch, isHandedOver: isHandedOver)
    // A group whose last child was run goes on here: its children's list has nothing else to do.
    while let group = finishedGroup {
      let list = group.listForTurns
      guard list.context === context, !stretch.isOver else { return list.requestTurn(of: group) }
      finishedGroup = list.drain(.turn(of: group), on: context, &stretch)
    }
  }

  /// Runs `first` and then whatever else there is in this list.
  ///
  /// - Returns: the group whose last child this was, if its turn is held for the caller.
  private func drain(
    _ first: ReadyListStateMachine.Job, on context: SchedulingContext,
    _ stretch: inout WorkerStretch,
    isHandedOver: Bool = false
  ) -> GroupProcedure? {
    var next: ReadyListStateMachine.Job? = first
    var isHandedOver = isHandedOver
    while let job = next {
      if let quality = job.quality, !isHandedOver {
        // A procedure with a quality of its own gets a worker of that quality.
        context.scheduler.submit(quality: quality) { [self] in
          run(job, on: context, for: WorkerStretch(procedures: 1), isHandedOver: true)
        }
        next = take(on: context)
        continue
      }
      isHandedOver = false
      var end = job.member.with { $0.runTurn(job.kind, on: self, context) }
      if case .idle(begins: let task?) = end {
        end = begin(task, of: job.member, on: context, &stretch)
      }
      switch end {
      case .idle:
        stretch.advance()
        // What was evaluated may be ready now, and no other worker was asked for on its behalf.
        next = take(on: context, after: job, isLast: stretch.isOver)
      case .retired(let waiters):
        stretch.advance()
        let finishedGroup: GroupProcedure?
        (next, finishedGroup) = job.member.with {
          retire($0, waiters, on: context, takesNext: !stretch.isOver)
        }
        job.member.release()
        if let finishedGroup { return finishedGroup }
      }
    }
    return nil
  }

  private func take(
    on context: SchedulingContext, after event: (inout Storage) -> Void = { _ in }
  ) -> ReadyListStateMachine.Job? {
    let (job, aftermath) = storage.withLock { storage -> (ReadyListStateMachine.Job?, Aftermath) in
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
  private func take(
    on context: SchedulingContext, after last: ReadyListStateMachine.Job, isLast: Bool
  ) -> ReadyListStateMachine.Job? {
    let (isGivenBack, job, aftermath) = storage.withLock {
      storage -> (Bool, ReadyListStateMachine.Job?, Aftermath) in
      var isGivenBack = false
      if case .start = last.kind { isGivenBack = storage.machine.giveBack(last.member) }
      if isLast { receiveArrivals(&storage) }
      let job = isLast || storage.context !== context ? nil : takeJob(&storage)
      return (isGivenBack, job, self.aftermath(of: &storage))
    }
    aftermath.carryOut()
    if !isGivenBack { last.member.release() }
    return job
  }

  /// What a ready member excludes others from is granted in the same step as its slot. One that is
  /// not granted it steps aside.
  @inline(__always)
  private func takeJob(_ storage: inout Storage) -> ReadyListStateMachine.Job? {
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

  @inline(never)
  private func ask(
    _ request: ExclusionRequest, _ storage: inout Storage
  ) -> ReadyListStateMachine.Job? {
    let around = storage.exclusionAround
    guard ExclusionTable.shared.withLock({ $0.ask(request, inside: around) }) else {
      storage.machine.exclude(request.procedure)
      request.wait?.enterLine(of: request)
      return nil
    }
    return storage.machine.takeGranted(request.procedure)
  }

  /// One critical section: the finished procedure leaves, and the worker gets its next job, which
  /// may be a dependent that has just become ready. A chain therefore runs on one worker, in
  /// first-in-first-out order.
  private func retire(
    _ procedure: Procedure, _ waiters: [FinishWaiter]?, on context: SchedulingContext,
    takesNext: Bool
  ) -> (next: ReadyListStateMachine.Job?, finishedGroup: GroupProcedure?) {
    var isReleased = false
    let (job, aftermath, end) = storage.withLock {
      storage -> (ReadyListStateMachine.Job?, Aftermath, RareEnd?) in
      let (closes, request) = storage.machine.retire(procedure)
      receiveArrivals(&storage)
      let takes = takesNext && !closes && storage.context === context
      if storage.machine.count == 0, storage.isKept { (storage.isKept, isReleased) = (false, true) }
      if request == nil, storage.machine.count > 0 || !closes && storage.emptyWaiters == nil {
        return (takes ? takeJob(&storage) : nil, self.aftermath(of: &storage), nil)
      }
      let (end, offers) = retireRarely(request, closes, &storage)
      let job = takes ? takeJob(&storage) : nil
      return (job, self.aftermath(of: &storage, offering: offers), end)
    }
    aftermath.carryOut()
    // The worker has a reference of its own.
    if isReleased { release() }
    if let end { carryOut(end) }
    if let waiters { Self.resume(waiters) }
    guard let end, end.hasClosed, let group = owner?.group, group.childrenFinished() else {
      return (job, nil)
    }
    return (job, group)
  }

  /// What follows, once the lock is released, from the end of a member that was the last one and waited
  /// for, or excluded others.
  private final class RareEnd: Sendable {
    let emptyWaiters: [EmptyWaiter]?
    let hasClosed: Bool
    /// Released without the lock.
    let request: ExclusionRequest?

    init(_ emptyWaiters: [EmptyWaiter]?, hasClosed: Bool, request: ExclusionRequest?) {
      self.emptyWaiters = emptyWaiters
      self.hasClosed = hasClosed
      self.request = request
    }
  }

  @inline(never)
  private func retireRarely(
    _ request: ExclusionRequest?, _ closes: Bool, _ storage: inout Storage
  ) -> (RareEnd, [ExclusionRequest]?) {
    let isEmpty = storage.machine.count == 0
    let offers = request.map { request in
      accept(ExclusionTable.shared.withLock { $0.leave(request) }, &storage)
    }
    let end = RareEnd(
      isEmpty ? storage.emptyWaiters.take() : nil, hasClosed: closes,
      request: closes ? storage.takeExclusionAround(with: request) : request)
    return (end, offers)
  }

  @inline(never)
  private func carryOut(_ end: RareEnd) {
    for waiter in end.emptyWaiters ?? [] { waiter.resume() }
  }

  @inline(never)
  private static func resume(_ waiters: [FinishWaiter]) {
    for waiter in waiters { waiter.resume() }
  }

  // MARK: Exclusions

  /// Grants what was freed to those members of this list that have a slot for it, in the same step.
  ///
  /// - Returns: offers to procedures of other lists.
  private func accept(_ offers: [ExclusionRequest], _ storage: inout Storage) -> [ExclusionRequest]
  {
    var open = offers
    var foreign: [ExclusionRequest] = []
    var next = 0
    // In their order: there may be a slot for the first of them only.
    while next < open.count {
      let offer = open[next]
      next += 1
      if offer.list !== self {
        foreign.append(offer)
        continue
      }
      offer.wait?.leaveLine(after: offer.admittedBy)
      if !storage.machine.grant(offer) {
        open += ExclusionTable.shared.withLock { $0.decline(offer) }
      }
    }
    return foreign
  }

  /// Brings offers to the lists that they are for. Called with no lock held.
  static func pass(on offers: [ExclusionRequest]) {
    var open = offers
    var next = 0
    while next < open.count {
      let offer = open[next]
      next += 1
      let (foreign, aftermath) = offer.list.locked { storage in
        let foreign = offer.list.accept([offer], &storage)
        return (foreign, offer.list.aftermath(of: &storage))
      }
      open += foreign
      aftermath.carryOut()
    }
  }

  // MARK: Critical sections

  /// Runs `body` under the lock, with all that were added in the machine.
  private func locked<Result: Sendable>(_ body: (inout Storage) -> Result) -> Result {
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
  private func receiveArrivals(_ storage: inout Storage) {
    if !storage.machine.hasReadyArrivals, !arrivals.isEmpty { receiveNew(&storage) }
  }

  @inline(never)
  private func receiveNew(_ storage: inout Storage) {
    // Those that only wait would hide the ones behind them, of which one may need a worker.
    storage.machine.admitArrivals()
    receive(&storage)
  }

  /// Takes over all that have arrived, and the reference to this list that they came with.
  private func receive(_ storage: inout Storage) {
    guard storage.machine.receive(from: arrivals) else { return }
    // Not the last one: the other reference is there on behalf of the members.
    if storage.isKept { release() }
    storage.isKept = true
  }

  private func retain() { _ = unsafe Unmanaged.passRetained(self) }
  private func release() { unsafe Unmanaged.passUnretained(self).release() }

  /// Restores the machine's invariant 2 at the end of a critical section.
  @inline(__always)
  private func aftermath(
    of storage: inout Storage, offering offers: [ExclusionRequest]? = nil
  ) -> Aftermath {
    let foreign = offers.map { accept($0, &storage) }
    recording.note(storage.machine)
    let needsWorker = storage.machine.requestWorker()
    let isStuck = storage.machine.isStuck(hasMoreArrivals: !arrivals.isEmpty)
    if !needsWorker, !isStuck, foreign == nil { return .none }
    return aftermath(of: &storage, needsWorker: needsWorker, isStuck: isStuck, foreign: foreign)
  }

  @inline(never)
  private func aftermath(
    of storage: inout Storage, needsWorker: Bool, isStuck: Bool, foreign: [ExclusionRequest]?
  ) -> Aftermath {
    if needsWorker { isWorkerComing.store(1) }
    let watch = isStuck && storage.context.watch.wantsNote ? storage.context.watch : nil
    if watch == nil, foreign == nil {
      guard needsWorker else { return .none }
      if fixedContext != nil { return .worker(self) }
    }
    return .work(
      Aftermath.Work(
        on: self, workerContext: needsWorker ? storage.context : nil, watch: watch,
        offers: foreign ?? []))
  }

  /// One that waits has been added, outside of any critical section.
  private func aftermathOfWaiting() -> Aftermath {
    guard isWorkerComing.load() == 0, fixedContext?.watch.wantsNote == true else { return .none }
    return .work(
      Aftermath.Work(on: self, workerContext: nil, watch: fixedContext?.watch, offers: []))
  }

  /// A critical section after which a worker is asked for if there is work.
  private func update<Result: Sendable>(
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

extension ReadyList.EmptyWaiter {
  fileprivate func resume() {
    switch self {
    case .thread(let semaphore): semaphore.signal()
    case .task(_, let continuation): continuation.resume()
    }
  }
}
