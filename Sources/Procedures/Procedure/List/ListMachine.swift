internal import Dispatch
internal import ProcedureExclusion
internal import ProcedurePrimitives

/// The members of one queue, or the children of one group, and the choice of the next one to run.
///
/// It acquires no lock and calls no user code. It is not pure: it writes a member's line and
/// neighbours into the member, and counts the references that the list owns.
///
/// Each member stands in one line (`Buckets`):
/// - *waiting*: for dependencies, or for the answer of a condition
/// - *evaluable*: its conditions can be evaluated, which takes no slot
/// - *ready*: for a slot, in the bucket of its priority; members that have stepped aside, and may
///   go on, come before members that became ready later
/// - *excluded*: had a slot available, and waits in line for its categories
/// - *granted*: has a slot and its categories, and will be taken
/// - *running*: taken with a slot
///
/// A separate line holds *turns*: procedures with something to do that needs no slot, such as
/// delivering a cancel, or finishing.
///
/// | event            | effect                                                                    |
/// |------------------|---------------------------------------------------------------------------|
/// | insert           | joins waiting, evaluable or ready; refused once a group has closed        |
/// | advance          | waiting → evaluable or ready; in a batch only noted, instead of ready     |
/// | complete         | all of a batch are members: the ready ones → ready                        |
/// | makeWaiting      | anywhere, but not started → waiting                                       |
/// | take             | first turn; first granted; first evaluable; first ready if a slot is free |
/// | exclude          | ready → excluded, instead of being taken                                  |
/// | grant            | excluded → granted if it is next for a free slot, otherwise → ready       |
/// | retire           | leaves, wherever it is; frees its slot                                    |
/// | setUrgency       | ready → ready, in another bucket; otherwise counts once it is             |
/// | requestTurn      | joins the line of turns                                                   |
/// | begin, settle    | a group executes: children may start; may be the last                     |
/// | yieldSlot        | a group gives up its slot: only its rests start                           |
/// | reclaimSlot()    | it has a slot again: children may start                                   |
/// | yieldSlot(_:)    | the group, in the list around it: running → waiting                       |
/// | reclaimSlot(of:) | the group, in the list around it: waiting → ready                         |
///
/// Invariants:
/// 1. After each event, if something can be taken, a worker is requested and has not arrived. A
///    worker that blocks in user code therefore never keeps others waiting, and a worker may stop
///    looking for work at any time.
/// 2. A group closes exactly once: settled and without members. Closed, it accepts no child.
/// 3. In a cancelled group no child starts.
struct ListMachine: ~Copyable, Sendable {
  /// Reasons why no member starts although the list has begun.
  private struct Stops: BitFlags {
    let rawValue: UInt8
    static let suspended = Stops(rawValue: 1)
    /// The group has given up its slot.
    static let slotYielded = Stops(rawValue: 2)
  }

  private(set) var memberCount = 0
  private var lastAge: UInt32 = 0
  private(set) var isWorkerRequested = false
  /// Whether no member starts any more.
  private(set) var isCancelled = false
  /// Whether the queue refuses procedures that are added.
  private(set) var isClosed = false
  /// Whether the queue has barriers, which decide when an added procedure may go on.
  private var holdsAdditions = false
  private let isGroup: Bool
  var limit = Int.max
  private var stops: Stops = []

  // Only this machine and its extensions use these.

  var buckets = Buckets()
  /// Procedures that were added and are not members yet. They count as the last of the waiting
  /// members, and of the ready members of normal priority. Every event but `take` and `retire`
  /// needs `admitArrivals` before it.
  var arrivals = ArrivalLine()
  /// The list owns a reference to each.
  var turns = Fifo<Member>()
  var phase: ListPhase
  var kept = KeptChildren()
  /// Whether the group has announced its initial children to its observers.
  var isAnnounced = false

  init(isGroup: Bool = false) {
    self.isGroup = isGroup
    phase = isGroup ? .held : .running
  }

