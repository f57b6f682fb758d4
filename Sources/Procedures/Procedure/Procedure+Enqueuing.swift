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
    // 1. Without the lock: a recorder is called, and an asynchronous procedure makes its task,
    //    which inherits the caller's task-local values.
    if list.meetsNewcomers { list.meet(self) }
    workDidEnter(.queued)
    let childList = childList
    var effect = Life.Effect.refused
    var insertion = Insertion.refused
    var groupCancel: TreeCancel?
    var armed = Dependents()
    var isMarked = false
    var isCircle = false
    let followUp = withCore { core in
      // 2. Count its waits. A group has one more: it must not start before its children know where
      //    they run.
      var waits = (isHeldBack ? 1 : 0) + (childList == nil ? 0 : 1)
      if !core.dependencies.isEmpty, core.life.state == .initialized {
        let count: Int
        (armed, count) = core.dependencies.arm(for: self)
        waits += count
      }
      // 3. Only the first of several callers goes on: nothing has changed for the others.
      effect = core.life.post(.enqueue(waits: waits))
      guard effect != .refused else { return ProcedureList.FollowUp.nothing }
      let enqueueRequest = EnqueueRequest(
        urgency: core.urgency, readiness: effect.readiness,
        attempt: core.life.attempt, role: role, isInBatch: isInBatch)
      // 4. The record and the request are complete before another thread can find it.
      if list.isRecorded { core.beginRecord(of: self, in: list) }
      let followUp: ProcedureList.FollowUp
      let request =
        enqueueRequest.readiness == .start ? core.exclusionRequest(for: self, in: list) : nil
      // 5. It reads pending, and in a cancelled group cancelled, before it is in the list.
      publish(&core)
      (insertion, followUp) = list.insert(self, enqueueRequest, asking: request) { cancel in
        groupCancel = cancel
        isMarked = core.mark(
          self, errors: cancel.errors, reason: cancel.reason,
          closing: childList == nil ? nil : cancel)
        publish(&core)
      }
      // 6. A refused procedure is no member, but its turns run where they would have run.
      core.setList(list, of: self, isMember: insertion != .refused)
      if core.isMember, list.isGroup { _ = core.life.post(.joinGroup) }
      // 7. Only a member reports its causes to the group: a refused procedure was never inside. The
      //    lock is still held, so this comes before it can end.
      if core.isMember, let reference = childList?.owner, let around = list.owner {
        isCircle = !reference.join(around)
      }
      // 8. A barrier holds it back, like one more dependency.
      if insertion == .held { _ = core.life.post(.dependencyAdded) }
      if core.isWatched || list.isRecorded {
        core.noteInsertion(of: self, in: list, insertion, isBarrier: role == .barrier)
      }
      return followUp
    }
    // 9. Misuse stops the program without the lock, which reading the names for the message takes.
    if isCircle { stopBecauseOfCircle(in: list) }
    if effect == .refused {
      stopBecauseOfMisuse(
        "Procedure '\(name)' was added to a queue or group twice; make a new one for each run.")
    }
    // 10. Usually nothing follows.
    if followUp.isNothing, effect != .turn, case .accepted = insertion,
      !role.isSpecialToBarriers, groupCancel == nil, childList == nil, armed.isEmpty
    {
      return insertion
    }
    // 11. Request a worker. A group that waits for nothing else is ready in a moment, and so is a
    //     member of a batch: then it is too early to look for members that are stuck.
    let isReadySoon = isInBatch || childList != nil && armed.isEmpty && insertion != .held
    followUp.perform(isLast: !isReadySoon)
    if effect == .turn {
      // It was cancelled before.
      requestTurn(in: list)
    }
    // 12. The barriers give it a ticket, and acquire its lock for that.
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
    // 13. From now on its children run where it does: turns that are requested below come to that
    //     queue.
    childList?.adoptEverywhere(list.context)
    // 14. Deliver the cancel of the group that it has joined, to everything below it, too.
    if let groupCancel { join(groupCancel, of: list, isMarked: isMarked) }
    // 15. The children know where they run and are recorded: the wait that was counted in 2 ends.
    if childList != nil {
      list.recordChildren(of: self)
      dependencyFinished()
    }
    // 16. Enter its dependencies last: each that has finished already counts off at once, and the
    //     procedure may start on another thread.
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
