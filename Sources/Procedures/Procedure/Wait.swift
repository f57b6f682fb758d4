internal import ProcedureExclusion
internal import ProcedurePrimitives

/// The wait of one unfinished procedure at one moment. It is determined nowhere else.
///
/// It is not stored. It is computed from the life and from the place in the list, under the locks
/// that guard them, and costs nothing until it is read. A snapshot shows the present wait of each
/// procedure. A report is a wait that has lasted. The search for cycles uses the graph of all
/// waits. A timeline's record of an unfinished procedure names the procedure that its wait names.
///
/// | wait            | begins                                         | ends                          | for              |
/// |-----------------|------------------------------------------------|-------------------------------|------------------|
/// | `notEnqueued`   | when it is made                                | the user adds it              | user code        |
/// | `dependencies`  | one is armed                                   | the last is settled           | procedures, all  |
/// | `prerequisites` | a condition brings them                        | the last is settled           | procedures, all  |
/// | `barrier`       | it is added behind a barrier                   | the barriers open             | procedures, all  |
/// | `announcement`  | it is added to an observed group               | the group's turn announces it | its group        |
/// | `condition`     | a condition is asked                           | it answers                    | user code        |
/// | `groupStart`    | it is added to a group that has not begun      | the group executes            | its group        |
/// | `groupSlot`¹    | its group gives up the slot                    | the group has it again        | as its group     |
/// | `groupRest`     | its group rests between attempts, without slot | the rest is over              | time             |
/// | `suspension`    | the list is suspended                          | the user resumes it           | user code        |
/// | `slot`          | the limit is reached                           | a holder leaves               | procedures, one  |
/// | `exclusion`²    | a category is taken, or others stand in line   | holders leave, or time passes | procedures, some |
/// | `thread`        | it is ready, or its turn, or closure, is due   | a worker, or the main actor   | a thread         |
/// | `children`      | a group has executed                           | the last child leaves         | procedures, all  |
/// | `answer`        | it has asked its group about its errors        | the group's turn answers      | its group        |
/// | `call`          | its turn, body, or a handler waits in a call   | the call returns              | procedures       |
/// | `pendingEvent`  | an observer keeps an event                     | it releases the event         | user code        |
/// | `observer`      | an observer is called elsewhere                | it returns                    | user code        |
/// | `finish`        | `execute()` has returned                       | the author calls `finish()`   | user code        |
///
/// ¹ As its list sees it. It is told as the group's own wait, or as its rest. ² It is for the
/// holders while these leave no room for it. Otherwise it is for the first in line, until that one
/// has ended, or the holders leave room for it.
///
/// **User code is no wait.** A procedure whose turn is held by a thread is busy, no matter which
/// wait would follow: an override runs, an observer, a hook of a group, a closure that hands over.
/// Only a framework call that blocks, or an `await` that the framework knows, turns the code of a
/// turn or body into a wait, for the procedures that the call names. A group therefore waits for
/// its children only while its turn is free.
enum Wait: Sendable {
  /// It executes, is about to do something, or is finishing.
  case nothing
  case notEnqueued
  /// All of these have to finish.
  case dependencies([Procedure])
  /// All of these have to finish before the condition of that name can be evaluated.
  case prerequisites(of: String, [Procedure])
  /// The barrier of the queue, or the procedures before it, have to finish.
  case barrier([Procedure])
  /// Its group has observers that do not know it yet.
  case announcement(by: Procedure)
  /// The condition of that name has not answered the question with that serial number.
  case condition(String, serial: UInt64)
  /// Its group has not begun to execute.
  case groupStart(Procedure)
  /// Its group has given up its slot.
  case groupSlot(Procedure)
  /// Its group has given up its slot until its next attempt.
  case groupRest(Procedure)
  /// Its queue, or its group, is suspended.
  case suspension
  /// All slots are taken: one of these has to finish.
  case slot(SlotOwner, limit: Int, SharedHolders)
  /// Some of the holders of each category have to finish, or the first in line.
  case exclusion([ExclusionObstacle])
  /// No thread has come for that errand.
  case thread(Errand)
  /// All of its children have to finish.
  case children([Procedure])
  /// Its group has not decided about its errors.
  case answer(of: Procedure)
  /// Its turn is blocked in that call, or its body waits in it, until these have finished.
  case call(WaitingCall, [Procedure])
  /// An observer holds the event back.
  case pendingEvent(HoldableEvent)
  /// An observer that is called elsewhere has not returned.
  case observer(ObserverCall)
  /// `execute()` has returned, and its author has not called `finish()`.
  case finish

