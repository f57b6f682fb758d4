internal import Dispatch
internal import ProcedurePrimitives

/// The procedures of one queue, or the children of one group, and which may run next. Pure.
///
/// Each member is in one list:
/// - *waiting*: for dependencies, or for the answer of a condition
/// - *evaluable*: its conditions are to be evaluated, which takes no slot
/// - *ready*: for a slot, in the bucket of its priority; those that have stepped aside, and may go on,
///   come before those that became ready later
/// - *excluded*: had a slot at hand, and waits in line for what it excludes others from
/// - *granted*: has a slot, and what it asked for, and is to be taken
/// - *running*: taken with a slot
///
/// Beside them stands a line of *turns*: procedures that have something to do that needs no slot,
/// such as being told of a cancel, or finishing.
///
/// | event             | what it does                                                             |
/// |-------------------|--------------------------------------------------------------------------|
/// | insert            | joins waiting, evaluable or ready; refused once a group has closed       |
/// | advance           | waiting → evaluable or ready                                             |
/// | makeWaiting       | anywhere, but not started → waiting                                      |
/// | take              | first turn; first granted; first evaluable; first ready if a slot is free |
/// | exclude           | ready → excluded, instead of being taken                                 |
/// | grant             | excluded → granted if it is next for a free slot, otherwise → ready      |
/// | retire            | leaves, wherever it is; frees its slot                                   |
/// | requestTurn       | joins the line of turns                                                  |
/// | begin / settle    | a group executes: children may start / may be the last                   |
///
/// Invariants:
/// 1. `slotsInUse` is the number of granted and running members.
/// 2. After each event, if something can be taken then a worker is requested and has not arrived.
///    So a worker that blocks in user code never keeps others waiting, and a worker may look for
///    more work, or not, as it likes.
/// 3. A group closes exactly once: settled and without members. Closed, it accepts no child.
/// 4. In a cancelled group no child starts.
struct ReadyListStateMachine: Sendable {
  enum Phase: UInt8, Sendable {
    /// A group that has not executed: no child starts.
    case held
    /// Members start. A queue is always here.
    case running
    /// A group that has executed, or was cancelled before: it closes when no member is left.
    case settling
    case closed
  }

  /// As what a procedure is added.
  enum Role: UInt8, Sendable {
    case member
    /// Another member needs it: a closed queue accepts it too, and no barrier holds it back.
    case need
    case barrier
  }

  /// What a procedure brings along: fixed when it is enqueued.
  struct Standing: Sendable {
    let priority: ProcedurePriority
    /// Nil for that of the queue.
    let quality: DispatchQoS.QoSClass?
    let readiness: ProcedureStateMachine.Readiness
    /// The attempt in which it has come that far.
    var attempt: UInt32 = 0
    /// As what it is added.
    var role = Role.member

    /// Whether nothing changes if it joins a list of its own, and that one's members all join later.
    var mayArriveLate: Bool {
      switch readiness {
      case .waiting: true
      case .start: priority == .normal
      case .evaluate: false
      }
    }
  }

  struct Job: Sendable {
    enum Kind: Sendable, Equatable {
      /// It has something to do.
      case turn
      /// Its conditions are to be evaluated, if it is still at that attempt.
      case evaluate(UInt32)
      /// It has a slot now, if it is still at that attempt.
      case start(UInt32)
    }

    let procedure: Procedure
    let kind: Kind
    let quality: DispatchQoS.QoSClass?
  }

  enum Taken: Sendable {
    case job(Job)
    /// The first of the ready ones must be granted this before it is taken, or step aside.
    case mustAsk(ExclusionRequest)
  }

  enum Insertion: Sendable, Equatable {
    /// By itself, or later together with all other children of the group: when it executes.
    case accepted(isAnnounced: Bool)
    /// Accepted by a queue with barriers: it waits until they let it go on.
    case held
    /// The group has closed, or the queue.
    case refused
  }

  /// The list that a member is in, as an index into `lists`.
  private struct List: Equatable, Sendable {
    let index: Int8

    static let waiting = List(index: 0)
    static let evaluable = List(index: 1)
    static let excluded = List(index: 2)
    static let granted = List(index: 3)
    static let running = List(index: 4)

    static func ready(_ priority: ProcedurePriority) -> List {
      List(index: 5 + 2 * Int8(priority.rawValue))
    }