  var count: Int { memberCount + arrivals.count }

  mutating func insert(
    _ procedure: Procedure, _ enqueueRequest: EnqueueRequest,
    asking request: MemberRequest? = nil
  ) -> Insertion {
    // 1. Another member needs a prerequisite, so even a closed queue takes it.
    if phase == .closed || (isClosed && enqueueRequest.role != .prerequisite) { return .refused }
    // 2. A member that barriers hold back, or whose batch is not complete, waits however ready it
    //    is.
    let isHeld = holdsAdditions && enqueueRequest.role != .prerequisite && !isCancelled
    let bucket: Bucket =
      switch enqueueRequest.readiness {
      case _ where isHeld: .waiting
      case .waiting: .waiting
      case .start where enqueueRequest.isInBatch: .waiting
      case .evaluate: .evaluable
      case .start: bucketToStart(procedure, enqueueRequest.urgency)
      }
    // 3. The membership is written before a line shows the member.
    enqueueRequest.note(in: procedure, buckets.held)
    if isHeld { buckets.held.change(procedure) { $0.isReady = false } }
    let member = Member.retaining(procedure)
    join(member, bucket, isRetainedByList: true)
    // 4. A held member makes its request when it is released: `advance`.
    if !isHeld, let request { buckets.note(request, of: member) }
    // 5. The group records its initial children itself: `consist(of:)`.
    if isGroup, enqueueRequest.role != .initialChild { kept.add(procedure) }
    return isHeld ? .held : .accepted(isAnnounced: isAnnounced)
  }

  /// Makes it a member. The list owns the reference if `isRetainedByList`, otherwise the caller.
  @inline(__always)
  private mutating func join(_ member: Member, _ bucket: Bucket, isRetainedByList: Bool) {
    lastAge &+= 1
    buckets.held.setAge(lastAge, of: member)
    buckets.held.change(member) { $0.isRetainedByList = isRetainedByList }
    memberCount += 1
    buckets.put(member, bucket)
  }

  /// Takes over the procedures that have arrived. None of the earlier ones may be left.
  mutating func receive(from newArrivals: borrowing Arrivals) {
    requireConsistency(
      arrivals.isEmpty, "Internal inconsistency: received before the others had left")
    arrivals = newArrivals.takeAll(buckets.held)
  }

  /// Makes each procedure that has arrived a member.
  mutating func admitArrivals() {
    while let member = arrivals.popFirst(buckets.held) { admit(member) }
  }

  private mutating func admit(_ member: Member) {
    let membership = buckets.held[member]
    let bucket =
      membership.isReady ? member.with { bucketToStart($0, membership.urgency) } : .waiting
    join(member, bucket, isRetainedByList: true)
  }

  /// Starts the first ready arrival directly, without the line of the ready members.
  @inline(__always)
  private mutating func takeReadyArrival() -> Job? {
    guard buckets.slotsInUse < limit, hasReadyArrivals else { return nil }
    while let member = arrivals.popFirst(buckets.held) {
      // Those before it that still wait become members, in the order in which they arrived.
      guard buckets.held[member].isReady else {
        admit(member)
        continue
      }
      join(member, .running, isRetainedByList: false)
      return job(starting: member)
    }
    return nil
  }

  /// A waiting member has come further. Ignored if it has left already.
  mutating func advance(
    _ procedure: Procedure, to readiness: Readiness, in attempt: UInt32,
    asking request: MemberRequest?
  ) {
    // 1. It may have left: a cancelled member does not wait.
    guard buckets.held[procedure].bucket == .waiting else { return }
    // 2. A worker that was sent for an earlier attempt finds another number.
    let member = Member.unowned(procedure)
    buckets.held.change(procedure) { $0.attempt = attempt }
    // 3. A ready member of a batch stays where it is until the batch is complete.
    switch readiness {
    case .waiting:
      break
    case .evaluate:
      buckets.move(member, from: .waiting, to: .evaluable)
    case .start:
      if let request { buckets.note(request, of: member) }
      if buckets.held[procedure].isInBatch {
        buckets.held.change(procedure) { $0.isReady = true }
      } else {
        buckets.move(
          member, from: .waiting,
          to: bucketToStart(procedure, buckets.held[procedure].urgency))
      }
    }
  }