  /// The work for which a thread is missing.
  enum Errand: UInt8, Sendable {
    /// It is ready to execute, or to have its conditions evaluated.
    case start
    /// Its turn is due, for example to deliver a cancel or to finish.
    case turn
    /// The task of its body is ready to continue.
    case step
    /// Its body will begin on the main actor.
    case mainActor
  }

  /// The list whose slots are all taken.
  enum SlotOwner: Sendable {
    case queue(QueueSupervisor)
    case group(Procedure)
  }
}

/// Holders of the slots of a list, or of the places of a category, for which many may wait. They
/// share it.
final class SharedHolders: Sendable {
  let procedures: [Procedure]

  init(_ procedures: [Procedure]) { self.procedures = procedures }
}

/// Why a procedure is kept out of one category.
struct ExclusionObstacle: Sendable {
  let limit: CategoryLimit
  /// The holders, in the order of their first requests. Empty for a rate, where time makes room.
  let holders: SharedHolders
  /// When a rate may have room.
  let time: StartTimes.NextStart?
  /// How many of the holders have to finish before there is room for the procedure; 0 if there is.
  let count: Int
  /// The line that it stands in, if the first there needs more of the holders to finish.
  let line: Line?

  /// A line for a category, as those see it that do not stand first.
  struct Line: Sendable {
    /// The first in line, alone.
    let first: SharedHolders
    /// How many of `keepers` have to finish before those behind the first are admitted.
    let count: Int
    /// The first in line as many times as `count`, so that its end alone is enough, and the holders.
    let keepers: SharedHolders
  }

  /// The reason: the holders while there is no room, otherwise the first in line.
  var named: SharedHolders { count == 0 ? line?.first ?? holders : holders }

  var procedures: [Procedure] { named.procedures }

  fileprivate var parts: [Wait.Part] {
    var parts = count == 0 ? [] : [Wait.Part(holders, count)]
    if let line { parts.append(Wait.Part(line.keepers, line.count)) }
    return parts
  }
}

/// One reading of the waits of many procedures: they share what they wait for, so that thousands
/// that wait for thousands cost their sum.
struct WaitReading: Sendable {
  /// The references to release after the locks: the procedures that were visited, and holders that
  /// were replaced.
  fileprivate var seen: [Procedure] = []
  private var replaced: [SharedHolders] = []
  /// The holders of the slots of lists. A list is kept, so that its address remains its own.
  private var slots: [ObjectIdentifier: (list: ProcedureList, limit: Int, SharedHolders)] = [:]
  private var levels: [ObjectIdentifier: (level: ExclusionLevel, version: UInt64, SharedHolders)] =
    [:]
  /// The lines at those levels.
  private var lines: [ObjectIdentifier: (holders: SharedHolders, ExclusionObstacle.Line)] = [:]

  /// The holders of all slots of a list.
  ///
  /// Those that were read before may have left since, and others have come. In a wait that never
  /// ends all remain.
  fileprivate mutating func holders(
    of list: ProcedureList, limit: Int, _ read: () -> [Procedure]
  ) -> SharedHolders {
    list.assertHeld()
    if let (_, known, holders) = slots[ObjectIdentifier(list)], known == limit { return holders }
    let holders = SharedHolders(read())
    let before = slots.updateValue((list, limit, holders), forKey: ObjectIdentifier(list))
    if let before { replaced.append(before.2) }
    return holders
  }

  /// An obstacle with the procedures in the way. Called under the lock of the table.
  fileprivate mutating func obstacle(_ obstacle: ExclusionTable.Obstacle) -> ExclusionObstacle {
    let holders = obstacle.time == nil ? holders(at: obstacle.level) : SharedHolders([])
    return ExclusionObstacle(
      limit: obstacle.limit, holders: holders, time: obstacle.time, count: obstacle.count,
      line: obstacle.front.map { line(behind: $0, at: obstacle.level, heldBy: holders) })
  }

