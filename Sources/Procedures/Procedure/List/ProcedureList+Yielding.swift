internal import ProcedureExclusion
internal import ProcedurePrimitives

/// A group gives up its slot and its categories while it waits only for time.
///
/// Its list has it among the waiting members, then among the ready ones, although it executes.
/// Meanwhile only rests, the pauses between attempts, start among its children:
///
/// ```
/// has its slot ── yieldSlot ──▶ waits for time ── reclaimSlot ──▶ ready, or excluded
/// ready, or excluded ── a worker: resumeAfterYield ──▶ has its slot
/// ready, or excluded ── a worker, and another rest executes ──▶ waits for time
/// ```
///
/// Another rest begins there if the attempt that would have had the slot is cancelled. The group
/// keeps its place in line: an offer of categories may be on its way to it.
///
/// If it is cancelled on the way, it does not go on, but finishes.
///
/// Both lists change under the group's lock, one after the other, so each step finds them as the
/// previous step left them.
extension Procedure {
  /// Gives up the slot when `last` has left and `pause` executes, and wants it again when `pause`
  /// has finished. Keeps it if other children run, or stand in line.
  ///
  /// - Parameters:
  ///   - pause: will be added to the children.
  ///   - last: a child that is about to finish.
  final func yieldSlot(during pause: some PauseOfAttempts, after last: Procedure) {
    pause.needsNoSlot = true
    // 1. The later of two events gives up the slot: `pause` executes, or `last` has left.
    pause.addDidExecuteBlockObserver { [weak self] pause in self?.yieldSlot(during: pause) }
    last.withCore { core in
      core.attachments.with(FinishWaiters.self) { waiters in
        waiters.append(
          .call { [weak self, weak pause] in
            if let pause { self?.yieldSlot(during: pause) }
          })
      }
    }
    // 2. The end of the pause asks for it again.
    pause.addDidFinishBlockObserver { [weak self] _, _ in self?.reclaimSlot() }
  }

  /// Gives it up now, if it can.
  final func yieldSlot(during pause: Procedure) {
    // First no child starts, then the slot is given up: both under the lock of the group, so that
    // a cancel comes before or after. A cancelled group keeps its slot, and ends with it.
    let followUps = withCore { core -> (ProcedureList.FollowUp, ProcedureList.FollowUp)? in
      guard !core.life.isCancelled, let list = core.list,
        let (hadSlot, ofChildren) = childList?.yieldSlot(during: pause)
      else { return nil }
      return (ofChildren, list.yieldSlot(self, hasStarted: hadSlot))
    }
    guard let (ofChildren, followUp) = followUps else { return }
    ofChildren.perform()
    followUp.perform()
  }

  /// Wants its slot again, if it has given it up, and no other rest lasts.
  private func reclaimSlot() {
    let followUp = withCore { core -> ProcedureList.FollowUp? in
      guard !core.life.isCancelled, childList?.isResting == false else { return nil }
      return core.list?.reclaimSlot(of: self)
    }
    followUp?.perform()
  }

  /// A worker has taken it with a slot although it executes: children may start again. If it rests,
  /// it gives the slot back.
  ///
  /// - Returns: false if it had not given its slot up.
  final func resumeAfterYield() -> Bool {
    // The reverse order: it has its slot, and then children start. If it was cancelled on the way,
    // it finishes instead, and the caller gives the slot back.
    let followUp = withCore { core -> ProcedureList.FollowUp? in
      guard !core.life.isCancelled, let list = core.list, let childList,
        list.locked({ $0.machine.membership(of: self).bucket == .running })
      else { return nil }
      if childList.isResting { return list.yieldSlot(self, hasStarted: false) }
      return childList.reclaimSlot()
    }
    followUp?.perform()
    return followUp != nil
  }
}

extension ProcedureList {
  /// - Parameter hasStarted: false if the group got the slot, and rests: no rate counts that.
  fileprivate func yieldSlot(_ group: Procedure, hasStarted: Bool) -> FollowUp {
    group.assertLocked()
    return locked { storage in
      let offers = storage.machine.yieldSlot(group).map { request in
        ExclusionTable.shared.withLock { table in
          // When it comes back, it stands behind the requests that are there by then.
          defer { request.forgetAge() }
          return request.leave(in: &table, hasStarted: hasStarted)
        }
      }
      return followUp(of: &storage, offering: offers ?? .none)
    }
  }

  /// - Returns: nil if the group keeps its slot; otherwise whether it had one until now.
  fileprivate func yieldSlot(during rest: Procedure) -> (hadSlot: Bool, FollowUp)? {
    locked { storage in
      let hadSlot = !storage.machine.hasYieldedSlot
      guard storage.machine.yieldSlot(during: rest) else { return nil }
      return (hadSlot, followUp(of: &storage))
    }
  }

  fileprivate var isResting: Bool { locked { $0.machine.isResting } }

  fileprivate func reclaimSlot(of group: Procedure) -> FollowUp {
    group.assertLocked()
    return locked { storage in
      storage.machine.reclaimSlot(of: group)
      return followUp(of: &storage)
    }
  }

  /// - Returns: nil if the group had not given its slot up.
  fileprivate func reclaimSlot() -> FollowUp? {
    locked { storage in storage.machine.reclaimSlot() ? followUp(of: &storage) : nil }
  }
}