  /// All procedures of a batch are members, or have arrived. Those that became ready meanwhile may
  /// start now.
  ///
  /// - Parameter batch: the procedures that were added in one call, in any state by now.
  mutating func complete(_ batch: [Procedure]) {
    // This empties `arrivals`, which counts its ready members.
    admitArrivals()
    for procedure in batch {
      buckets.held.change(procedure) { $0.isInBatch = false }
      // A procedure that has not been received will be received as ready as it is.
      guard buckets.held[procedure].isReady, buckets.held[procedure].bucket == .waiting else {
        continue
      }
      buckets.move(
        .unowned(procedure), from: .waiting, to: .ready(buckets.held[procedure].urgency.priority))
    }
  }

  /// A member that had come further, but has not started, must wait again.
  ///
  /// - Returns: the request or grant that it must give up.
  mutating func makeWaiting(_ procedure: Procedure) -> MemberRequest? {
    let bucket = buckets.held[procedure].bucket
    guard bucket != .none else { return nil }
    // It keeps neither a slot nor categories while it waits: others may need them first.
    let member = Member.unowned(procedure)
    buckets.held.change(procedure) { $0.isReady = false }
    if bucket != .waiting { buckets.move(member, to: .waiting) }
    return buckets.takeRequest(of: member)
  }

  /// Changes the urgency of a member that has not started. A ready member moves behind those that
  /// are ready with the new urgency.
  ///
  /// - Returns: its request, if it has one and the priority, which decides the place in line, has
  ///   changed.
  mutating func setUrgency(_ urgency: Urgency, of procedure: Procedure) -> MemberRequest? {
    // 1. After the start it has no place to change.
    let bucket = buckets.held[procedure].bucket
    guard bucket != .none, bucket != .running else { return nil }
    // 2. The new urgency counts for a later place, even if the member has none now.
    let isMoved = buckets.held[procedure].urgency.priority != urgency.priority
    buckets.held.change(procedure) { $0.urgency = urgency }
    let member = Member.unowned(procedure)
    let request = buckets.request(of: member)
    guard isMoved else { return nil }
    // 3. A member that has returned moves once its request has the ticket of the new priority: see
    //    `reorder(_:_:)`.
    if bucket.isReady {
      buckets.move(member, from: bucket, to: .ready(urgency.priority))
    }
    return request
  }

  /// Removes a member that has finished. The caller owns a reference to it.
  ///
  /// - Parameter weight: its weight in the group's progress, used if the group forgets it.
  /// - Returns: whether that closed the group, and the request that the member must give up.
  mutating func retire(
    _ member: Member, weight: Double = 1
  ) -> (closes: Bool, request: MemberRequest?) {
    guard buckets.held[member].bucket != .none else { return (false, nil) }
    kept.leaves(weight: weight)
    // 1. Its slot is free from now on.
    buckets.remove(member)
    memberCount -= 1
    let request = buckets.takeRequest(of: member)
    // 2. Not the last reference: the caller owns one, too.
    if buckets.held[member].isRetainedByList { member.release() }
    // 3. Arrivals count: a group does not close before they have been received and have finished.
    return (count == 0 && phase.becameEmpty(), request)
  }

  /// The worker that started the member has nothing left to do for it. If the member has not left,
  /// the list takes over the worker's reference.
  ///
  /// - Returns: whether it does. Otherwise the worker releases the reference.
  mutating func giveBack(_ member: Member) -> Bool {
    guard buckets.held[member].bucket != .none, !buckets.held[member].isRetainedByList else {
      return false
    }
    buckets.held.change(member) { $0.isRetainedByList = true }
    return true
  }