    /// Of those that are ready for the second time. They are taken in the order of `returned`.
    static func returned(_ priority: ProcedurePriority) -> List {
      List(index: 6 + 2 * Int8(priority.rawValue))
    }

    /// The place in `returned`, if it is such a list.
    var returnedIndex: Int? { index > 5 && index & 1 == 0 ? Int(index - 6) / 2 : nil }

    static let count = 5 + 2 * ProcedurePriority.allCases.count

    var hasSlot: Bool { self == .granted || self == .running }
    var readyBit: UInt16 { index < 5 ? 0 : 1 << UInt16(index - 5) }
  }

  private struct Member: Sendable {
    let procedure: Procedure
    let priority: ProcedurePriority
    let quality: DispatchQoS.QoSClass?
    var list: List
    var isExclusive = false
    var attempt: UInt32
  }

  private var members = Slab<Member>()
  /// Those that were added, and are no members yet: as if they stood at the end of the waiting ones
  /// and of the ready ones of normal priority. Every event but `take` and `retire` needs
  /// `admitArrivals` before it.
  private var arrivals = ArrivalBatch()
  private var lists = ContiguousArray(repeating: SlabList(), count: List.count)
  /// A bit for each bucket of ready members that is not empty.
  private var readyBuckets: UInt16 = 0
  /// What exclusive members ask for, by their place.
  private var exclusions: [UInt32: ExclusionRequest] = [:]
  /// Those that have returned, by priority, in the order in which they were first taken. That is before
  /// all that are ready for the first time: the others were behind them.
  private var returned: ContiguousArray<TicketHeap<ExclusionRequest.InList>> = []
  private var turns = Fifo<Procedure>()
  private var isWorkerRequested = false
  private(set) var phase: Phase
  private(set) var slotsInUse = 0
  private(set) var treeCancel: TreeCancel?
  /// All members there ever were, if these are the children of a group.
  private var allChildren: [Procedure] = []
  /// Whether the group has told its observers of the children that it began with.
  private var isAnnounced = false
  /// Whether `children` keeps those that have finished.
  private(set) var keepsFinishedChildren = true
  /// Whether the queue refuses procedures that are added.
  private(set) var isClosed = false
  /// Whether the queue has barriers, which decide when an added procedure may go on.
  private(set) var holdsAdditions = false
  private let isGroup: Bool
  var limit = Int.max
  var isSuspended = false

  init(isGroup: Bool = false) {
    self.isGroup = isGroup
    phase = isGroup ? .held : .running
  }

  var count: Int { members.count + arrivals.count }
  var procedures: [Procedure] { members.elementsByAge().map(\.procedure) }

  /// The lists of those members that are groups.
  var childLists: [ReadyList] {
    var lists: [ReadyList] = []
    members.forEach { member in
      if let list = member.procedure.childList { lists.append(list) }
    }
    return lists
  }

  // MARK: Members

  mutating func insert(
    _ procedure: Procedure, _ standing: Standing, asking request: ExclusionRequest? = nil
  ) -> Insertion {
    if phase == .closed || (isClosed && standing.role != .need) { return .refused }
    let isHeld = holdsAdditions && standing.role != .need && treeCancel == nil
    let list: List =
      switch standing.readiness {
      case _ where isHeld: .waiting
      case .waiting: .waiting
      case .evaluate: .evaluable
      case .start: .ready(standing.priority)
      }
    insert(procedure, standing, into: list)
    if !isHeld, let request, let place = procedure.membership.place { note(request, at: place) }
    if isGroup, keepsFinishedChildren { allChildren.append(procedure) }
    return isHeld ? .held : .accepted(isAnnounced: isAnnounced)
  }

  @inline(__always)
  private mutating func insert(_ procedure: Procedure, _ standing: Standing, into list: List) {
    let key = members.append(
      Member(
        procedure: procedure, priority: standing.priority, quality: standing.quality, list: list,
        attempt: standing.attempt),
      to: &lists[Int(list.index)])
    readyBuckets |= list.readyBit
    procedure.membership = .member(place: key.place)
  }

  /// Takes over the procedures that have arrived, once none is left of those before.
  mutating func receive(from newArrivals: borrowing Arrivals) {
    newArrivals.takeAll(into: &arrivals)
  }

  /// Whether a procedure has arrived that is no member yet.
  var hasArrivals: Bool { !arrivals.isEmpty }