  private mutating func line(
    behind front: ExclusionTable.Obstacle.Front, at level: ExclusionLevel,
    heldBy holders: SharedHolders
  ) -> ExclusionObstacle.Line {
    let (id, first) = (ObjectIdentifier(level), front.request.asMember.procedure)
    if let (known, line) = lines[id], known === holders, line.count == front.count,
      line.first.procedures[0] === first
    {
      return line
    }
    let line = ExclusionObstacle.Line(
      first: SharedHolders([first]), count: front.count,
      keepers: SharedHolders(
        [Procedure](repeating: first, count: front.count) + holders.procedures))
    let before = lines.updateValue((holders, line), forKey: id)
    if let before { replaced += [before.holders, before.1.first, before.1.keepers] }
    return line
  }

  /// The holders at a level, in the order in which they first asked.
  private mutating func holders(at level: ExclusionLevel) -> SharedHolders {
    let id = ObjectIdentifier(level)
    // How many of them have to leave is known of the present ones.
    if let (_, version, holders) = levels[id], version == level.holdersVersion { return holders }
    let holders = SharedHolders(level.holders.map(\.asMember.procedure))
    let before = levels.updateValue((level, level.holdersVersion, holders), forKey: id)
    if let before { replaced.append(before.2) }
    return holders
  }

  /// Called with no lock held.
  fileprivate mutating func release() { (seen, replaced) = ([], []) }
}

// MARK: Finding out

extension Procedure {
  /// Whether a thread has its turn or is about to get it. For a simulation, which has no other
  /// threads.
  package final var isInTurn: Bool { peek { $0.life.isInTurn } }

  /// Whether a thread has ended the last child of this group, and is about to get the group's turn.
  package final var isAboutToSettle: Bool {
    guard peek({ $0.life.isSettling }), let childList else { return false }
    return childList.procedures.allSatisfy { $0.peek { $0.life.isRetired } }
  }

  /// Its present wait. O(dependencies) or O(children); O(count) for a barrier.
  final var wait: Wait {
    var reading = WaitReading()
    return numberedWait(in: &reading).wait
  }

  /// Its present wait, and a number that changes with each change of the wait.
  ///
  /// - Parameters:
  ///   - asksList: false to leave out the wait in its list, its children, and the procedures of a
  ///     call. Then it is O(dependencies).
  ///   - reading: that of the waits of others, too.
  final func numberedWait(
    inList asksList: Bool = true, in reading: inout WaitReading
  ) -> (wait: Wait, number: UInt64) {
    var (wait, number, ownToken, asked, mayFinish) = peek { core in
      (
        core.wait(of: self, inList: asksList, in: &reading), core.life.waitNumber,
        core.registrations?.value.token?.identity,
        core.life.parentDecision == .asked ? core.list?.group : nil,
        core.life.state == .executing && !core.life.isToldToFinish
      )
    }
    defer { reading.release() }
    // 1. Without its slot, the group waits for time, or for what it needs to have it again.
    while case .groupSlot(let group) = wait {
      wait = group.peek { $0.list?.wait(of: group, in: &reading) ?? .nothing }
      if case .nothing = wait { wait = .groupRest(group) }
    }
    // 2. Only the group knows whether it has something to announce. Otherwise the last dependency
    //    has been settled, and is about to be counted off.
    if case .announcement(let group) = wait, !group.peek({ $0.hasSomethingToAnnounce }) {
      wait = .nothing
    }
    // 3. The thread of a child that asks its group runs the group's code, or is about to find that
    //    another thread does.
    if let asked, case .nothing = wait, asked.isBlocked { wait = .answer(of: asked) }
    // 4. A body that has begun waits in its calls; the body of a ready-made procedure needs no
    //    `finish()`.
    if case .finish = wait {
      let body = asyncBody
      if body?.isStepDue == true {
        wait = .thread(.step)
      } else if body?.awaitsMainActor == true {
        wait = .thread(.mainActor)
      } else if let call = body?.bodyTask?.waitingCall(endedBy: ownToken) {
        wait = .call(call, [])
      } else if self is any EndsByItself {
        wait = .nothing
      }
    }
    // 5. The number and the procedures of a call. A body may run beside a handler.
    if case .call(var call, _) = wait {
      if call.isInHandler, mayFinish, asyncBody?.bodyTask != nil {
        call = call.besideUserCode(of: self)
      }
      wait = .call(call, [])
      number = call.serial
      if asksList { wait = .call(call, call.awaited(by: self)) }
    }
    return (wait, number)
  }
}

extension Procedure {
  /// Whether code in its turn is in a blocking call.
  private final var isBlocked: Bool { peek { $0.blockedCall != nil } }
}

