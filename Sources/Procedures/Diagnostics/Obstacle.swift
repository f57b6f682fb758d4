internal import ProcedurePrimitives

/// The wait of one unfinished procedure, at one moment.
enum Obstacle: Sendable {
  /// It executes, is about to do something, or is on its way to the end.
  case nothing
  /// Its turn is blocked in that call, or its body waits in it, until these have finished.
  case call(WaitingCall, [Procedure])
  /// It is ready, and no worker of its queue has come to it.
  case thread
  /// It is on no queue yet.
  case notEnqueued
  /// All of these have to finish.
  case dependencies([Procedure])
  /// It waits for a barrier of the queue, or for these procedures before that.
  case barrier([Procedure])
  /// All of these have to finish before the condition named can be evaluated.
  case prerequisites(of: String, [Procedure])
  /// The condition named has not answered that question.
  case condition(String, serial: UInt64)
  /// Some of the holders of each category have to finish.
  case exclusion([ExclusionObstacle])
  /// One of these has to finish, since there are no more slots.
  case slot(limit: Int, [Procedure])
  /// Its queue, or its group, is suspended.
  case suspension
  /// Its group has not begun to execute.
  case groupStart(Procedure)
  /// Its group has given up its slot, and waits for time, or for a slot again.
  case groupSlot(Procedure)
  /// All of its children have to finish.
  case children([Procedure])
  /// Its group, whose turn is in use, has not decided about its errors.
  case answer(of: Procedure)
  /// An observer holds the event back.
  case pendingEvent(HoldableEvent)
  /// An observer that is called elsewhere has not returned.
  case observer(ObserverCall)
  /// `execute()` has returned, and its author is to call `finish()`.
  case finish
}

extension Procedure {
  /// Whether a thread has its turn, or is about to. For a simulation, which has no other threads.
  package final var isInTurn: Bool { read { $0.life.isInTurn } }

  /// Its present wait. O(dependencies), or O(children); for a barrier O(count).
  ///
  /// - Parameter asksList: false to leave out what its list or its children keep it from, and the procedures of a call.
  ///   Then it is O(dependencies).
  final func obstacle(inList asksList: Bool = true) -> Obstacle {
    if let call = waitingCall { return .call(call, asksList ? call.awaited(by: self) : []) }
    var obstacle = obstacleBesideObservers(inList: asksList)
    // Its children wait for what the group does, if that is more than time.
    while case .groupSlot(let group) = obstacle {
      obstacle = group.read { $0.list?.obstacle(of: group) ?? .nothing }
    }
    guard case .nothing = obstacle else { return obstacle }
    if let call = awaitedObserver { return .observer(call) }
    guard isPending, !isCancelled else { return .nothing }
    // Those that have finished let it go on when their observers have returned.
    let dependencies = dependencies.filter { $0.awaitedObserver != nil || $0.waitingCall != nil }
    return dependencies.isEmpty ? .nothing : .dependencies(dependencies)
  }

  /// The call of an observer whose return its turn waits for.
  private final var awaitedObserver: ObserverCall? {
    read { $0.pending?.suspendedDelivery?.awaitedCall }
  }

  private final func obstacleBesideObservers(inList asksList: Bool) -> Obstacle {
    // Those that are looked at in there, to be released after the lock.
    var seen: [Procedure] = []
    return read { core in
      if let event = core.life.awaitedHold { return .pendingEvent(event) }
      switch core.life.state {
      case .initialized: return .notEnqueued
      case .pending: return core.obstacleWhilePending(of: self, inList: asksList, seeing: &seen)
      case .executing where core.life.isSettling:
        let children = asksList ? childList?.procedures ?? [] : []
        return children.isEmpty ? .nothing : .children(children)
      case .executing
      where core.life.isTurnFree && !core.life.isToldToFinish && !(self is any EndsByItself):
        return .finish
      case .finishing where core.life.hearing == .awaited:
        return core.list?.group.map(Obstacle.answer) ?? .nothing
      case .started, .executing, .finishing, .finished: return .nothing
      }
    }
  }
}

