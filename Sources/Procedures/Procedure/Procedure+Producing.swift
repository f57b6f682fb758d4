internal import ProcedurePrimitives

extension Procedure {
  /// Adds `procedure` to the queue, or the group, that this one is in.
  ///
  /// In a group it becomes a sibling, and the group waits for it. With will-add or did-add
  /// observers it is added in this procedure's next turn, between the two events, and before this
  /// procedure finishes; without, it is added when this returns.
  ///
  /// - Returns: `procedure`.
  /// - Throws: `ProcedureError.Code.notEnqueued` before the enqueue and after the finish.
  @discardableResult
  public final func produce<Produced: Procedure>(_ procedure: Produced) throws -> Produced {
    let next: Production.Way = update { core in
      guard let home = core.home, core.machine.state < .finished else { return .refused }
      guard core.observers.wantsAdditions else { return .add(home) }
      core.attachments.with(PendingWork.self) {
        $0.produced.append(Production(procedure: procedure, target: .home))
      }
      return .requestTurn(core.machine.post(.produced) == .turn ? home : nil)
    }
    switch next {
    case .refused:
      throw ProcedureError.notEnqueued(name)
    case .add(let home):
      home.add(procedure)
    case .requestTurn(let home):
      home?.requestTurn(of: self)
    }
    return procedure
  }

  /// Adds what the will-add observers were called for.
  final func carryOut(_ production: Production) {
    switch production.target {
    case .home: read { $0.home }?.add(production.procedure)
    case .ownChild:
      production.procedure.dependencyFinished()
      if !production.completes.isEmpty { childList?.complete(production.completes) }
    case .announced: break
    }
  }
}
