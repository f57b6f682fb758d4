internal import ProcedurePrimitives

/// A group that gives up its slot, and its categories, while it waits for nothing but time.
///
/// Its list has it among those that wait, then among those that are ready, although it executes; and no child of its own
/// starts meanwhile:
///
/// ```
/// has its slot ── rest ──▶ waits for time ── endRest ──▶ ready, or excluded ── a worker: goOn ──▶ has its slot
/// ```
///
/// Cancelled anywhere on the way, it does not go on, but ends.
extension Procedure {
  /// Gives up the slot when `last` has left and `pause` executes, and wants it again when that has finished. While there
  /// are other children it keeps it.
  ///
  /// - Parameters:
  ///   - pause: a child that has not started.
  ///   - last: a child that is about to finish.
  final func rest(during pause: Procedure, after last: Procedure) {
    // The later of the two does it.
    pause.addDidExecuteBlockObserver { [weak self] pause in self?.rest(during: pause) }
    last.update { core in
      core.attachments.with(FinishWaiters.self) { waiters in
        waiters.append(
          .call { [weak self, weak pause] in
            if let pause { self?.rest(during: pause) }
          })
      }
    }
    pause.addDidFinishBlockObserver { [weak self] _, _ in self?.endRest() }
  }

  /// Gives it up now, if it can.
  final func rest(during pause: Procedure) {
    guard let childList, childList.locked({ $0.machine.rest(during: pause) }) else { return }
    read { $0.life.isCancelled ? nil : $0.list?.rest(self) }?.perform()
    // It may have finished before there was anything to end.
    if !pause.isExecuting { endRest() }
  }

  /// Wants its slot again, if it has given it up.
  private func endRest() {
    read { $0.life.isCancelled ? nil : $0.list?.endRest(of: self) }?.perform()
  }

  /// A worker has taken it with a slot although it executes: children may start again.
  ///
  /// - Returns: false if it does not rest.
  final func goOn() -> Bool {
    let list = read { $0.life.isCancelled ? nil : $0.list }
    guard let childList, let list, list.locked({ _ in membership.line == .running }) else {
      return false
    }
    return childList.endRest()
  }
}

extension ProcedureList {
  /// Called under the procedure's lock.
  fileprivate func rest(_ group: Procedure) -> FollowUp {
    locked { storage in
      let offers = storage.machine.rest(group).map { request in
        ExclusionTable.shared.withLock { $0.leave(request) }
      }
      return followUp(of: &storage, offering: offers)
    }
  }

  /// Called under the procedure's lock.
  fileprivate func endRest(of group: Procedure) -> FollowUp {
    locked { storage in
      storage.machine.endRest(of: group)
      return followUp(of: &storage)
    }
  }

  /// - Returns: whether it had given up its slot.
  fileprivate func endRest() -> Bool {
    let (isResting, followUp) = locked { storage in
      let isResting = storage.machine.isResting
      storage.machine.endRest()
      return (isResting, self.followUp(of: &storage))
    }
    followUp.perform()
    return isResting
  }
}