  /// Whether one of them waits for nothing but a slot.
  var hasReadyArrivals: Bool { arrivals.readyCount > 0 }

  /// Makes each procedure that has arrived a member.
  mutating func admitArrivals() {
    while let arrival = arrivals.popFirst() { _ = insert(arrival.procedure, arrival.standing) }
  }

  /// Starts the first that has arrived ready, without a detour over the list of the ready ones.
  private mutating func takeReadyArrival() -> Job? {
    guard slotsInUse < limit else { return nil }
    while let arrival = arrivals.popFirst() {
      guard arrival.standing.readiness == .start else {
        _ = insert(arrival.procedure, arrival.standing)
        continue
      }
      insert(arrival.procedure, arrival.standing, into: .running)
      slotsInUse += 1
      return Job(
        procedure: arrival.procedure, kind: .start(arrival.standing.attempt),
        quality: arrival.standing.quality)
    }
    return nil
  }

  /// A waiting member has come further. One that has left already is ignored.
  mutating func advance(
    _ procedure: Procedure, to readiness: ProcedureStateMachine.Readiness, in attempt: UInt32,
    asking request: ExclusionRequest?
  ) {
    guard let place = procedure.membership.place, members[place].list == .waiting else {
      return
    }
    members[place].attempt = attempt
    switch readiness {
    case .waiting:
      break
    case .evaluate:
      move(place, to: .evaluable)
    case .start:
      if let request { note(request, at: place) }
      move(place, to: .ready(members[place].priority))
    }
  }

  /// A member that had come further, but has not started, must wait after all.
  ///
  /// - Returns: what it asked for, or was granted, and must give up.
  mutating func makeWaiting(_ procedure: Procedure) -> ExclusionRequest? {
    guard let place = procedure.membership.place else { return nil }
    if members[place].list != .waiting { move(place, to: .waiting) }
    return takeExclusion(at: place)
  }

  /// A finished procedure leaves.
  ///
  /// - Returns: whether that closed the group, and what the procedure has to give up.
  mutating func retire(_ procedure: Procedure) -> (closes: Bool, request: ExclusionRequest?) {
    guard let place = procedure.membership.place else { return (false, nil) }
    procedure.membership = .none
    let list = members[place].list
    if list.returnedIndex != nil { leaveReturned(place, list) }
    let request = takeExclusion(at: place)
    if list.hasSlot { slotsInUse -= 1 }
    _ = members.remove(at: place, from: &lists[Int(list.index)])
    unmarkIfEmpty(list)
    return (closeIfSettled(), request)
  }

  private mutating func note(_ request: ExclusionRequest, at place: UInt32) {
    members[place].isExclusive = true
    exclusions[place] = request
  }

  @inline(__always)
  private mutating func takeExclusion(at place: UInt32) -> ExclusionRequest? {
    guard members[place].isExclusive else { return nil }
    members[place].isExclusive = false
    return exclusions.removeValue(forKey: place)
  }

  private mutating func move(_ place: UInt32, to target: List) {
    let source = members[place].list
    if source.hasSlot { slotsInUse -= 1 }
    if target.hasSlot { slotsInUse += 1 }
    if source.returnedIndex != nil { leaveReturned(place, source) }
    members[place].list = target
    var (from, to) = (lists[Int(source.index)], lists[Int(target.index)])
    members.move(place, from: &from, to: &to)
    (lists[Int(source.index)], lists[Int(target.index)]) = (from, to)
    readyBuckets |= target.readyBit
    unmarkIfEmpty(source)
  }

  /// An excluded, or granted, member goes back to where it stood among the ready ones.
  private mutating func returnToPlace(_ place: UInt32, _ request: ExclusionRequest) {
    let list = List.returned(members[place].priority)
    move(place, to: list)
    guard let index = list.returnedIndex else { return }
    if returned.isEmpty {
      returned = ContiguousArray(repeating: TicketHeap(), count: ProcedurePriority.allCases.count)
    }
    returned[index].insert(.init(request: request))
  }

  @inline(never)
  private mutating func leaveReturned(_ place: UInt32, _ list: List) {
    guard let request = exclusions[place], let index = list.returnedIndex else {
      preconditionFailure("Internal inconsistency: returned, but without a request")
    }
    returned[index].remove(.init(request: request))
  }

  @inline(__always)
  private mutating func unmarkIfEmpty(_ list: List) {
    if list.readyBit != 0, lists[Int(list.index)].isEmpty { readyBuckets &= ~list.readyBit }
  }

