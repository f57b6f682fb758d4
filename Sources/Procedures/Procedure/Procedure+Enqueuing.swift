internal import Dispatch
internal import Primitives

extension Procedure {
  /// Makes it a member of `list`: the only way from initialized to pending.
  ///
  /// - Parameter isHeldBack: whether `dependencyFinished()` must be called once more before it may
  ///   start.
  /// - Returns: false if the list's group has closed; the procedure is then cancelled, and finishes.
  final func enqueue(in list: ReadyList, isHeldBack: Bool = false) -> Bool {
    struct Start: Sendable {
      let action: ProcedureStateMachine.TurnAction
      let standing: ReadyListStateMachine.Standing
      let dependencies: SmallList<ProcedureExtras.Dependency>
    }
    let start: Start? = update { core in
      let dependencies = core.extras?.dependencies ?? SmallList()
      let waits = dependencies.count + (isHeldBack ? 1 : 0)
      guard let action = core.machine.enqueue(waitingFor: waits) else { return nil }
      core.home = list
      let standing = ReadyListStateMachine.Standing(
        priority: core.priority, quality: core.quality == .unspecified ? nil : core.quality,
        isReady: core.machine.becomeReady())
      return Start(action: action, standing: standing, dependencies: dependencies)
    }
    guard let start else {
      stopBecauseOfMisuse(
        "Procedure '\(name)' was added to a queue or group twice; make a new one for each run.")
    }
    adoptContext(of: list)
    let insertion = list.insert(self, start.standing)
    if start.action == .requestTurn { list.requestTurn(of: self) }
    // Again, in case the list got its own context between the two.
    adoptContext(of: list)
    for index in start.dependencies.indices {
      wait(for: start.dependencies[index].procedure, at: index)
    }
    switch insertion {
    case .accepted, .alreadyRetired:
      return true
    case .acceptedToCancel(let treeCancel):
      cancel(with: treeCancel)
      return true
    case .refused:
      cancel(withErrors: [ProcedureError.groupFinished(list.group?.name ?? "")])
      return false
    }
  }

  /// A group's children run where the group does. Iterative: groups may be nested thousands deep.
  private func adoptContext(of list: ReadyList) {
    guard let childList else { return }
    let context = list.context
    var unadopted = [childList]
    while let next = unadopted.popLast() {
      unadopted += next.adopt(context)
    }
  }

  /// The group that it was a child of went away.
  final func leaveHome() {
    read { $0.home = nil }
  }
}