  /// The queue refuses added procedures from now on. All earlier ones are members.
  mutating func close() { isClosed = true }

  /// The queue has barriers from now on. All procedures that were added before are members.
  mutating func holdAdditions() { holdsAdditions = true }

  /// The group, or the whole queue, was cancelled: no member starts from now on.
  mutating func cancel() { isCancelled = true }

  // MARK: Work

  mutating func requestTurn(of procedure: Procedure) {
    turns.append(.retaining(procedure))
  }

  /// Takes the next job.
  ///
  /// - Returns: nil if there is none, and if the next one must ask first: see `requestOfNext`.
  mutating func take() -> Job? {
    // 1. Turns need no slot, and run even in a suspended list (C3).
    if let member = turns.popFirst() {
      return Job(member: member, kind: .turn, quality: nil)
    }
    guard isOpen else { return letsRest ? buckets.granted.first.map { start($0) } : nil }
    // 2. A granted member has its slot, and keeps others from its categories until it has finished.
    if let member = buckets.granted.first { return start(member) }
    // 3. Evaluating takes no slot. The member waits for the answer among the waiting ones.
    if let member = buckets.evaluable.first {
      buckets.move(member, to: .waiting)
      member.retain()
      let membership = buckets.held[member]
      return Job(
        member: member, kind: .evaluate(membership.attempt), quality: membership.urgency.ownQuality)
    }
    // 4. Arrivals are no more urgent than normal, and came later than the ready members.
    if !buckets.hasReady(atLeast: .normal), let job = takeReadyArrival() { return job }
    // 5. The first ready member, if a slot is free.
    guard let member = nextForSlot, buckets.request(of: member) == nil else { return nil }
    return start(member)
  }

  /// When nothing can be taken: what the first ready member must be granted to be taken; otherwise
  /// it must step aside. Its categories are asked for together with a free slot, so that it holds
  /// neither while it waits for the other.
  var requestOfNext: MemberRequest? {
    isOpen ? nextForSlot.flatMap { buckets.request(of: $0) } : nil
  }

  /// The first ready member, if a slot is free.
  @inline(__always)
  private var nextForSlot: Member? { buckets.slotsInUse < limit ? buckets.firstReady : nil }

  /// Hands the list's reference to the worker. If another worker has it already, this one gets its
  /// own.
  @inline(__always)
  mutating func start(_ member: Member) -> Job {
    buckets.start(member)
    if !buckets.held[member].isRetainedByList { member.retain() }
    buckets.held.change(member) { $0.isRetainedByList = false }
    return job(starting: member)
  }

  @inline(__always)
  private func job(starting member: Member) -> Job {
    let membership = buckets.held[member]
    return Job(
      member: member, kind: .start(membership.attempt), quality: membership.urgency.ownQuality)
  }

  /// Whether members may start, and be evaluated, at all.
  @inline(__always)
  var isOpen: Bool { stops.isEmpty && !isCancelled && phase.letsStart }

  @inline(__always)
  private var canTake: Bool {
    if !turns.isEmpty { return true }
    guard isOpen else { return letsRest && !buckets.granted.isEmpty }
    return ((buckets.hasReady || arrivals.readyCount > 0) && buckets.slotsInUse < limit)
      || !buckets.evaluable.isEmpty || !buckets.granted.isEmpty
  }

  mutating func workerArrived() {
    isWorkerRequested = false
  }

  /// Restores invariant 1 at the end of each event. True if a worker must be submitted.
  mutating func requestWorker() -> Bool {
    guard !isWorkerRequested, canTake else { return false }
    isWorkerRequested = true
    return true
  }
}

/// Suspension, and a group without its slot.
extension ListMachine {
  var isSuspended: Bool {
    get { stops.contains(.suspended) }
    set { if newValue { stops.insert(.suspended) } else { stops.remove(.suspended) } }
  }