extension Life {
  /// Grows with each change of a wait before the start. Later waits come once, or are calls, which
  /// have numbers.
  fileprivate var waitNumber: UInt64 { state == .pending ? UInt64(attempt) : 0 }
}

extension ProcedureCore {
  /// The wait, as far as this lock and the lock of the list show it.
  fileprivate func wait(
    of procedure: Procedure, inList asksList: Bool, in reading: inout WaitReading
  ) -> Wait {
    // 1. User code in a blocking call waits in that call; other user code is no wait.
    if let call = blockedCall { return .call(call, []) }
    if let call = callOfHandler(for: procedure) { return .call(call, []) }
    if life.isTurnDue { return .thread(.turn) }
    if let wait = waitOfHeldTurn { return wait }
    // 2. The turn is free. Between mark and delivery a cancel passes through a tree.
    if life.cancel.isDue { return .nothing }
    switch life.state {
    case .initialized: return .notEnqueued
    case .pending: return waitWhilePending(of: procedure, inList: asksList, in: &reading)
    case .executing where life.isSettling:
      return asksList ? waitForChildren(of: procedure) : .nothing
    case .executing where !life.isToldToFinish: return .finish
    case .started, .executing, .finishing, .finished: return .nothing
    }
  }

  fileprivate var blockedCall: WaitingCall? {
    attachments.existing(BlockedTurn.self)?.value.call.flatMap { $0.isWaiting ? $0 : nil }
  }

  /// The call in which a handler is blocked that is called for its cancel: that is delivered when
  /// the handler has returned.
  private func callOfHandler(for procedure: Procedure) -> WaitingCall? {
    guard let call = attachments.existing(BlockedTurn.self)?.value.callOfHandler, call.isWaiting
    else {
      return nil
    }
    return life.turn.isHeld && !life.isTurnDue ? call.besideUserCode(of: procedure) : call
  }

  /// Whether children wait until its turn, which is due or held, has called its observers for them.
  fileprivate var hasSomethingToAnnounce: Bool {
    deferred.map { !$0.value.additions.isEmpty } ?? false
  }

  /// The wait of a turn that is not free; nil if it is.
  private var waitOfHeldTurn: Wait? {
    guard life.turn.isHeld else { return nil }
    if let event = life.awaitedHold { return .pendingEvent(event) }
    if let call = deferred?.value.suspendedDelivery?.awaitedCall { return .observer(call) }
    if life.parentDecision == .awaited, let group = list?.group { return .answer(of: group) }
    return .nothing
  }

  private func waitForChildren(of group: Procedure) -> Wait {
    let children = group.childList?.procedures ?? []
    return children.isEmpty ? .nothing : .children(children)
  }

  private func waitWhilePending(
    of procedure: Procedure, inList asksList: Bool, in reading: inout WaitReading
  ) -> Wait {
    // 1. A cancelled procedure waits for nothing more, except its children.
    if life.isCancelled {
      // A group that was cancelled before it started ends after its children, like any other.
      return asksList && life.isSettling ? waitForChildren(of: procedure) : .nothing
    }
    // 2. Dependencies, the prerequisites of conditions, and barriers share one count: the rows say
    //    which of them is meant.
    if life.isWaitingForDependencies {
      let dependencies = self.dependencies.awaitedProcedures
      if !dependencies.isEmpty { return .dependencies(dependencies) }
      let prerequisites =
        requirements?.value.prerequisites.map(\.link).filter(\.isArmed).map(\.dependency) ?? []
      if let name = requirements?.value.conditions?.currentName, !prerequisites.isEmpty {
        return .prerequisites(of: name, prerequisites)
      }
      return asksList ? waitForPlace(seeing: &reading.seen) : .nothing
    }
    // 3. A condition that was asked and has not answered.
    if life.isEvaluating {
      guard let conditions = requirements?.value.conditions, let serial = conditions.awaitedSerial,
        let name = conditions.currentName
      else { return .nothing }
      let ownToken = registrations?.value.token?.identity
      if let call = conditions.awaitedTask?.waitingCall(endedBy: ownToken) {
        return .call(call, [])
      }
      return .condition(name, serial: serial)
    }
    // 4. Nothing but a place in its list is missing.
    return asksList ? list?.wait(of: procedure, in: &reading) ?? .nothing : .nothing
  }

