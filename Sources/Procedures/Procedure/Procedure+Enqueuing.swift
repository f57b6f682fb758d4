internal import Dispatch
internal import ProcedurePrimitives

extension Procedure {
  /// Makes it a member of `list`: the only way from initialized to pending.
  ///
  /// One critical section of the procedure contains that of the list. State that is read without
  /// the lock is published before other threads can find the procedure in the list: a member reads
  /// pending, and a member of a cancelled group reads cancelled.
  ///
  /// - Parameter isHeldBack: whether `dependencyFinished()` must be called once more before it may
  ///   start.
  /// - Parameter role: its role on the queue.
  /// - Parameter isInBatch: whether `list.complete(_:)` must be called before it may start.
  /// - Returns: `.refused` if the list did not take it: then the caller must call
  ///   `end(refusedBy:)`.
  @discardableResult
  final func enqueue(
    in list: ProcedureList, isHeldBack: Bool = false, as role: MemberRole = .member,
    isInBatch: Bool = false
  ) -> Insertion {
    if list.meetsNewcomers { list.meet(self) }
    prepareForQueue()
    let childList = childList
    var effect = Life.Effect.refused
    var insertion = Insertion.refused
    var groupCancel: TreeCancel?
    var armed = Dependents()
    var isMarked = false
    var isCircle = false
    let followUp = withCore { core in
      // A group must not start before its children know where they run.
      var waits = (isHeldBack ? 1 : 0) + (childList == nil ? 0 : 1)
      if !core.dependencies.isEmpty, core.life.state == .initialized {
        let count: Int
        (armed, count) = core.dependencies.arm(for: self)
        waits += count
      }
      effect = core.life.post(.enqueue(waits: waits))
      guard effect != .refused else { return ProcedureList.FollowUp.nothing }
      let enqueueRequest = EnqueueRequest(
        urgency: core.urgency, readiness: effect.readiness,
        attempt: core.life.attempt, role: role, isInBatch: isInBatch)
      if list.isRecorded { core.beginRecord(of: self, in: list) }
      let followUp: ProcedureList.FollowUp
      let request =
        enqueueRequest.readiness == .start ? core.exclusionRequest(for: self, in: list) : nil
      publish(&core)
      (insertion, followUp) = list.insert(self, enqueueRequest, asking: request) { cancel in
        groupCancel = cancel
        isMarked = core.mark(
          self, errors: cancel.errors, reason: cancel.reason,
          closing: childList == nil ? nil : cancel)
        publish(&core)
      }
      // A refused procedure is no member, but its turns run where they would have run.
      core.setList(list, of: self, isMember: insertion != .refused)
      if core.isMember, list.isGroup { _ = core.life.post(.joinGroup) }
      // Only a member reports its causes to the group: a refused procedure was never inside. This
      // comes before it can end.
      if core.isMember, let reference = childList?.owner, let around = list.owner {
        isCircle = !reference.join(around)
      }
      if insertion == .held { _ = core.life.post(.dependencyAdded) }
      if core.isWatched || list.isRecorded {
        core.noteInsertion(of: self, in: list, insertion, isBarrier: role == .barrier)
      }
      return followUp
    }
    if isCircle { stopBecauseOfCircle(in: list) }
    if effect == .refused {
      stopBecauseOfMisuse(
        "Procedure '\(name)' was added to a queue or group twice; make a new one for each run.")
    }
    // Usually nothing follows.
    if followUp.isNothing, effect != .turn, case .accepted = insertion,
      !role.isSpecialToBarriers, groupCancel == nil, childList == nil, armed.isEmpty
    {
      return insertion
    }
    // A group that waits for nothing else is ready in a moment, and so is a member of a batch.
    let isReadySoon = isInBatch || childList != nil && armed.isEmpty && insertion != .held
    followUp.perform(isLast: !isReadySoon)
    if effect == .turn {
      // It was cancelled before.
      requestTurn(in: list)
    }
    switch insertion {
    case .refused:
      // No procedure waits for them: the cancel is about to revoke them.
      armed.release()
      return .refused
    case .held:
      list.barriers?.admit(self, isBarrier: role == .barrier)
    case .accepted:
      if role == .prerequisite { list.barriers?.admitUnheldIfUsed(self) }
    }
    // From now on its children run where it does: turns that are requested below come to that
    // queue.
    childList?.adoptEverywhere(list.context)
    if let groupCancel { join(groupCancel, of: list, isMarked: isMarked) }
    if childList != nil {
      list.recordChildren(of: self)
      dependencyFinished()
    }
    armed.enterAll()
    return insertion
  }

  /// Its group or queue had closed: it is cancelled, and finishes.
  @inline(never)
  final func end(refusedBy list: ProcedureList) {
    let error = list.refusal
    list.context.supervisor.reportRefusal(.additionRefused(name, error))
    cancel(withErrors: [error])
  }

  /// It is a group, and the list of its children would be below itself.
  @inline(never)
  private final func stopBecauseOfCircle(in list: ProcedureList) -> Never {
    let group = list.group
    let place =
      group === self ? "itself" : "group '\(group?.name ?? "")', which is inside of it"
    stopBecauseOfMisuse(
      "Group '\(name)' was added to \(place): each would wait for the other; "
        + "make a new group for it.")
  }
}
