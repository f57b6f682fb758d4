internal import ProcedurePrimitives

/// The members of one queue, or the children of one group, and which may run next.
///
/// It acquires no lock and calls no user code. It is not pure: a member's line and neighbours are
/// written into the member, and the references that the list owns are counted here.
///
/// Each member stands in one line (`MemberLines`):
/// - *waiting*: for dependencies, or for the answer of a condition
/// - *evaluable*: its conditions are to be evaluated, which takes no slot
/// - *ready*: for a slot, in the bucket of its priority; those that have stepped aside, and may go on,
///   come before those that became ready later
/// - *excluded*: had a slot at hand, and waits in line for what it excludes others from
/// - *granted*: has a slot, and what it asked for, and is to be taken
/// - *running*: taken with a slot
///
/// Beside them is a line of *turns*: items that have something to do that needs no slot, such
/// as delivering a cancel, or finishing.
///
/// | event             | what it does                                                             |
/// |-------------------|--------------------------------------------------------------------------|
/// | insert            | joins waiting, evaluable or ready; refused once a group has closed       |
/// | advance           | waiting → evaluable or ready; in a batch only noted, instead of ready    |
/// | complete          | all of a batch are members: those that are ready by now → ready          |
/// | makeWaiting       | anywhere, but not started → waiting                                      |
/// | take              | first turn; first granted; first evaluable; first ready if a slot is free |
/// | exclude           | ready → excluded, instead of being taken                                 |
/// | grant             | excluded → granted if it is next for a free slot, otherwise → ready      |
/// | retire            | leaves, wherever it is; frees its slot                                   |
/// | requestTurn       | joins the line of turns                                                  |
/// | begin / settle    | a group executes: children may start / may be the last                   |
///
/// Invariants:
/// 1. After each event, if something can be taken then a worker is requested and has not arrived.
///    So a worker that blocks in user code never keeps others waiting, and a worker may look for
///    more work, or not, as it likes.
/// 2. A group closes exactly once: settled and without members. Closed, it accepts no child.
/// 3. In a cancelled group no child starts.
struct ReadyListStateMachine<Item: Schedulable, Request: SchedulingRequest>: Sendable {
  enum Taken: Sendable {
    case job(Job<Item>)
    /// The first of the ready ones must be granted this before it is taken, or step aside.
    case mustAsk(Request)
  }

  private(set) var memberCount = 0
  private var lastAge: UInt32 = 0
  private(set) var isWorkerRequested = false
  /// Whether none starts any more.
  private(set) var isCancelled = false
  /// Whether the queue refuses items that are added.
  private var isClosed = false
  /// Whether the queue has barriers, which decide when an added item may go on.
  private var holdsAdditions = false
  private let isGroup: Bool
  var limit = Int.max
  var isSuspended = false

  // Of this machine and its extensions only.

  var lines = MemberLines<Item, Request>()
  /// Those that were added, and are no members yet: as if they stood at the end of the waiting ones
  /// and of the ready ones of normal priority. Every event but `take` and `retire` needs
  /// `admitArrivals` before it.
  var arrivals = ArrivalLine<Item>()
  /// Each is owned.
  var turns = Fifo<Member<Item>>()
  var phase: ListPhase
  var kept = KeptChildren()
  /// Whether the group has told its observers of the children that it began with.
  var isAnnounced = false

  init(isGroup: Bool = false) {
    self.isGroup = isGroup
    phase = isGroup ? .held : .running
  }

  var count: Int { memberCount + arrivals.count }

  mutating func insert(
    _ item: Item, _ standing: MemberStanding, asking request: Request? = nil
  ) -> Insertion {
    if phase == .closed || (isClosed && standing.role != .need) { return .refused }
    let isHeld = holdsAdditions && standing.role != .need && !isCancelled
    let line: StandingLine =
      switch standing.readiness {
      case _ where isHeld: .waiting
      case .waiting: .waiting
      case .start where standing.isInBatch: .waiting
      case .evaluate: .evaluable
      case .start: .ready(standing.urgency.priority)
      }
    standing.note(in: item)
    if isHeld { item.membership.isReady = false }
    let member = Member.retaining(item)
    join(member, line, isKept: true)
    if !isHeld, let request { lines.note(request, of: member) }
    // The group brings those that it is made of itself.
    if isGroup, standing.role != .founding { kept.add(item) }
    return isHeld ? .held : .accepted(isAnnounced: isAnnounced)
  }

  /// Makes it a member, whose reference is owned by the list, or else by the caller.
  @inline(__always)
  private mutating func join(_ member: Member<Item>, _ line: StandingLine, isKept: Bool) {
    lastAge &+= 1
    member.age = lastAge
    member.membership.isKept = isKept
    memberCount += 1
    lines.put(member, line)
  }

  /// Takes over the items that have arrived, once none is left of those before.
  mutating func receive(from newArrivals: borrowing Arrivals<Item>) {
    precondition(arrivals.isEmpty, "Internal inconsistency: received before the others had left")
    arrivals = newArrivals.takeAll()
  }

  /// Makes each item that has arrived a member.
  mutating func admitArrivals() {
    while let member = arrivals.popFirst() { admit(member) }
  }

  private mutating func admit(_ member: Member<Item>) {
    let membership = member.membership
    join(member, membership.isReady ? .ready(membership.urgency.priority) : .waiting, isKept: true)
  }