  /// Its wait if no dependency is missing: a barrier of its queue, or its group, holds it back.
  private func waitForPlace(seeing seen: inout [Procedure]) -> Wait {
    guard let list else { return .nothing }
    if let group = list.group { return .announcement(by: group) }
    guard let barriers = list.barriers, let waiters else { return .nothing }
    for case .barrier(let ticket) in waiters.all {
      let awaited = barriers.awaited(with: ticket, in: list, seeing: &seen)
      return awaited.isEmpty ? .nothing : .barrier(awaited)
    }
    return .nothing
  }
}

extension ProcedureList {
  /// The wait in this list of a member that has no dependency left.
  fileprivate func wait(of procedure: Procedure, in reading: inout WaitReading) -> Wait {
    procedure.assertLocked()
    let group = group
    let owner = group.map(Wait.SlotOwner.group) ?? .queue(context.supervisor)
    return locked { $0.machine.wait(of: procedure, of: self, in: group, owner, &reading) }
  }
}

extension ListMachine {
  fileprivate func wait(
    of procedure: Procedure, of list: ProcedureList, in group: Procedure?,
    _ owner: Wait.SlotOwner, _ reading: inout WaitReading
  ) -> Wait {
    let bucket = membership(of: procedure).bucket
    // 1. A member of an incomplete batch is being added at this moment; a group without its slot
    //    waits for time.
    if bucket == .none || bucket == .waiting || isCancelled { return .nothing }
    // 2. It has a slot, and has not started.
    if bucket.hasSlot { return .thread(.start) }
    // 3. No member of the list may start.
    if phase == .held { return group.map(Wait.groupStart) ?? .nothing }
    if hasYieldedSlot { return group.map(Wait.groupSlot) ?? .nothing }
    if isSuspended { return .suspension }
    // 4. It had a slot, and waits for its categories.
    if bucket == .excluded, let request = buckets.request(of: .unowned(procedure)) {
      let obstacles = ExclusionTable.shared.withLock { table in
        table.obstacles(to: request).map { reading.obstacle($0) }
      }
      return obstacles.isEmpty ? .nothing : .exclusion(obstacles)
    }
    // 5. A slot, unless one is free: then only a worker is missing. Evaluating takes no slot.
    guard bucket != .evaluable, slotsInUse >= limit else { return .thread(.start) }
    let holders = reading.holders(of: list, limit: limit) {
      var holders: [Procedure] = []
      buckets.forEachWithSlot { holders.append($0.procedure) }
      return holders
    }
    return .slot(owner, limit: limit, holders)
  }
}

// MARK: Questions

extension Wait {
  /// A part of a wait: so many of the others have to finish.
  struct Part: Sendable {
    let others: [Procedure]
    let count: Int
    /// The others, if other procedures wait for them, too.
    let shared: SharedHolders?

    init(_ others: [Procedure], _ count: Int) {
      (self.others, self.count, shared) = (others, count, nil)
    }

    init(_ shared: SharedHolders, _ count: Int) {
      (others, self.count, self.shared) = (shared.procedures, count, shared)
    }
  }

  /// The parts of the wait, all of which have to be satisfied.
  var parts: [Part] {
    switch self {
    case .exclusion(let obstacles):
      // Time ends the wait for a rate.
      obstacles.contains { $0.time != nil } ? [] : obstacles.flatMap(\.parts)
    case .slot(_, _, let holders): [Part(holders, 1)]
    case .call(let call, let others): call.isProvable ? [Part(others, call.count)] : []
    default: [Part(awaited, .max)]
    }
  }

  /// Those that it waits for, if they are the holders of one thing, or the first in line for it.
  /// Others may wait for them, too.
  var onlyHolders: SharedHolders? {
    switch self {
    case .slot(_, _, let holders): holders
    case .exclusion(let obstacles) where obstacles.count == 1: obstacles[0].named
    default: nil
    }
  }

  /// A number for each kind of wait for procedures.
  var kind: UInt8 {
    switch self {
    case .dependencies: 1
    case .prerequisites: 2
    case .barrier: 3
    case .announcement: 4
    case .groupStart: 5
    case .groupSlot: 6
    case .slot: 7
    case .exclusion: 8
    case .children: 9
    case .answer: 10
    case .call: 11
    case .nothing, .notEnqueued, .condition, .suspension, .thread, .pendingEvent, .observer,
      .finish, .groupRest:
      0
    }
  }

