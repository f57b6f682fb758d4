internal import ProcedurePrimitives

extension Procedure {
  /// Has the group decide about this procedure's errors, if it can at once: on this worker.
  final func askGroupAtOnce(on worker: Worker) -> Bool {
    worker.list.withGroup(on: worker.context) { $0.hearAtOnce(self, on: worker.context) } ?? true
  }

  /// Has the group decide about this procedure's errors in its next turn, and then calls `wasHeard`.
  final func askGroupLater(on worker: Worker) {
    let isAsked: Void? = worker.list.withGroup(on: worker.context) { group in
      group.note { core in
        core.attachments.with(PendingWork.self) { $0.unheard.append(self) }
        return core.machine.post(.childAsks)
      }
    }
    if isAsked == nil { wasHeard() }
  }

  final func wasHeard() { post(.heard) }
}

extension ProcedureCore {
  /// The next child that is to be heard; nil also if a cancel is to be delivered first: then they
  /// are heard after that.
  mutating func takeUnheardChild() -> Procedure? {
    guard let pending, pending.unheard.first != nil else { return nil }
    guard !machine.cancel.isDue else {
      _ = machine.post(.childAsks)
      return nil
    }
    return pending.unheard.popFirst()
  }
}
