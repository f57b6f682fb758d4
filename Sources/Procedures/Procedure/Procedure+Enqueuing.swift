internal import Dispatch
internal import Primitives

extension Procedure {
  /// Makes it a member of `list`: the only way from initialized to pending.
  ///
  /// One critical section of the procedure, with that of the list inside: nobody sees it pending and
  /// not yet a member, nor a member of a cancelled group that does not read cancelled.
  ///
  /// - Parameter isHeldBack: whether `dependencyFinished()` must be called once more before it may
  ///   start.
  /// - Returns: false if the list's group has closed; the procedure is then cancelled, and finishes.
  final func enqueue(in list: ReadyList, isHeldBack: Bool = false) -> Bool {
    struct Entry: Sendable {
      let insertion: ReadyListStateMachine.Insertion
      let context: SchedulingContext
      let aftermath: ReadyList.Aftermath
      let action: ProcedureStateMachine.TurnAction
      let dependencies: SmallList<ProcedureExtras.Dependency>
      var isMarked = false
    }
    let entry: Entry? = update { core in
      let dependencies = core.extras?.dependencies ?? SmallList()
      // A group must not start before its children know where they run.
      let waits = dependencies.count + (isHeldBack ? 1 : 0) + (childList == nil ? 0 : 1)
      guard let action = core.machine.enqueue(waitingFor: waits) else { return nil }
      let standing = ReadyListStateMachine.Standing(
        priority: core.priority, quality: core.quality == .unspecified ? nil : core.quality,
        readiness: core.machine.becomeReady(), attempt: core.machine.attempt)
      let (insertion, context, aftermath) = list.insert(self, standing)
      var entry = Entry(
        insertion: insertion, context: context, aftermath: aftermath, action: action,
        dependencies: dependencies)
      // A refused one is no member, but its turns run where they would have.
      core.home = list
      switch insertion {
      case .accepted:
        core.isMember = true
      case .acceptedToCancel(let cancel):
        core.isMember = true
        entry.isMarked = core.mark(self, errors: cancel.errors, reason: cancel.reason)
      case .refused:
        core.isMember = false
      }
      if core.isMember, list.hearsChildren { core.machine.mustBeHeard() }
      return entry
    }
    guard let entry else {
      stopBecauseOfMisuse(
        "Procedure '\(name)' was added to a queue or group twice; make a new one for each run.")
    }
    entry.aftermath.carryOut()
    if entry.action == .requestTurn {
      // It was cancelled before.
      listForTurns.requestTurn(of: self)
      watchLingering()
    }
    switch entry.insertion {
    case .refused:
      cancel(withErrors: [ProcedureError.groupFinished(list.group?.name ?? "")])
      return false
    case .acceptedToCancel(let cancel):
      join(cancel, isMarked: entry.isMarked)
    case .accepted:
      break
    }
    if childList != nil {
      adopt(entry.context)
      dependencyFinished()
    }
    for index in entry.dependencies.indices {
      let dependency = entry.dependencies[index]
      wait(for: dependency.procedure, dependency.demand, at: index)
    }
    return true
  }

  /// A group's children run where the group does. Iterative: groups may be nested thousands deep.
  private func adopt(_ context: SchedulingContext) {
    guard let childList else { return }
    var unadopted = [childList]
    while let next = unadopted.popLast() { unadopted += next.adopt(context) }
  }

  /// The group that it was a child of went away.
  final func leaveHome() {
    // What this lets go of may be the last reference: not under the lock.
    let home = read { $0.home.take() }
    _ = home
  }
}