  /// The procedures that have to finish first.
  var awaited: [Procedure] {
    switch self {
    case .nothing, .thread, .notEnqueued, .condition, .suspension, .pendingEvent, .observer,
      .finish, .groupRest:
      []
    case .dependencies(let others), .barrier(let others), .prerequisites(_, let others),
      .children(let others), .call(_, let others):
      others
    case .slot(_, _, let holders): holders.procedures
    case .exclusion(let obstacles): obstacles.flatMap(\.procedures)
    case .groupStart(let group), .groupSlot(let group), .answer(let group),
      .announcement(let group):
      [group]
    }
  }

  /// Compared by two looks: equal for one wait that has lasted. It keeps nothing alive.
  struct Identity: Hashable, Sendable {
    fileprivate enum Kind: UInt8, Sendable {
      case end, event, observer, condition, missing, thread, finish, call
    }

    private let kind: Kind
    private let number: UInt64

    fileprivate init(_ kind: Kind, _ number: UInt64 = 0) {
      (self.kind, self.number) = (kind, number)
    }

    fileprivate init(_ kind: Kind, of object: AnyObject, _ number: UInt8 = 0) {
      // Objects are aligned to 16 bytes.
      let address = UInt64(UInt(bitPattern: ObjectIdentifier(object)))
      self.init(kind, address | UInt64(number))
    }

    /// It waits for a thread.
    ///
    /// - Parameter head: the first of its list that a thread would take: with another one, a thread
    ///   has come, and the wait is another.
    static func thread(_ errand: Errand, behind head: Member?) -> Self {
      let number = UInt64(errand.rawValue)
      guard let head else { return Identity(.thread, number) }
      return Identity(.thread, UInt64(UInt(bitPattern: head.id)) | number)
    }

    /// It was cancelled, and has to finish.
    static let end = Identity(.end)
    /// Its author has to finish it.
    static let finish = Identity(.finish)

    /// Whether it is reported even without a handler.
    var isFrequentMistake: Bool { kind == .finish || kind == .missing }
  }

  /// A procedure on no queue that keeps the wait from ending; nil if there is none.
  var missing: Procedure? {
    switch self {
    case .dependencies(let others), .prerequisites(_, let others):
      others.first(where: \.isOnNoQueue)
    case .call(let call, _): call.missing
    default: nil
    }
  }

  /// The identity of a wait that is reported if it lasts. Nil for all others: they end
  /// automatically, or with a wait of other procedures that is reported.
  var reportedIdentity: Identity? {
    switch self {
    case .pendingEvent(let event): Identity(.event, UInt64(event.rawValue))
    case .observer(let call):
      Identity(.observer, of: call.entry, UInt8(call.event.rawValue.trailingZeroBitCount & 15))
    case .condition(_, let serial): Identity(.condition, serial)
    case .dependencies, .prerequisites: missing.map { Identity(.missing, of: $0) }
    case .finish: .finish
    case .call(let call, _):
      missing.map { Identity(.missing, of: $0) } ?? Identity(.call, call.serial)
    // Of a list the look knows more.
    case .thread(let errand): .thread(errand, behind: nil)
    case .nothing, .notEnqueued, .barrier, .exclusion, .slot, .suspension, .groupStart,
      .groupSlot, .groupRest, .announcement, .answer, .children:
      nil
    }
  }
}

// MARK: In words

