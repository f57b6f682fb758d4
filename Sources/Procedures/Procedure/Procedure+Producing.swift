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
      core.withRarities { $0.produced.append(Production(procedure: procedure, target: .home)) }
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
    case .ownChild: production.procedure.dependencyFinished()
    case .announced: break
    }
  }
}

extension ReadyList {
  /// Adds a procedure the way its queue or group would.
  ///
  /// - Parameter role: as what it is added to a queue.
  func add(_ procedure: Procedure, as role: MemberRole = .member) {
    if let group {
      group.takeIn(procedure)
    } else {
      admit(procedure, as: role)
    }
  }

  /// Adds a procedure to the list of a queue, with word to the delegate.
  ///
  /// - Parameter role: as what it is added.
  /// - Returns: whether it was accepted.
  @discardableResult
  func admit(
    _ procedure: Procedure, as role: MemberRole = .member
  ) -> Bool {
    guard hasDelegate else {
      return procedure.enqueue(in: self, as: role) != .refused
    }
    delegate?.tell(.willAdd, of: procedure, errors: [])
    guard procedure.enqueue(in: self, as: role) != .refused else { return false }
    delegate?.tell(.didAdd, of: procedure, errors: [])
    return true
  }
}