  /// Whether the group has given up its slot, and only its rests start until it has one again.
  var hasYieldedSlot: Bool { stops.contains(.slotYielded) }

  /// Whether rests start, and no other child.
  private var letsRest: Bool {
    hasYieldedSlot && !isSuspended && !isCancelled && phase.letsStart
  }

  /// Whether a rest executes although the group has given up its slot.
  var isResting: Bool {
    guard hasYieldedSlot else { return false }
    var isResting = false
    buckets.forEachWithSlot { member in
      if member.with({ $0.isExecuting }) { isResting = true }
    }
    return isResting
  }

  /// The line of a member that waits only for a slot. A rest needs no slot of the group, and none
  /// among the children.
  @inline(__always)
  private func bucketToStart(_ procedure: Procedure, _ urgency: Urgency) -> Bucket {
    hasYieldedSlot && procedure.isRest ? .granted : .ready(urgency.priority)
  }

  /// The group is about to give up its slot, or has given it up for an earlier rest.
  ///
  /// - Parameter rest: a child.
  /// - Returns: false if `rest` does not execute, or if a child that is no rest runs or stands in
  ///   line: it may exclude others inside the group.
  mutating func yieldSlot(during rest: Procedure) -> Bool {
    guard rest.isExecuting, buckets.held[rest].bucket == .running else { return false }
    if hasYieldedSlot { return true }
    guard !buckets.hasExcluded, hasOnlyRestsWithSlot else { return false }
    stops.insert(.slotYielded)
    // Rests that were ready before need no slot any more.
    var ready: [Member] = []
    buckets.forEachReady { member in if member.with({ $0.isRest }) { ready.append(member) } }
    for member in ready { buckets.move(member, to: .granted) }
    return true
  }

  private var hasOnlyRestsWithSlot: Bool {
    if slotsInUse == 1 { return true }
    var hasOthers = false
    buckets.forEachWithSlot { member in
      if !hasOthers, !member.with({ $0.isRest }) { hasOthers = true }
    }
    return !hasOthers
  }

  /// The group has a slot again.
  ///
  /// - Returns: false if it already had one.
  mutating func reclaimSlot() -> Bool { stops.remove(.slotYielded) != nil }

  /// Takes the slot of a group that executes.
  ///
  /// - Returns: the request that it gives up, and will make again.
  mutating func yieldSlot(_ group: Procedure) -> MemberRequest? {
    guard buckets.held[group].bucket == .running else { return nil }
    let member = Member.unowned(group)
    buckets.move(member, from: .running, to: .waiting)
    return buckets.request(of: member)
  }

  /// A group that has given up its slot wants one again.
  mutating func reclaimSlot(of group: Procedure) {
    guard buckets.held[group].bucket == .waiting else { return }
    buckets.move(
      .unowned(group), from: .waiting, to: .ready(buckets.held[group].urgency.priority))
  }
}

/// How a group uses the list of its children.
extension ListMachine {
  /// All children so far, while finished ones are kept.
  struct KeptChildren: Sendable {
    fileprivate(set) var all: [Procedure] = []
    fileprivate(set) var isKept = true
    /// The sum of the weights of all children that have finished and were forgotten.
    fileprivate(set) var forgottenWeight = 0.0

    mutating func add(_ procedure: Procedure) {
      if isKept { all.append(procedure) }
    }

    /// A child has finished.
    mutating func leaves(weight: Double) {
      if !isKept { forgottenWeight += weight }
    }
  }

  /// The children so far, without finished ones unless those are kept.
  var children: [Procedure] {
    mutating get {
      if keepsFinishedChildren { return kept.all }
      admitArrivals()
      return procedures
    }
  }

  /// Whether `children` has finished ones.
  var keepsFinishedChildren: Bool { kept.isKept }

  /// The sum of the weights of the finished children that `children` does not have.
  var forgottenWeight: Double { kept.forgottenWeight }

