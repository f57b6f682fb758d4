internal import Dispatch
internal import Primitives

/// The procedures of one queue, or the children of one group, and which may run next. Pure.
///
/// Each member is in one list: *waiting* (for dependencies), *ready* (in the bucket of its
/// priority) or *running* (it holds a slot). Beside them stands a line of *turns*: procedures that
/// have something to do that needs no slot, such as being told of a cancel, or finishing.
///
/// | event             | what it does                                                            |
/// |-------------------|-------------------------------------------------------------------------|
/// | insert            | the member joins waiting or ready; refused once a group has closed      |
/// | makeReady         | waiting → ready                                                         |
/// | makeWaiting       | ready, or running but not started → waiting                             |
/// | take              | the first turn; else the first ready member, if a slot is free → running |
/// | retire            | the member leaves, wherever it is; a running one frees its slot         |
/// | requestTurn       | joins the line of turns                                                 |
/// | begin / settle    | a group executes: children may start / may be the last                  |
///
/// Invariants:
/// 1. `slotsInUse` is the number of running members.
/// 2. After each event, if something can be taken then a worker is requested and has not arrived.
///    So a worker that blocks in user code never keeps others waiting, and a worker may look for
///    more work, or not, as it likes.
/// 3. A group closes exactly once: settled and without members. Closed, it accepts nobody.
/// 4. In a cancelled group nobody starts.
struct ReadyListStateMachine: Sendable {
  enum Phase: UInt8, Sendable {
    /// A group that has not executed: nobody starts.
    case held
    /// Members start. A queue is always here.
    case running
    /// A group that has executed, or was cancelled before: it closes when no member is left.
    case settling
    case closed
  }

  /// What a procedure brings along: fixed when it is enqueued.
  struct Standing: Sendable {
    let priority: ProcedurePriority
    /// Nil for that of the queue.
    let quality: DispatchQoS.QoSClass?
    let isReady: Bool
  }

  struct Job: Sendable {
    let procedure: Procedure
    /// It was ready, and now has a slot; otherwise it has a turn to run.
    let isStart: Bool
    let quality: DispatchQoS.QoSClass?
  }

  enum Insertion: Sendable {
    case accepted
    /// The group is cancelled, and so must the child be.
    case acceptedToCancel(TreeCancel)
    /// The group has closed.
    case refused
  }

  private enum List: UInt8, Sendable {
    case waiting
    case running
    case ready
  }

  private struct Member: Sendable {
    let procedure: Procedure
    let priority: ProcedurePriority
    let quality: DispatchQoS.QoSClass?
    var list: List
  }

  private var members = Slab<Member>()
  private var waiting = SlabList()
  private var running = SlabList()
  private var ready = ContiguousArray(
    repeating: SlabList(), count: ProcedurePriority.allCases.count)
  private var readyPriorities: UInt8 = 0
  private var turns = Fifo<Procedure>()
  private var isWorkerRequested = false
  private(set) var phase: Phase
  private(set) var slotsInUse = 0
  private(set) var treeCancel: TreeCancel?
  /// All members there ever were, if these are the children of a group.
  private(set) var children: [Procedure] = []
  /// Whether `children` keeps those that have finished.
  var keepsFinishedChildren = true
  private let isGroup: Bool
  var limit = Int.max
  var isSuspended = false

  init(isGroup: Bool = false) {
    self.isGroup = isGroup
    phase = isGroup ? .held : .running
  }

  var count: Int { members.count }
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

  mutating func insert(_ procedure: Procedure, _ standing: Standing) -> Insertion {
    if phase == .closed { return .refused }
    let member = Member(
      procedure: procedure, priority: standing.priority, quality: standing.quality,
      list: standing.isReady ? .ready : .waiting)
    let key: SlabKey
    if standing.isReady {
      let bucket = Int(member.priority.rawValue)
      key = members.append(member, to: &ready[bucket])
      readyPriorities |= 1 << UInt8(bucket)
    } else {
      key = members.append(member, to: &waiting)
    }
    procedure.membership = .member(place: key.place)
    if isGroup, keepsFinishedChildren { children.append(procedure) }
    return treeCancel.map(Insertion.acceptedToCancel) ?? .accepted
  }