extension ProcedureCore {
  fileprivate func obstacleWhilePending(
    of procedure: Procedure, inList asksList: Bool, seeing seen: inout [Procedure]
  ) -> Obstacle {
    // A group that was cancelled before it started ends after its children, like any other.
    if asksList, life.isSettling, let children = procedure.childList?.procedures,
      !children.isEmpty
    {
      return .children(children)
    }
    guard !life.isCancelled else { return .nothing }
    if life.isWaitingForDependencies {
      let dependencies = self.dependencies.procedures.filter { !$0.isFinished }
      if !dependencies.isEmpty { return .dependencies(dependencies) }
      let prerequisites =
        requirements?.prerequisites.map(\.link.dependency).filter { !$0.isFinished } ?? []
      guard let name = requirements?.conditions?.currentName, !prerequisites.isEmpty else {
        return asksList ? obstacleOfBarriers(seeing: &seen) : .nothing
      }
      return .prerequisites(of: name, prerequisites)
    }
    if life.isEvaluating {
      guard let conditions = requirements?.conditions, let serial = conditions.awaitedSerial,
        let name = conditions.currentName
      else { return .nothing }
      return .condition(name, serial: serial)
    }
    return asksList ? list?.obstacle(of: procedure) ?? .nothing : .nothing
  }

  /// Its wait if it is held back because of a barrier.
  private func obstacleOfBarriers(seeing seen: inout [Procedure]) -> Obstacle {
    guard let list, let barriers = list.barriers, let waiters else { return .nothing }
    for case .barrier(let ticket) in waiters.all {
      let awaited = barriers.awaited(with: ticket, in: list, seeing: &seen)
      return awaited.isEmpty ? .nothing : .barrier(awaited)
    }
    return .nothing
  }
}

extension ProcedureList {
  /// The wait in this list of a member that could go on. Called under its lock.
  fileprivate func obstacle(of procedure: Procedure) -> Obstacle {
    switch position(of: procedure) {
    case .free:
      return .nothing
    case .ready:
      return .thread
    case .held:
      return group.map(Obstacle.groupStart) ?? .nothing
    case .resting:
      return group.map(Obstacle.groupSlot) ?? .nothing
    case .suspended:
      return .suspension
    case .excluded(let request):
      let obstacles = ExclusionTable.shared.withLock { $0.obstacles(to: request) }
      return obstacles.isEmpty ? .nothing : .exclusion(obstacles)
    case .noSlot(let limit, let running):
      return .slot(limit: limit, running)
    }
  }
}

extension Obstacle {
  /// The procedures that have to finish first.
  var awaited: [Procedure] {
    switch self {
    case .nothing, .thread, .notEnqueued, .condition, .suspension, .pendingEvent, .observer,
      .finish:
      []
    case .dependencies(let others), .barrier(let others), .prerequisites(_, let others),
      .slot(_, let others), .children(let others), .call(_, let others):
      others
    case .exclusion(let obstacles): obstacles.flatMap(\.procedures)
    case .groupStart(let group), .groupSlot(let group), .answer(let group): [group]
    }
  }

  /// Its wait in words; nil if it waits for nothing.
  var summary: String? {
    switch self {
    case .nothing: nil
    case .call(let call, let others):
      "it waits in \(call.name) for \(others.namesForPeople)"
    case .thread: "it is ready, and waits for a thread"
    case .notEnqueued: "it is on no queue yet"
    case .dependencies(let others): "it waits for \(others.namesForPeople)"
    case .barrier(let others): "a barrier has it wait for \(others.namesForPeople)"
    case .prerequisites(let condition, let others):
      "condition '\(condition)' waits for \(others.namesForPeople)"
    case .condition(let name, _): "condition '\(name)' has not answered"
    case .exclusion(let obstacles):
      "it waits for "
        + obstacles.map { obstacle in
          "\(obstacle.limit.nameForPeople), "
            + (obstacle.time.map { next in
              "\(next.isPaused ? "paused" : "all taken") for \(next.after.forPeople) more"
            } ?? "held by \(obstacle.procedures.namesForPeople)")
        }
        .joined(separator: ", ")
    case .slot(let limit, let running):
      "it waits for one of \(limit) slots, taken by \(running.namesForPeople)"
    case .suspension: "its queue or group is suspended"
    case .groupStart(let group): "its group '\(group.name)' has not begun"
    case .groupSlot(let group): "its group '\(group.name)' has given up its slot"
    case .children(let children): "it waits for its children \(children.namesForPeople)"
    case .answer(let group): "it waits until its group '\(group.name)' has heard that it ends"
    case .pendingEvent(let event): "an observer holds its \(event) event back"
    case .observer(let call): "it waits for an observer \(call.entry.place.words)"
    case .finish: "execute() has returned, waits for finish()"
    }
  }
}

extension [Procedure] {
  /// The names of the first few.
  fileprivate var namesForPeople: String {
    let names = prefix(5).map { "'\($0.name)'" }.joined(separator: ", ")
    return count > 5 ? names + " and \(count - 5) more" : names
  }
}
