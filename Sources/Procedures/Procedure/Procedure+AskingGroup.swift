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

  /// The group has decided, and asks for the turn of each child that waits for that.
  ///
  /// - Returns: whether this one does.
  final func wasHeardAmongOthers() -> Bool { update { $0.machine.post(.heard) } == .turn }
}

extension ProcedureCore {
  /// Whether the turns of this group run on the context of a child that asks. Children run on that of their group,
  /// once it is the context of a queue.
  @inline(__always)
  func runsTurns(on context: SchedulingContext) -> Bool {
    !context.isDetached || (home ?? .detached).context === context
  }

  /// The next child that is to be heard; nil also if a cancel is to be delivered first: then they
  /// are heard after that.
  mutating func takeUnheardChild() -> Procedure? { unheardNow?.unheard.popFirst() }

  /// All of those.
  mutating func takeUnheardChildren() -> Fifo<Procedure> {
    unheardNow.map { exchange(&$0.unheard, with: Fifo()) } ?? Fifo()
  }

  private var unheardNow: PendingWork? {
    mutating get {
      guard let pending, !pending.unheard.isEmpty else { return nil }
      guard machine.cancel.isDue else { return pending }
      _ = machine.post(.childAsks)
      return nil
    }
  }
}