extension Wait {
  /// The wait in words; nil if it waits for nothing.
  var summary: String? {
    switch self {
    case .nothing: nil
    case .call(let call, let others):
      (call.isInHandler ? "a handler of its cancel" : "it") + " waits in "
        + (others.isEmpty ? call.words : "\(call.name) for \(others.namesForPeople)")
    case .thread(.start): "it is ready, and waits for a thread"
    case .thread(.turn): "its next turn waits for a thread"
    case .thread(.step): "its body is to go on, and waits for a thread"
    case .thread(.mainActor): "its body is to begin, and waits for the main actor"
    case .notEnqueued: "it is on no queue yet"
    case .dependencies(let others): "it waits for \(others.namesForPeople)"
    case .barrier(let others): "a barrier has it wait for \(others.namesForPeople)"
    case .prerequisites(let condition, let others):
      "condition '\(condition)' waits for \(others.namesForPeople)"
    case .announcement(let group):
      "its group '\(group.name)' has not announced it to its observers"
    case .condition(let name, _): "condition '\(name)' has not answered"
    case .exclusion(let obstacles):
      "it waits for " + obstacles.map(\.summary).joined(separator: ", ")
    case .slot(_, let limit, let holders):
      "it waits for one of \(limit) slots, taken by \(holders.procedures.namesForPeople)"
    case .suspension: "its queue or group is suspended"
    case .groupStart(let group): "its group '\(group.name)' has not begun"
    case .groupSlot(let group): "its group '\(group.name)' has given up its slot"
    case .groupRest(let group):
      "its group '\(group.name)' has given up its slot until its next attempt"
    case .children(let children): "it waits for its children \(children.namesForPeople)"
    case .answer(let group): "its group '\(group.name)' has not decided about its errors"
    case .pendingEvent(let event): "an observer holds its \(event) event back"
    case .observer(let call): "it waits for an observer \(call.entry.place.words)"
    case .finish: "execute() has returned, waits for finish()"
    }
  }

  /// The wait of a member of a cycle for the next one, after its name: "waits for its child
  /// 'parse'". If it is for some of several, the others are named, too.
  func predicate(for next: Procedure) -> String {
    let name = "'\(next.name)'"
    switch self {
    case .call(let call, let others):
      return (call.isInHandler ? "is cancelled, and a handler of that " : "")
        + "waits in \(call.name) of \(call.target.nameForPeople)"
        + (call.isForRoom ? " for a place, held by \(others.names(with: next))" : "")
    case .barrier: return "waits behind a barrier for \(name)"
    case .prerequisites(let condition, _):
      return "has condition '\(condition)', which brings \(name)"
    case .slot(let owner, let limit, let holders):
      return "waits for a slot of \(owner.nameForPeople) (limit \(limit)), held by "
        + holders.procedures.names(with: next)
    case .exclusion(let obstacles):
      return "waits for "
        + (obstacles.lazy.compactMap { $0.predicate(for: next) }.first ?? "a category of \(name)")
    case .children: return "waits for its child \(name)"
    case .groupStart: return "waits for its group \(name) to begin"
    case .groupSlot: return "waits for its group \(name) to have a slot"
    case .announcement: return "waits for its group \(name) to announce it"
    case .answer: return "waits for the answer of its group \(name)"
    case .dependencies, .nothing, .notEnqueued, .condition, .suspension, .thread, .pendingEvent,
      .observer, .finish, .groupRest:
      return "waits for \(name)"
    }
  }
}

extension Wait.SlotOwner {
  fileprivate var nameForPeople: String {
    switch self {
    case .queue(let supervisor): "queue '\(supervisor.queueName)'"
    case .group(let group): "group '\(group.name)'"
    }
  }
}

extension ExclusionObstacle {
  fileprivate var summary: String {
    let reason =
      time.map { "\($0.isPaused ? "paused" : "all taken") for \($0.after.forPeople) more" }
      ?? (count == 0 ? "in line behind " : "held by ") + procedures.namesForPeople
    return "\(limit.nameForPeople), \(reason)"
  }

  /// How it waits for `next`, after "waits for": "'disk', held by 'fetch'". Nil if it does not.
  fileprivate func predicate(for next: Procedure) -> String? {
    if line?.first.procedures.contains(next) == true {
      return "\(limit.nameForPeople), in line behind '\(next.name)'"
    }
    guard count > 0, holders.procedures.contains(next) else { return nil }
    return "\(limit.nameForPeople), held by \(holders.procedures.names(with: next))"
  }
}

extension [Procedure] {
  /// The names of the first few.
  fileprivate var namesForPeople: String {
    let names = prefix(5).map { "'\($0.name)'" }.joined(separator: ", ")
    return count > 5 ? names + " and \(count - 5) more" : names
  }

  /// The names of a few, one of which is `next`: "'a', 'b' and 'c'", or "'a', 'b' and 7 more".
  fileprivate func names(with next: Procedure) -> String {
    let few = prefix(5)
    let named = few.contains(next) ? Array(few) : [next] + few.dropLast()
    var names = named.map { "'\($0.name)'" }
    if count > names.count {
      names.append("\(count - names.count) more")
    }
    guard let last = names.popLast(), !names.isEmpty else { return "'\(next.name)'" }
    return names.joined(separator: ", ") + " and " + last
  }
}
