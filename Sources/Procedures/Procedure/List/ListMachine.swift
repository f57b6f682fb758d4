internal import Dispatch
internal import ProcedurePrimitives

/// The members of one queue, or the children of one group, and which may run next.
///
/// It acquires no lock and calls no user code. It is not pure: a member's line and neighbours are
/// written into the member, and the references that the list owns are counted here.
///
/// Each member stands in one line (`MemberLines`):
/// - *waiting*: for dependencies, or for the answer of a condition
/// - *evaluable*: its conditions are to be evaluated, which takes no slot
/// - *ready*: for a slot, in the bucket of its priority; members that have stepped aside, and may go on,
///   come before members that became ready later
/// - *excluded*: had a slot at hand, and waits in line for its categories
/// - *granted*: has a slot and its categories, and is to be taken
/// - *running*: taken with a slot
///
/// Beside them is a line of *turns*: procedures that have something to do that needs no slot, such
/// as delivering a cancel, or finishing.
///
/// | event             | effect                                                                   |
/// |-------------------|--------------------------------------------------------------------------|
/// | insert            | joins waiting, evaluable or ready; refused once a group has closed       |
/// | advance           | waiting → evaluable or ready; in a batch only noted, instead of ready    |
/// | complete          | all of a batch are members: the ready ones → ready                       |
/// | makeWaiting       | anywhere, but not started → waiting                                      |
/// | take              | first turn; first granted; first evaluable; first ready if a slot is free |
/// | exclude           | ready → excluded, instead of being taken                                 |
/// | grant             | excluded → granted if it is next for a free slot, otherwise → ready      |
/// | retire            | leaves, wherever it is; frees its slot                                   |
/// | setUrgency        | ready → ready, in another bucket; otherwise counts once it is            |
/// | requestTurn       | joins the line of turns                                                  |
/// | begin / settle    | a group executes: children may start / may be the last                   |
/// | rest / endRest    | a group gives up its slot, and no child starts / it has one again        |
/// | … of a member     | running → waiting / waiting → ready, of the group in the list around it  |
///
/// Invariants:
/// 1. After each event, if something can be taken then a worker is requested and has not arrived.
///    So a worker that blocks in user code never keeps others waiting, and a worker may look for
///    more work, or not, as it likes.
/// 2. A group closes exactly once: settled and without members. Closed, it accepts no child.
/// 3. In a cancelled group no child starts.
struct ListMachine: Sendable {
  /// Why none starts, though the list has begun.
  private struct Stops: OptionSet, Sendable {
    let rawValue: UInt8
    static let suspended = Stops(rawValue: 1)
    /// The group has given up its slot.
    static let resting = Stops(rawValue: 2)
  }

  enum Taken: Sendable {
    case job(Job)
    /// The first of the ready ones must be granted this before it is taken, or step aside.
    case mustAsk(ExclusionRequest)
  }

  private(set) var memberCount = 0
  private var lastAge: UInt32 = 0
  private(set) var isWorkerRequested = false
  /// Whether none starts any more.
  private(set) var isCancelled = false
  /// Whether the queue refuses procedures that are added.
  private var isClosed = false
  /// Whether the queue has barriers, which decide when an added procedure may go on.
  private var holdsAdditions = false
  private let isGroup: Bool
  var limit = Int.max
  private var stops: Stops = []

  // For this machine and its extensions only.