  /// The group consists of these children, which were inserted. User code of one of them, in a turn
  /// before the others were inserted, may have added more.
  mutating func consist(of children: [Procedure]) {
    guard keepsFinishedChildren else { return }
    kept.all = kept.all.isEmpty ? children : children + kept.all
  }

  /// - Returns: the forgotten children that have finished, whose weights the caller adds. It
  ///   releases them when it holds no lock.
  mutating func keepFinishedChildren(_ keeps: Bool) -> [Procedure] {
    guard keeps != keepsFinishedChildren else { return [] }
    // Unfinished ones are members, and count when they leave.
    let forgotten = kept.all.filter { buckets.held[$0].bucket == .none }
    kept.all = keeps ? procedures : []
    kept.isKept = keeps
    return forgotten
  }

  /// Counts finished children that the group has forgotten.
  mutating func addForgotten(weight: Double) { kept.forgottenWeight += weight }

  /// The group announces its present children; a caller that adds a later child announces it.
  mutating func announce() { isAnnounced = true }

  /// The group executes: children may start.
  mutating func begin() { phase.begin() }

  /// The group has executed, or never will. True if it had no children left, and is closed now.
  mutating func settle() -> Bool {
    phase.settle()
    return count == 0 && phase.becameEmpty()
  }

  /// The remains of the list of a deallocated group: members, and procedures whose turns are due.
  typealias Remains = (unfinished: [Procedure], finished: [Procedure], awaitingTurn: [Procedure])

  /// The group is deallocated. If it never ran, its members belong to no list now. Turns that have
  /// not run must run elsewhere.
  mutating func abandon() -> Remains {
    // 1. The usual case: the group has ended.
    if phase == .closed, turns.isEmpty {
      let finished = kept.all
      kept = KeptChildren()
      return ([], finished, [])
    }
    // 2. The members leave, and the references of the list become the caller's arrays.
    let unfinished = procedures
    let finished =
      unfinished.isEmpty ? kept.all : kept.all.filter { buckets.held[$0].bucket == .none }
    for procedure in unfinished {
      if buckets.held[procedure].isRetainedByList { Member.unowned(procedure).release() }
      buckets.held.change(procedure) { $0 = Membership() }
    }
    // 3. So do the turns that are due.
    var awaitingTurn: [Procedure] = []
    while let member = turns.popFirst() {
      awaitingTurn.append(member.procedure)
      member.release()
    }
    // 4. A child that is added from now on is refused.
    self = ListMachine(isGroup: true)
    phase = .closed
    return (unfinished, finished, awaitingTurn)
  }
}

/// Questions about a list.
extension ListMachine {
  /// The state in the list of a procedure that is a member, an arrival, or about to be added.
  @inline(__always)
  func membership(of procedure: Procedure) -> Membership { buckets.held[procedure] }

  @inline(__always)
  func membership(of member: Member) -> Membership { buckets.held[member] }

  var slotsInUse: Int { buckets.slotsInUse }

  /// Whether a ready member could be taken.
  var hasRoom: Bool { isOpen && slotsInUse < limit }

  /// Whether a procedure has arrived that is not a member yet.
  var hasArrivals: Bool { !arrivals.isEmpty }

  /// Whether one of them waits only for a slot.
  var hasReadyArrivals: Bool { arrivals.readyCount > 0 }

  /// Whether members wait that no worker can help. False for a group that has not begun, since it
  /// waits in another list itself, and for members that wait only for the end of a suspension.
  @inline(__always)
  func isStuck(hasMoreArrivals: Bool) -> Bool {
    (memberCount > buckets.slotsInUse || hasArrivals || hasMoreArrivals) && !isWorkerRequested
      && phase != .held && !hasYieldedSlot
      && (!isSuspended || hasMoreArrivals || waitsWhileSuspended)
  }

  private var waitsWhileSuspended: Bool {
    buckets.hasWaiting || arrivals.count > arrivals.readyCount
  }