  // MARK: Groups

  /// Those that there were, and are kept.
  var children: [Procedure] { keepsFinishedChildren ? allChildren : procedures }

  /// The group announces the children that there are; a caller that adds one later announces it.
  mutating func announce() { isAnnounced = true }

  /// The queue refuses from here on. All that were added before are members.
  mutating func close() {
    isClosed = true
  }

  /// The queue has barriers from here on. All that were added before are members.
  mutating func holdAdditions() {
    holdsAdditions = true
  }

  /// - Returns: what is forgotten, to be released when nothing is locked.
  mutating func keepFinishedChildren(_ keeps: Bool) -> [Procedure] {
    guard keeps != keepsFinishedChildren else { return [] }
    keepsFinishedChildren = keeps
    let forgotten = allChildren
    allChildren = keeps ? procedures : []
    return forgotten
  }

  /// The group executes: children may start.
  mutating func begin() {
    if phase == .held { phase = .running }
  }

  /// The group has executed, or never will. True if it had no children left, and is closed.
  mutating func settle() -> Bool {
    precondition(
      phase == .held || phase == .running, "Internal inconsistency: a group settled twice")
    phase = .settling
    return closeIfSettled()
  }

  @inline(__always)
  private mutating func closeIfSettled() -> Bool {
    guard count == 0, phase == .settling else { return false }
    phase = .closed
    return true
  }

  /// The group was cancelled: each child that is added from here on is cancelled too.
  mutating func cancel(_ cancel: TreeCancel) {
    if treeCancel == nil { treeCancel = cancel }
  }

  /// What is left in the list of a group that goes away: members, and those whose turns are due.
  typealias Remains = (unfinished: [Procedure], finished: [Procedure], awaitingTurn: [Procedure])

  /// The group goes away: its members, if it never ran, belong to no list now, and turns that have
  /// not run must run elsewhere.
  mutating func abandon() -> Remains {
    let unfinished = procedures
    let finished = allChildren.filter { $0.membership.place == nil }
    for procedure in unfinished { procedure.membership = .none }
    var awaitingTurn: [Procedure] = []
    while let procedure = turns.popFirst() { awaitingTurn.append(procedure) }
    self = ReadyListStateMachine(isGroup: true)
    phase = .closed
    return (unfinished, finished, awaitingTurn)
  }

  // MARK: Work

  mutating func requestTurn(of procedure: Procedure) {
    turns.append(procedure)
  }

  /// The next thing to run.
  mutating func take() -> Taken? {
    if let procedure = turns.popFirst() {
      return .job(Job(procedure: procedure, kind: .turn, quality: nil))
    }
    guard isOpen else { return nil }
    if let place = first(of: .granted) { return .job(start(place)) }
    if let place = first(of: .evaluable) {
      move(place, to: .waiting)
      return .job(
        Job(
          procedure: members[place].procedure, kind: .evaluate(members[place].attempt),
          quality: members[place].quality))
    }
    // Arrivals are no more urgent than normal, and came later than those that are ready.
    if !hasReady(atLeast: .normal), let job = takeReadyArrival() { return .job(job) }
    guard let place = firstReady else { return nil }
    if members[place].isExclusive, let request = exclusions[place] { return .mustAsk(request) }
    return .job(start(place))
  }

  /// The member that had to ask has been granted what it asked for, and is taken.
  mutating func takeGranted(_ procedure: Procedure) -> Job {
    guard let place = procedure.membership.place else {
      preconditionFailure("Internal inconsistency: taken, but no member")
    }
    return start(place)
  }

  /// The member that had to ask waits in line.
  mutating func exclude(_ procedure: Procedure) {
    guard let place = procedure.membership.place else {
      preconditionFailure("Internal inconsistency: excluded, but no member")
    }
    move(place, to: .excluded)
  }

  /// An excluded member is offered what it waited for. False if it has no use for it now.
  mutating func grant(_ request: ExclusionRequest) -> Bool {
    guard let place = request.procedure.membership.place,
      members[place].list == .excluded, exclusions[place] === request
    else { return false }
    guard isOpen, slotsInUse < limit, !isPreceded(place, request) else {
      returnToPlace(place, request)
      return false
    }
    move(place, to: .granted)
    return true
  }