  /// A waiting member has nothing left to wait for. One that has left already is ignored.
  mutating func makeReady(_ procedure: Procedure) {
    guard case .member(let place) = procedure.membership, members[place].list == .waiting else {
      return
    }
    let bucket = Int(members[place].priority.rawValue)
    members[place].list = .ready
    members.move(place, from: &waiting, to: &ready[bucket])
    readyPriorities |= 1 << UInt8(bucket)
  }

  /// A member that is ready, or was taken but has not started, must wait after all.
  mutating func makeWaiting(_ procedure: Procedure) {
    guard case .member(let place) = procedure.membership else { return }
    switch members[place].list {
    case .waiting:
      return
    case .ready:
      let bucket = Int(members[place].priority.rawValue)
      members.move(place, from: &ready[bucket], to: &waiting)
      if ready[bucket].isEmpty { readyPriorities &= ~(1 << UInt8(bucket)) }
    case .running:
      members.move(place, from: &running, to: &waiting)
      slotsInUse -= 1
    }
    members[place].list = .waiting
  }

  /// A finished procedure leaves. True if that closed the group.
  mutating func retire(_ procedure: Procedure) -> Bool {
    guard case .member(let place) = procedure.membership else { return false }
    procedure.membership = .none
    switch members[place].list {
    case .waiting:
      _ = members.remove(at: place, from: &waiting)
    case .running:
      _ = members.remove(at: place, from: &running)
      slotsInUse -= 1
    case .ready:
      let bucket = Int(members[place].priority.rawValue)
      _ = members.remove(at: place, from: &ready[bucket])
      if ready[bucket].isEmpty { readyPriorities &= ~(1 << UInt8(bucket)) }
    }
    return closeIfSettled()
  }

  // MARK: Groups

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

  private mutating func closeIfSettled() -> Bool {
    guard count == 0, phase == .settling else { return false }
    phase = .closed
    return true
  }

  /// The group was cancelled: whoever is added from here on is cancelled too.
  mutating func cancel(_ cancel: TreeCancel) {
    if treeCancel == nil { treeCancel = cancel }
  }

  /// The group goes away: its members, if it never ran, belong to nobody now.
  mutating func abandon() -> (unfinished: [Procedure], finished: [Procedure]) {
    let unfinished = procedures
    let finished = children.filter { if case .none = $0.membership { true } else { false } }
    for procedure in unfinished { procedure.membership = .none }
    self = ReadyListStateMachine(isGroup: true)
    phase = .closed
    return (unfinished, finished)
  }

  // MARK: Work

  mutating func requestTurn(of procedure: Procedure) {
    turns.append(procedure)
  }

  /// The next thing to run.
  mutating func take() -> Job? {
    if let procedure = turns.popFirst() {
      return Job(procedure: procedure, isStart: false, quality: nil)
    }
    guard canStart else { return nil }
    let bucket = 7 - readyPriorities.leadingZeroBitCount
    let place = members.firstPlace(of: ready[bucket])
    members[place].list = .running
    members.move(place, from: &ready[bucket], to: &running)
    if ready[bucket].isEmpty { readyPriorities &= ~(1 << UInt8(bucket)) }
    slotsInUse += 1
    return Job(
      procedure: members[place].procedure, isStart: true, quality: members[place].quality)
  }

  private var canStart: Bool {
    readyPriorities != 0 && !isSuspended && slotsInUse < limit && treeCancel == nil
      && (phase == .running || phase == .settling)
  }

  mutating func workerArrived() {
    isWorkerRequested = false
  }

  /// Restores invariant 2 at the end of each event. True if a worker must be submitted.
  mutating func requestWorker() -> Bool {
    guard !isWorkerRequested, !turns.isEmpty || canStart else { return false }
    isWorkerRequested = true
    return true
  }
}