  var lines = MemberLines()
  /// Those that were added, and are no members yet: as if they stood at the end of the waiting ones
  /// and of the ready ones of normal priority. Every event but `take` and `retire` needs
  /// `admitArrivals` before it.
  var arrivals = ArrivalLine()
  /// Each is owned.
  var turns = Fifo<Member>()
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
    _ procedure: Procedure, _ placement: Placement, asking request: ExclusionRequest? = nil
  ) -> Insertion {
    if phase == .closed || (isClosed && placement.role != .prerequisite) { return .refused }
    let isHeld = holdsAdditions && placement.role != .prerequisite && !isCancelled
    let line: StandingLine =
      switch placement.readiness {
      case _ where isHeld: .waiting
      case .waiting: .waiting
      case .start where placement.isInBatch: .waiting
      case .evaluate: .evaluable
      case .start: .ready(placement.urgency.priority)
      }
    placement.note(in: procedure)
    if isHeld { procedure.membership.isReady = false }
    let member = Member.retaining(procedure)
    join(member, line, isKept: true)
    if !isHeld, let request { lines.note(request, of: member) }
    // The group brings its first children itself.
    if isGroup, placement.role != .initialChild { kept.add(procedure) }
    return isHeld ? .held : .accepted(isAnnounced: isAnnounced)
  }

  /// Makes it a member, whose reference is owned by the list, or else by the caller.
  @inline(__always)
  private mutating func join(_ member: Member, _ line: StandingLine, isKept: Bool) {
    lastAge &+= 1
    member.age = lastAge
    member.membership.isKept = isKept
    memberCount += 1
    lines.put(member, line)
  }

  /// Takes over the procedures that have arrived, once none is left of those before.
  mutating func receive(from newArrivals: borrowing Arrivals) {
    requireConsistency(
      arrivals.isEmpty, "Internal inconsistency: received before the others had left")
    arrivals = newArrivals.takeAll()
  }

  /// Makes each procedure that has arrived a member.
  mutating func admitArrivals() {
    while let member = arrivals.popFirst() { admit(member) }
  }

  private mutating func admit(_ member: Member) {
    let membership = member.membership
    join(member, membership.isReady ? .ready(membership.urgency.priority) : .waiting, isKept: true)
  }

  /// Starts the first that has arrived ready, without a detour over the line of the ready ones.
  @inline(__always)
  private mutating func takeReadyArrival() -> Job? {
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
    _ procedure: Procedure, to readiness: Readiness, in attempt: UInt32,
    asking request: ExclusionRequest?
  ) {
    guard procedure.membership.line == .waiting else { return }
    let member = Member.unowned(procedure)
    procedure.membership.attempt = attempt
    switch readiness {
    case .waiting:
      break
    case .evaluate:
      lines.move(member, from: .waiting, to: .evaluable)
    case .start:
      if let request { lines.note(request, of: member) }
      if procedure.membership.isInBatch {
        procedure.membership.isReady = true
      } else {
        lines.move(member, from: .waiting, to: .ready(procedure.membership.urgency.priority))
      }
    }
  }

  /// All of a batch are members, or have arrived. Those that have been ready meanwhile are so from here on.
  ///
  /// - Parameter batch: the members that were added in one call, whatever has become of them since.
  mutating func complete(_ batch: [Procedure]) {
    // From here on none is in `arrivals`, whose ready ones are counted.
    admitArrivals()
    for procedure in batch {
      procedure.membership.isInBatch = false
      // One that has not been received will be, as ready as it is.
      guard procedure.membership.isReady, procedure.membership.line == .waiting else { continue }
      lines.move(
        .unowned(procedure), from: .waiting, to: .ready(procedure.membership.urgency.priority))
    }
  }

  /// A member that had come further, but has not started, must wait after all.
  ///
  /// - Returns: the request or grant that it must give up.
  mutating func makeWaiting(_ procedure: Procedure) -> ExclusionRequest? {
    let line = procedure.membership.line
    guard line != .none else { return nil }
    let member = Member.unowned(procedure)
    procedure.membership.isReady = false
    if line != .waiting { lines.move(member, to: .waiting) }
    return lines.takeRequest(of: member)
  }

  /// A member that has not started has another urgency. Ready, it goes behind those that are ready with that.
  ///
  /// - Returns: its request, if it has one, whose place in line is that of its priority too.
  mutating func setUrgency(_ urgency: Urgency, of procedure: Procedure) -> ExclusionRequest? {
    let line = procedure.membership.line
    guard line != .none, line != .running else { return nil }
    let isMoved = procedure.membership.urgency.priority != urgency.priority
    procedure.membership.urgency = urgency
    let member = Member.unowned(procedure)
    let request = lines.request(of: member)
    guard isMoved else { return nil }
    if line.isReturned, let request {
      lines.returnToPlace(member, request)
    } else if line.isReady {
      lines.move(member, from: line, to: .ready(urgency.priority))
    }
    return request
  }

  /// One that has finished leaves. The caller owns a reference to it.
  ///
  /// - Returns: whether that closed the group, and the request that it must give up.
  mutating func retire(_ member: Member) -> (closes: Bool, request: ExclusionRequest?) {
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
  mutating func giveBack(_ member: Member) -> Bool {
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

  mutating func requestTurn(of procedure: Procedure) {
    turns.append(.retaining(procedure))
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
    // Arrivals are no more urgent than normal, and came later than the ready members.
    if !lines.hasReady(atLeast: .normal), let job = takeReadyArrival() { return .job(job) }
    guard lines.slotsInUse < limit, let member = lines.firstReady else { return nil }
    if let request = lines.request(of: member) { return .mustAsk(request) }
    return .job(start(member))
  }

  /// The list's reference goes to the worker; if that has gone to another one already, it gets its own.
  @inline(__always)
  mutating func start(_ member: Member) -> Job {
    lines.start(member)
    if !member.membership.isKept { member.retain() }
    member.membership.isKept = false
    return job(starting: member)
  }

  @inline(__always)
  private func job(starting member: Member) -> Job {
    let membership = member.membership
    return Job(
      member: member, kind: .start(membership.attempt), quality: membership.urgency.ownQuality)
  }

  /// Whether members may start, and be evaluated, at all.
  @inline(__always)
  var isOpen: Bool { stops.isEmpty && !isCancelled && phase.letsStart }

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

/// How it stops.
extension ListMachine {
  var isSuspended: Bool {
    get { stops.contains(.suspended) }
    set { if newValue { stops.insert(.suspended) } else { stops.remove(.suspended) } }
  }

  /// Whether the group has given up its slot, and no child starts until it has one again.
  var isResting: Bool { stops.contains(.resting) }

  /// The group is about to give up its slot.
  ///
  /// - Returns: false if it has, or if another child than `pause`, which executes, runs or stands in line: that may
  ///   exclude others inside the group.
  mutating func rest(during pause: Procedure) -> Bool {
    guard pause.isExecuting, pause.membership.line == .running, slotsInUse == 1,
      !lines.hasExcluded
    else { return false }
    return stops.insert(.resting).inserted
  }

  /// The group has a slot again.
  ///
  /// - Returns: false if it had one.
  mutating func endRest() -> Bool { stops.remove(.resting) != nil }

  /// A group that executes gives up its slot.
  ///
  /// - Returns: the request that it gives up, and will make again.
  mutating func rest(_ group: Procedure) -> ExclusionRequest? {
    guard group.membership.line == .running else { return nil }
    let member = Member.unowned(group)
    lines.move(member, from: .running, to: .waiting)
    return lines.request(of: member)
  }

  /// It wants one again, if it has given it up.
  mutating func endRest(of group: Procedure) {
    guard group.membership.line == .waiting else { return }
    lines.move(
      .unowned(group), from: .waiting, to: .ready(group.membership.urgency.priority))
  }
}

/// How a group uses the list of its children.
extension ListMachine {
  /// The children that there were, as long as those are kept that have finished.
  struct KeptChildren: Sendable {
    fileprivate(set) var all: [Procedure] = []
    fileprivate(set) var isKept = true

    mutating func add(_ procedure: Procedure) {
      if isKept { all.append(procedure) }
    }
  }

  /// Those that there were, and are kept.
  var children: [Procedure] {
    mutating get {
      if keepsFinishedChildren { return kept.all }
      admitArrivals()
      return procedures
    }
  }

  /// Whether `children` has finished ones.
  var keepsFinishedChildren: Bool { kept.isKept }

  /// The group is made of these, which were inserted. User code of one of them, in a turn that it had before the
  /// others were, may have added more.
  mutating func consist(of children: [Procedure]) {
    guard keepsFinishedChildren else { return }
    kept.all = kept.all.isEmpty ? children : children + kept.all
  }

  /// - Returns: the forgotten children, to be released when nothing is locked.
  mutating func keepFinishedChildren(_ keeps: Bool) -> [Procedure] {
    guard keeps != keepsFinishedChildren else { return [] }
    let forgotten = kept.all
    kept = KeptChildren(all: keeps ? procedures : [], isKept: keeps)
    return forgotten
  }

  /// The group announces the children that there are; a caller that adds one later announces it.
  mutating func announce() { isAnnounced = true }

  /// The group executes: children may start.
  mutating func begin() { phase.begin() }

  /// The group has executed, or never will. True if it had no children left, and is closed.
  mutating func settle() -> Bool {
    phase.settle()
    return count == 0 && phase.becameEmpty()
  }

  /// The rest in the list of a group that goes away: members, and procedures whose turns are due.
  typealias Remains = (unfinished: [Procedure], finished: [Procedure], awaitingTurn: [Procedure])

  /// The group goes away: its members, if it never ran, belong to no list now, and turns that have
  /// not run must run elsewhere.
  mutating func abandon() -> Remains {
    // As mostly: the group has ended, and this goes with it.
    if phase == .closed, turns.isEmpty {
      let finished = kept.all
      kept = KeptChildren()
      return ([], finished, [])
    }
    let unfinished = procedures
    let finished =
      unfinished.isEmpty ? kept.all : kept.all.filter { $0.membership.line == .none }
    for procedure in unfinished {
      if procedure.membership.isKept { Member.unowned(procedure).release() }
      procedure.membership = Membership()
    }
    var awaitingTurn: [Procedure] = []
    while let member = turns.popFirst() {
      awaitingTurn.append(member.procedure)
      member.release()
    }
    self = ListMachine(isGroup: true)
    phase = .closed
    return (unfinished, finished, awaitingTurn)
  }
}

/// Questions about a list.
extension ListMachine {
  var slotsInUse: Int { lines.slotsInUse }

  /// Whether a ready member could be taken.
  var hasRoom: Bool { isOpen && slotsInUse < limit }

  /// Whether an procedure has arrived that is no member yet.
  var hasArrivals: Bool { !arrivals.isEmpty }

  /// Whether one of them waits for nothing but a slot.
  var hasReadyArrivals: Bool { arrivals.readyCount > 0 }

  /// Whether there are members that wait for others, and nothing that a worker could do about it. Not those of a
  /// group that has not begun: it stands in another list, and waits there. Not members that wait for nothing but
  /// the end of a suspension.
  @inline(__always)
  func isStuck(hasMoreArrivals: Bool) -> Bool {
    (memberCount > lines.slotsInUse || hasArrivals || hasMoreArrivals) && !isWorkerRequested
      && phase != .held && !isResting && (!isSuspended || hasMoreArrivals || waitsWhileSuspended)
  }

  private var waitsWhileSuspended: Bool {
    lines.hasWaiting || arrivals.count > arrivals.readyCount
  }

  /// In the order in which they were added. O(n log n) at most.
  var procedures: [Procedure] {
    var members: [Member] = []
    members.reserveCapacity(memberCount)
    lines.forEach { members.append($0) }
    if zip(members, members.dropFirst()).contains(where: { $1.isOlder(than: $0) }) {
      members.sort { $0.isOlder(than: $1) }
    }
    return members.map(\.procedure)
  }

  /// In no order, arrivals included.
  func forEach(_ body: (Procedure) -> Void) {
    lines.forEach { $0.with(body) }
    arrivals.forEach { $0.with(body) }
  }
}

/// How far the group has come whose children a list holds. Pure. The list of a queue is always *running*.
///
/// Events and phases; – changes nothing, ✕ is an inconsistency and traps:
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
  /// The end of the group: no child is accepted any more.
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

/// Why a member of a list that is ready has not been started. The number is its place among the times of a list.
enum Hindrance: Int, Sendable {
  /// Its group has not begun to execute, or has given up its slot.
  case group
  case suspension
  /// All slots are in use.
  case slot
  /// A slot is free, and a worker has not come yet.
  case worker
}

/// A number for each hindrance.
///
/// Four numbers, and not a vector: that would have to lie at a multiple of 32 bytes, which memory of the heap does not.
struct ForEachHindrance<Value: SIMDScalar & Sendable>: Sendable
where Value: ExpressibleByIntegerLiteral {
  private var values: (Value, Value, Value, Value) = (0, 0, 0, 0)

  /// By the number of the hindrance.
  var lanes: SIMD4<Value> {
    @inline(__always) get { SIMD4(values.0, values.1, values.2, values.3) }
    @inline(__always) set { values = (newValue[0], newValue[1], newValue[2], newValue[3]) }
  }
}

extension ListMachine {
  /// Why ready members are not started, now.
  var hindrance: Hindrance {
    @inline(__always) get {
      if phase == .held || isResting { return .group }
      if isSuspended { return .suspension }
      return slotsInUse >= limit ? .slot : .worker
    }
  }
}

/// A job for a worker.
struct Job: Sendable {
  /// The reference is the worker's, until it gives it back, or releases it.
  let member: Member
  let kind: JobKind
  /// Nil for that of the worker.
  let quality: DispatchQoS.QoSClass?

  /// A turn that is held for the caller.
  static func turn(of procedure: Procedure) -> Job {
    Job(member: .retaining(procedure), kind: .turn, quality: nil)
  }
}

enum JobKind: Sendable, Equatable {
  /// It has something to do.
  case turn
  /// Its conditions are to be evaluated, if it is still at that attempt.
  case evaluate(UInt32)
  /// It has a slot now, if it is still at that attempt.
  case start(UInt32)
}
