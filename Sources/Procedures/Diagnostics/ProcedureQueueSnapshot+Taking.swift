extension ProcedureQueue {
  /// What every unfinished procedure of this queue waits for: a dependency, a condition, what another
  /// one holds, a slot, an event that is held back.
  ///
  /// Asks each procedure in turn; nothing is stopped for it. O(procedures + what they wait for).
  public func snapshot() -> ProcedureQueueSnapshot {
    ProcedureQueueSnapshot(of: procedures, on: description)
  }
}

extension Procedure {
  /// What everything around it waits for: the procedures of its queue, or it alone if it is on none.
  package final func snapshotOfSurroundings() -> ProcedureQueueSnapshot {
    let neighbours = read { $0.home }?.outermost.procedures ?? []
    return ProcedureQueueSnapshot(
      of: neighbours.isEmpty ? [self] : neighbours, on: "around '\(name)'")
  }
}

extension ProcedureQueueSnapshot {
  fileprivate init(of procedures: [Procedure], on queue: String) {
    var taking = SnapshotTaking()
    let entries = procedures.map { taking.entry(for: $0) }
    var others: [ProcedureQueueSnapshot.Entry] = []
    while let other = taking.nextOther() {
      others.append(taking.entry(for: other, isElsewhere: true))
    }
    self.init(queue: queue, entries: entries, others: others)
  }
}

/// Gives each procedure that a snapshot comes across a number, and remembers which were described.
private struct SnapshotTaking {
  private var ids: [ObjectIdentifier: Int] = [:]
  private var met: [Procedure] = []
  private var described: Set<Int> = []
  private var nextToDescribe = 0

  private mutating func id(of procedure: Procedure) -> Int {
    if let id = ids[ObjectIdentifier(procedure)] { return id }
    met.append(procedure)
    ids[ObjectIdentifier(procedure)] = met.count
    return met.count
  }

  /// One that somebody waits for, and that is not on this queue.
  mutating func nextOther() -> Procedure? {
    while nextToDescribe < met.count {
      nextToDescribe += 1
      if !described.contains(nextToDescribe) { return met[nextToDescribe - 1] }
    }
    return nil
  }

  mutating func entry(
    for procedure: Procedure, isElsewhere: Bool = false
  ) -> ProcedureQueueSnapshot.Entry {
    let id = id(of: procedure)
    described.insert(id)
    let obstacle = procedure.obstacle
    let children = isElsewhere ? [] : procedure.childList?.procedures ?? []
    return ProcedureQueueSnapshot.Entry(
      id: id, name: procedure.name, state: procedure.state, isCancelled: procedure.isCancelled,
      obstacle: obstacle.summary, waitsFor: obstacle.awaited.map { self.id(of: $0) },
      children: children.map { entry(for: $0) })
  }
}

extension Obstacle {
  /// Who has to finish first.
  var awaited: [Procedure] {
    switch self {
    case .nothing, .notEnqueued, .condition, .suspension, .pendingEvent: []
    case .dependencies(let others), .barrier(let others), .prerequisites(_, let others),
      .slot(_, let others), .children(let others):
      others
    case .exclusion(let holders): holders.map(\.holder)
    case .groupStart(let group): [group]
    }
  }
}