  /// The members, in the order in which they were added. O(n log n) at most.
  var procedures: [Procedure] {
    var members: [Member] = []
    members.reserveCapacity(memberCount)
    buckets.forEach { members.append($0) }
    if zip(members, members.dropFirst()).contains(where: { buckets.isOlder($1, than: $0) }) {
      members.sort { buckets.isOlder($0, than: $1) }
    }
    return members.map(\.procedure)
  }

  /// Visits members and arrivals, in no order.
  func forEach(_ body: (Procedure) -> Void) {
    buckets.forEach { $0.with(body) }
    arrivals.forEach(buckets.held) { $0.with(body) }
  }
}

/// The progress of the group whose children a list holds. Pure. The list of a queue is always
/// *running*.
///
/// Events and phases: – changes nothing; ✕ is an inconsistency and traps.
///
/// | event       | held       | running    | settling | closed |
/// |-------------|------------|------------|----------|--------|
/// | begin       | → running  | –          | –        | –      |
/// | settle      | → settling | → settling | ✕        | ✕      |
/// | becameEmpty | –          | –          | → closed | –      |
enum ListPhase: UInt8, Sendable, CaseIterable {
  /// A group that has not executed: no child starts.
  case held
  /// Members start.
  case running
  /// A group that has executed, or was cancelled before: it closes when no member is left.
  case settling
  /// The group has ended: no child is accepted any more.
  case closed

  /// The group executes: children may start.
  mutating func begin() {
    if self == .held { self = .running }
  }

  /// The group has executed, or never will.
  mutating func settle() {
    requireConsistency(
      self == .held || self == .running, "Internal inconsistency: a group settled twice")
    self = .settling
  }

  /// No member is left.
  ///
  /// - Returns: whether that closed the group.
  @inline(__always)
  mutating func becameEmpty() -> Bool {
    guard self == .settling else { return false }
    self = .closed
    return true
  }

  /// Whether members may start at all.
  var letsStart: Bool { @inline(__always) get { self == .running || self == .settling } }
}

/// Why a ready member of a list has not been started. The raw value is its index among the times of
/// a list.
enum Hindrance: Int, Sendable {
  /// Its group has not begun to execute, or has given up its slot.
  case group
  case suspension
  /// All slots are in use.
  case slot
  /// A slot is free, and no worker has come yet.
  case worker
}

/// A number for each hindrance.
///
/// It has four scalars instead of a vector, which would need an alignment of 32 bytes: more than
/// heap memory has.
struct ForEachHindrance<Value: SIMDScalar & Sendable>: Sendable
where Value: ExpressibleByIntegerLiteral {
  private var values: (Value, Value, Value, Value) = (0, 0, 0, 0)

  /// Indexed by the raw value of the hindrance.
  var lanes: SIMD4<Value> {
    @inline(__always) get { SIMD4(values.0, values.1, values.2, values.3) }
    @inline(__always) set { values = (newValue[0], newValue[1], newValue[2], newValue[3]) }
  }
}

extension ListMachine {
  /// Why ready members are not started at the moment.
  var hindrance: Hindrance {
    @inline(__always) get {
      if phase == .held || hasYieldedSlot { return .group }
      if isSuspended { return .suspension }
      return slotsInUse >= limit ? .slot : .worker
    }
  }
}

struct Job: Sendable {
  /// The worker owns the reference until it gives it back or releases it.
  let member: Member
  let kind: JobKind
  /// Nil for the worker's quality.
  let quality: DispatchQoS.QoSClass?

  /// A turn that the caller holds.
  static func turn(of procedure: Procedure) -> Job {
    Job(member: .retaining(procedure), kind: .turn, quality: nil)
  }
}

enum JobKind: Sendable, Equatable {
  /// Run its turn.
  case turn
  /// Evaluate its conditions, if the attempt is still current.
  case evaluate(UInt32)
  /// It has a slot, if the attempt is still current.
  case start(UInt32)
}