  /// Whether a ready member is to be given a free slot before an excluded one.
  private func isPreceded(_ place: UInt32, _ request: ExclusionRequest) -> Bool {
    if limit == .max { return false }
    let list = List.returned(members[place].priority)
    if readyBuckets >= list.readyBit << 1 { return true }
    if arrivals.readyCount > 0, members[place].priority < .normal { return true }
    guard readyBuckets & list.readyBit != 0, let index = list.returnedIndex,
      let first = returned[index].first
    else { return false }
    return first.ticket < request.ticket
  }

  /// The list is suspended: those that were granted a slot go back to wait for one.
  mutating func revokeGrants() -> [ExclusionRequest] {
    var revoked: [ExclusionRequest] = []
    while let place = first(of: .granted) {
      guard let request = exclusions[place] else {
        preconditionFailure("Internal inconsistency: granted, but without a request")
      }
      revoked.append(request)
      returnToPlace(place, request)
    }
    return revoked
  }

  /// A cancelled member leaves the line. It still has to finish, and gives the request up then.
  mutating func withdraw(_ procedure: Procedure) -> ExclusionRequest? {
    guard let place = procedure.membership.place, members[place].isExclusive,
      members[place].list == .excluded
    else { return nil }
    move(place, to: .waiting)
    return exclusions[place]
  }

  // MARK: Looking

  /// Whether a member waits for nothing but a slot that is at least so urgent.
  @inline(__always)
  func hasReady(atLeast priority: ProcedurePriority) -> Bool {
    readyBuckets >= List.ready(priority).readyBit
  }

  /// Where a member that is not waiting stands.
  enum Position: Sendable {
    /// It runs, or is about to.
    case free
    /// The group has not begun.
    case held
    case suspended
    case excluded(ExclusionRequest)
    case noSlot(limit: Int, running: [Procedure])
  }

  func position(of procedure: Procedure) -> Position {
    guard let place = procedure.membership.place else { return .free }
    let list = members[place].list
    if list == .waiting || list.hasSlot || treeCancel != nil { return .free }
    if phase == .held { return .held }
    if isSuspended { return .suspended }
    if list == .excluded, let request = exclusions[place] { return .excluded(request) }
    guard list != .evaluable, slotsInUse >= limit else { return .free }
    let running = [List.granted, .running].flatMap { members.elements(of: lists[Int($0.index)]) }
    return .noSlot(limit: limit, running: running.map(\.procedure))
  }

  /// Whether there are members that wait, and nothing that a worker could do about it.
  @inline(__always)
  func isStuck(hasMoreArrivals: Bool) -> Bool {
    (members.count > slotsInUse || hasArrivals || hasMoreArrivals) && !isWorkerRequested
  }

  @inline(__always)
  private mutating func start(_ place: UInt32) -> Job {
    move(place, to: .running)
    return Job(
      procedure: members[place].procedure, kind: .start(members[place].attempt),
      quality: members[place].quality)
  }

  @inline(__always)
  private func first(of list: List) -> UInt32? {
    let list = lists[Int(list.index)]
    return list.isEmpty ? nil : members.firstPlace(of: list)
  }

  /// Whether one that is ready could be taken.
  var hasRoom: Bool { isOpen && slotsInUse < limit }

  /// Whether members may start, and be evaluated, at all.
  @inline(__always)
  private var isOpen: Bool {
    !isSuspended && treeCancel == nil && (phase == .running || phase == .settling)
  }

  @inline(__always)
  private var firstReady: UInt32? {
    guard readyBuckets != 0, slotsInUse < limit else { return nil }
    let list = List(index: 5 + Int8(15 - readyBuckets.leadingZeroBitCount))
    if let index = list.returnedIndex {
      return returned[index].first?.request.procedure.membership.place
    }
    return first(of: list)
  }

  @inline(__always)
  private var canTake: Bool {
    if !turns.isEmpty { return true }
    guard isOpen else { return false }
    return ((readyBuckets != 0 || arrivals.readyCount > 0) && slotsInUse < limit)
      || first(of: .evaluable) != nil
      || first(of: .granted) != nil
  }

  mutating func workerArrived() {
    isWorkerRequested = false
  }

  /// Restores invariant 2 at the end of each event. True if a worker must be submitted.
  mutating func requestWorker() -> Bool {
    guard !isWorkerRequested, canTake else { return false }
    isWorkerRequested = true
    return true
  }
}
