internal import ProcedurePrimitives

/// What a recorded procedure has of its record.
final class RecordHolder: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var record = OwnRecord()

  override var remainder: Attachment? { self }
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
    guard !self.record.exists, recording.store.isRecording else { return }
    let sample = recording.sample()
    let (place, id) = unsafe recording.store.recordPlaces.take()
    let record = unsafe ProcedureRecord(
      at: place, in: recording,
      RecordedProcedure(
        id: id, in: recording, type: type(of: procedure), isGroup: machine.isGroup,
        gate: machine.recordedGate, at: sample))
    if machine.state != .pending || machine.isCancelled {
      record.noteProgress(of: machine, at: sample.now)
    }
    self.record.begin(record)
  }

  /// It is about to leave its list.
  ///
  /// - Returns: its record, if it has one, which is to be published without the lock.
  @inline(never)
  mutating func endRecord() -> ProcedureRecord? {
    guard let record = record.end() else { return nil }
    let end: RecordedProcedure.End =
      machine.isCancelled ? .cancelled : machine.isFailed ? .failed : .succeeded
    record.noteEnd(end)
    guard end != .succeeded || !attachments.isEmpty else { return record }
    let (name, errors, reason) = (givenName, errors, cancelReason)
    func note() { record.noteEnd(name: name, errors: errors, reason: reason) }
    if let home { home.holdingLock(note) } else { note() }
    return record
  }

  /// Whether a dependency has not finished, so that it waits for that, and not for its group or a barrier.
  var missesDependency: Bool {
    dependencies.contains { !$0.other.isFinished }
  }

  /// The list has taken it, or not.
  mutating func noteInsertion(
    of procedure: Procedure, in list: ReadyList, _ insertion: Insertion
  ) {
    if insertion == .refused {
      record.abandon()?.release()
    } else if record.exists {
      if insertion == .held { record.open?.note(machine) }
    } else {
      _ = beginRecord(of: procedure, in: list)
    }
  }
}

extension Procedure {
  /// Its record: that of a dependency is asked for when it has ended. Nil as long as there was no timeline.
  final var recordID: RecordID? {
    ProcedureRecord.isUsed.load() == 0
      ? nil : read { $0.record.id }
  }

  /// Its record so far, if it is in that store and has not finished.
  final func currentRecord(in store: RecordStore) -> RecordedProcedure? {
    read { core in
      guard let home = core.home, let record = core.record.open, record.isIn(store)
      else { return nil }
      let (name, errors, reason) = (core.givenName, core.errors, core.cancelReason)
      let missesDependency = core.missesDependency
      return home.holdingLock {
        record.current(
          name: name, errors: errors, reason: reason, missesDependency: missesDependency)
      }
    }
  }

  /// Records it from here on, and what is below it.
  final func beginRecord(in list: ReadyList) {
    read { core in
      guard core.machine.state < .finishing, core.home === list, core.isMember,
        core.beginRecord(of: self, in: list)
      else { return }
      guard let request = core.requirements?.exclusion?.request,
        let record = core.record.open
      else { return }
      list.holdingLock { request.wait = record.expectExclusion() }
    }
  }
}
