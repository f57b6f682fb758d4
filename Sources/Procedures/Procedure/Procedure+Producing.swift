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
      guard let list = core.list, core.life.state < .finished else { return .refused }
      guard core.observers.wantsAdditions else { return .add(list) }
      core.attachments.with(TurnWork.self) {
        $0.produced.append(Production(procedure: procedure, target: .list))
      }
      return core.life.post(.produced) == .turn ? .requestTurn : .done
    }
    switch next {
    case .refused:
      throw ProcedureError(.notEnqueued, of: name)
    case .add(let list):
      list.add(procedure)
    case .requestTurn:
      requestTurn()
    case .done:
      break
    }
    return procedure
  }

  /// Adds what the will-add observers were called for.
  final func carryOut(_ production: Production) {
    switch production.target {
    case .list: read { $0.list }?.add(production.procedure)
    case .ownChild:
      production.procedure.dependencyFinished()
      if !production.completes.isEmpty { childList?.complete(production.completes) }
    case .announced: break
    }
  }
}

/// A procedure that is to be added once the will-add observers have returned.
struct Production: Sendable {
  enum Target: Sendable {
    /// Onto the queue, or into the group, that the producer is in.
    case list
    /// Already a child of the producer; it starts when the observers know.
    case ownChild
    /// A child that was there when the producer, a group, executed.
    case announced
  }

  /// The outcome of a call of `produce`.
  enum Way: Sendable {
    case refused
    case add(ProcedureList)
    case requestTurn
    /// Its turn is held elsewhere, and will come to it.
    case done
  }

  let procedure: Procedure
  let target: Target
  /// The children that were added in one call, of which this is the last to be announced.
  var completes: [Procedure] = []
}
