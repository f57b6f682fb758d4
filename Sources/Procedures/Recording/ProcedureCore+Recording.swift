internal import ProcedurePrimitives

extension ProcedureStateMachine {
  /// What it waits for.
  var gate: RecordedProcedure.Gate {
    if state != .pending || isCancelled { return .passed }
    if isWaitingForDependencies { return .dependencies }
    return isReady ? .ready : .conditions
  }
}

extension ProcedureCore {
  /// The procedure is about to become a member of a list, or was one before that was recorded.
  ///
  /// - Returns: whether the list is recorded.
  @inline(__always)
  mutating func beginRecord(of procedure: Procedure, in list: ReadyList) -> Bool {
    list.recording.withCurrent { makeRecord(of: procedure, in: $0) } != nil
  }

  @inline(never)
  private mutating func makeRecord(of procedure: Procedure, in recording: ListRecording) {
    guard record == nil, recording.store.isRecording else { return }
    let sample = recording.sample()
    let record = ProcedureRecord(
      RecordedProcedure(
        id: recording.store.nextID(), in: recording, type: type(of: procedure),
        isGroup: machine.isGroup, gate: machine.gate, at: sample), in: recording)
    if machine.state != .pending || machine.isCancelled {
      record.noteProgress(of: machine, at: sample.now)
    }
    self.record = record
  }

  /// The list has taken it, or not.
  mutating func noteInsertion(
    of procedure: Procedure, in list: ReadyList, _ insertion: ReadyListStateMachine.Insertion
  ) {
    if insertion == .refused {
      record = nil
    } else if let record {
      if insertion == .held { record.note(machine) }
    } else {
      _ = beginRecord(of: procedure, in: list)
    }
  }
}

extension Procedure {
  /// The number of its record: that of a dependency is asked for when it has ended.
  final var recordID: RecordID? {
    ProcedureRecord.isUsed.load() == 0 ? nil : read { RecordID(id: $0.record?.content.id) }
  }

  /// Its record so far, if it is in that store and has not finished.
  final func currentRecord(in store: RecordStore) -> RecordedProcedure? {
    read { core in
      guard let record = core.record, record.recording.store === store,
        !core.machine.isRetired, let home = core.home
      else { return nil }
      return home.holdingLock { record.current(of: core) }
    }
  }

  /// Records it from here on, and what is below it.
  final func beginRecord(in list: ReadyList) {
    read { core in
      guard core.machine.state < .finishing, core.home === list, core.isMember,
        core.beginRecord(of: self, in: list)
      else { return }
      guard let request = core.rarities?.conditions?.request, let record = core.record
      else { return }
      list.holdingLock { request.record = record }
    }
  }
}
