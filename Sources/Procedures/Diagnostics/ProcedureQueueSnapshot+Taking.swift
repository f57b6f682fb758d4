extension Procedure {
  /// The waits of everything around it: the procedures of its queue, or it alone if it is on none.
  package final func snapshotOfSurroundings() -> ProcedureQueueSnapshot {
    let neighbours = read { $0.list }?.outermost.procedures ?? []
    return ProcedureQueueSnapshot(
      of: neighbours.isEmpty ? [self] : neighbours, on: "around '\(name)'")
  }
}

extension ProcedureQueueSnapshot {
  init(of procedures: [Procedure], on queue: String) {
    var taking = SnapshotTaking()
    let entries = procedures.map { taking.describe($0) }
    var others: [Int] = []
    while let other = taking.nextOther() {
      others.append(taking.describe(other, isElsewhere: true))
    }
    let table = Table(taking.records)
    self.init(
      queue: queue, entries: entries.map { Entry(table, $0) },
      others: others.map { Entry(table, $0) })
  }
}

/// Gives each procedure that a snapshot comes across a number, and remembers which were described.
private struct SnapshotTaking {
  private var ids: [ObjectIdentifier: Int] = [:]
  private var met: [Procedure] = []
  private var described: Set<Int> = []
  private var nextToDescribe = 0
  private(set) var records: [ProcedureQueueSnapshot.Record] = []

  private mutating func id(of procedure: Procedure) -> Int {
    if let id = ids[ObjectIdentifier(procedure)] { return id }
    met.append(procedure)
    ids[ObjectIdentifier(procedure)] = met.count
    return met.count
  }

  /// One that a described procedure waits for, and that is not on this queue.
  mutating func nextOther() -> Procedure? {
    while nextToDescribe < met.count {
      nextToDescribe += 1
      if !described.contains(nextToDescribe) { return met[nextToDescribe - 1] }
    }
    return nil
  }

  /// Describes a procedure, and all below it, in the order in which they are printed.
  ///
  /// Iterative: groups may be nested thousands deep.
  ///
  /// - Returns: the place of its record.
  mutating func describe(_ root: Procedure, isElsewhere: Bool = false) -> Int {
    let first = records.count
    var undescribed: [(procedure: Procedure, parent: Int?)] = [(root, nil)]
    while let (procedure, parent) = undescribed.popLast() {
      if let parent { records[parent].children.append(records.count) }
      let place = records.count
      records.append(record(of: procedure))
      if isElsewhere { continue }
      for child in (procedure.childList?.procedures ?? []).reversed() {
        undescribed.append((child, place))
      }
    }
    return first
  }

  private mutating func record(of procedure: Procedure) -> ProcedureQueueSnapshot.Record {
    let id = id(of: procedure)
    described.insert(id)
    let obstacle = procedure.obstacle
    return ProcedureQueueSnapshot.Record(
      id: id, name: procedure.name, state: procedure.state, isCancelled: procedure.isCancelled,
      obstacle: obstacle.summary, waitsFor: obstacle.awaited.map { self.id(of: $0) })
  }
}

extension Obstacle {
  /// The procedures that have to finish first.
  var awaited: [Procedure] {
    switch self {
    case .nothing, .thread, .notEnqueued, .condition, .suspension, .pendingEvent, .observer,
      .finish:
      []
    case .dependencies(let others), .barrier(let others), .prerequisites(_, let others),
      .slot(_, let others), .children(let others), .call(_, let others):
      others
    case .exclusion(let obstacles): obstacles.flatMap(\.procedures)
    case .groupStart(let group), .groupSlot(let group), .answer(let group): [group]
    }
  }
}
