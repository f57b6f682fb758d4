internal import ProcedurePrimitives

extension Procedure {
  /// Adds `procedure` to the queue, or the group, that this procedure is in.
  ///
  /// A group gets it as another child, and waits for it. If this procedure has will-add or did-add
  /// observers, it is added in this procedure's next turn, between the two events, and before this
  /// procedure finishes; otherwise it is added when this returns.
  ///
  /// - Returns: `procedure`.
  /// - Throws: `ProcedureError.Code.notEnqueued` before the enqueue and after the finish.
  @discardableResult
  public final func produce<Produced: Procedure>(_ procedure: Produced) throws -> Produced {
    // 1. Under the lock, so that the addition is noted before the procedure can finish.
    var isRefused = false
    var list: ProcedureList?
    note { core in
      guard core.life.state < .finished, let ownList = core.list else {
        isRefused = true
        return .none
      }
      guard core.observers.wantsAdditions else {
        list = ownList
        return .none
      }
      core.attachments.with(TurnWork.self) {
        $0.value.additions.append(PendingAddition(procedure: procedure, target: .list))
      }
      return core.life.post(.additionPending)
    }
    // 2. Without observers for it, it is added on this thread, when the lock has been released.
    if isRefused { throw ProcedureError(.notEnqueued, of: name) }
    list?.add(procedure)
    return procedure
  }

  /// Adds the procedure that the will-add observers were called for.
  final func carryOut(_ addition: PendingAddition) {
    switch addition.target {
    case .list: peek { $0.list }?.add(addition.procedure)
    case .ownChild:
      addition.procedure.dependencyFinished()
      if !addition.completes.isEmpty { childList?.complete(addition.completes) }
    case .announced: break
    }
  }
}

/// A procedure that will be added once the will-add observers have returned.
struct PendingAddition: Sendable {
  enum Target: Sendable {
    /// It is added to the queue, or the group, that the producer is in.
    case list
    /// It is a child of the producer already, and starts when the observers know.
    case ownChild
    /// It is a child that was there when the producer, a group, executed.
    case announced
  }

  let procedure: Procedure
  let target: Target
  /// The children that were added in one call, of which this is the last to be announced.
  var completes: [Procedure] = []
}