  /// Starts the first that has arrived ready, without a detour over the line of the ready ones.
  @inline(__always)
  private mutating func takeReadyArrival() -> Job<Item>? {
    guard lines.slotsInUse < limit, hasReadyArrivals else { return nil }
    while let member = arrivals.popFirst() {
      guard member.membership.isReady else {
        admit(member)
        continue
      }
      join(member, .running, isKept: false)
      return job(starting: member)
    }
    return nil
  }

  /// A waiting member has come further. One that has left already is ignored.
  mutating func advance(
    _ item: Item, to readiness: Readiness, in attempt: UInt32,
    asking request: Request?
  ) {
    guard item.membership.line == .waiting else { return }
    let member = Member.unowned(item)
    item.membership.attempt = attempt
    switch readiness {
    case .waiting:
      break
    case .evaluate:
      lines.move(member, from: .waiting, to: .evaluable)
    case .start:
      if let request { lines.note(request, of: member) }
      if item.membership.isInBatch {
        item.membership.isReady = true
      } else {
        lines.move(member, from: .waiting, to: .ready(item.membership.urgency.priority))
      }
    }
  }

  /// All of a batch are members, or have arrived. Those that have been ready meanwhile are so from here on.
  ///
  /// - Parameter batch: those that were added in one call, whatever has become of them since.
  mutating func complete(_ batch: [Item]) {
    // From here on none is in `arrivals`, whose ready ones are counted.
    admitArrivals()
    for item in batch {
      item.membership.isInBatch = false
      // One that has not been received will be, as ready as it is.
      guard item.membership.isReady, item.membership.line == .waiting else { continue }
      lines.move(
        .unowned(item), from: .waiting, to: .ready(item.membership.urgency.priority))
    }
  }

  /// A member that had come further, but has not started, must wait after all.
  ///
  /// - Returns: what it asked for, or was granted, and must give up.
  mutating func makeWaiting(_ item: Item) -> Request? {
    let line = item.membership.line
    guard line != .none else { return nil }
    let member = Member.unowned(item)
    item.membership.isReady = false
    if line != .waiting { lines.move(member, to: .waiting) }
    return lines.takeRequest(of: member)
  }

  /// One that has finished leaves. The caller owns a reference to it.
  ///
  /// - Returns: whether that closed the group, and what it has to give up.
  mutating func retire(_ member: Member<Item>) -> (closes: Bool, request: Request?) {
    guard member.membership.line != .none else { return (false, nil) }
    lines.remove(member)
    memberCount -= 1
    let request = lines.takeRequest(of: member)
    if member.membership.isKept { member.release() }
    return (count == 0 && phase.becameEmpty(), request)
  }

  /// The worker that started it has nothing to do for it any more, but it may not have left: then the
  /// list owns the reference from here on.
  ///
  /// - Returns: whether it does. Otherwise the worker releases it.
  mutating func giveBack(_ member: Member<Item>) -> Bool {
    guard member.membership.line != .none, !member.membership.isKept else { return false }
    member.membership.isKept = true
    return true
  }

  /// The queue refuses from here on. All that were added before are members.
  mutating func close() { isClosed = true }

  /// The queue has barriers from here on. All that were added before are members.
  mutating func holdAdditions() { holdsAdditions = true }

  /// The group was cancelled, or the queue as a whole: none starts from here on.
  mutating func cancel() { isCancelled = true }

  // MARK: Work

  mutating func requestTurn(of item: Item) {
    turns.append(.retaining(item))
  }

  /// The next thing to run.
  mutating func take() -> Taken? {
    if let member = turns.popFirst() {
      return .job(Job(member: member, kind: .turn, quality: nil))
    }
    guard isOpen else { return nil }
    if let member = lines.granted.first { return .job(start(member)) }
    if let member = lines.evaluable.first {
      lines.move(member, to: .waiting)
      member.retain()
      let membership = member.membership
      return .job(
        Job(
          member: member, kind: .evaluate(membership.attempt),
          quality: membership.urgency.ownQuality))
    }
    // Arrivals are no more urgent than normal, and came later than those that are ready.
    if !lines.hasReady(atLeast: .normal), let job = takeReadyArrival() { return .job(job) }
    guard lines.slotsInUse < limit, let member = lines.firstReady else { return nil }
    if let request = lines.request(of: member) { return .mustAsk(request) }
    return .job(start(member))
  }

  /// The list's reference goes to the worker; if that has gone to another one already, it gets its own.
  @inline(__always)
  mutating func start(_ member: Member<Item>) -> Job<Item> {
    lines.start(member)
    if !member.membership.isKept { member.retain() }
    member.membership.isKept = false
    return job(starting: member)
  }

  @inline(__always)
  private func job(starting member: Member<Item>) -> Job<Item> {
    let membership = member.membership
    return Job(
      member: member, kind: .start(membership.attempt), quality: membership.urgency.ownQuality)
  }

  /// Whether members may start, and be evaluated, at all.
  @inline(__always)
  var isOpen: Bool { !isSuspended && !isCancelled && phase.letsStart }

  @inline(__always)
  private var canTake: Bool {
    if !turns.isEmpty { return true }
    guard isOpen else { return false }
    return ((lines.hasReady || arrivals.readyCount > 0) && lines.slotsInUse < limit)
      || !lines.evaluable.isEmpty || !lines.granted.isEmpty
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
