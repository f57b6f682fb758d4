internal import ProcedurePrimitives

/// Watches a procedure's life, and notes it in the procedure's record.
///
/// This is the one place where a record learns what its procedure does. It stays when the procedure has finished, as
/// the record's number, which dependents ask for; the record itself goes to the store.
final class RecordWatch: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) fileprivate var record: ProcedureRecord?
  @safe @exclusivity(unchecked) fileprivate var id = RecordID.none
  /// What was noted last.
  @safe @exclusivity(unchecked) fileprivate var life: RecordedLife?

  // The number, for dependents. One that ends without being an entry, since its group refused it or went away,
  // gives the record back: that has the whole store.
  override var remainder: Attachment? { record == nil ? self : nil }

  override func lifeDidChange(_ core: inout ProcedureCore, in list: ReadyList) {
    guard let record else { return }
    let life = core.machine.recordedLife
    guard life != self.life else { return }
    let missesDependency = self.life?.stage == .dependencies && core.missesDependency
    self.life = life
    list.holdingLockOnly { record.note(life, missesDependency: missesDependency) }
  }
}

extension ProcedureCore {
  private var recordWatch: RecordWatch? {
    @inline(__always) get { isWatched ? attachments.existing() : nil }
  }

  /// The record, if the procedure is recorded and has not finished.
  var record: ProcedureRecord? { @inline(__always) get { recordWatch?.record } }

  fileprivate var recordID: RecordID { @inline(__always) get { recordWatch?.id ?? .none } }

  /// The procedure is about to become a member of a list, or was one before that was recorded.
  @inline(never)
  mutating func beginRecord(of procedure: Procedure, in list: ReadyList) {
    let life = machine.recordedLife
    guard !isWatched,
      let record = list.makeRecord(of: procedure, isGroup: machine.isGroup, life)
    else { return }
    attachments.with(RecordWatch.self) {
      ($0.record, $0.id, $0.life) = (record, record.id, life)
    }
    isWatched = true
  }

  /// It is about to leave its list.
  ///
  /// - Returns: its record, if it has one, which is to be published without the lock.
  mutating func endRecord() -> FinishedRecord? {
    guard let watch = recordWatch, watch.life?.stage == .finished,
      let record = watch.record.take()
    else { return nil }
    var content = record.content
    content.end = machine.isCancelled ? .cancelled : machine.isFailed ? .failed : .succeeded
    (content.name, content.errors, content.reason) = (givenName, errors, cancelReason)
    return FinishedRecord(content, in: record.store)
  }

  /// Whether a dependency has not finished, so that it waits for that, and not for its group or a barrier.
  var missesDependency: Bool {
    dependencies.hasUnfinished
  }

  /// The list has taken it, or not.
  mutating func noteInsertion(
    of procedure: Procedure, in list: ReadyList, _ insertion: Insertion
  ) {
    if insertion == .refused {
      // It ends, and is no entry.
      isWatched = false
    } else if let record {
      if insertion == .held { record.noteBarrier() }
      // What happened before it was a member.
      notifyWatcher()
    } else {
      beginRecord(of: procedure, in: list)
    }
  }

  func noteDependency(_ dependency: RecordID) {
    guard let record, let home else { return }
    home.holdingLockOnly { record.note(dependency) }
  }

  /// A condition is asked that does not answer at once.
  func noteCondition(_ name: String) {
    guard let record, let home else { return }
    home.holdingLockOnly { record.noteCondition(name) }
  }
}

extension Procedure {
  /// Its record: that of a dependency is asked for when it has ended. Nil as long as there was no timeline.
  final var recordID: RecordID? {
    ProcedureRecord.isUsed.load() == 0 ? nil : read { $0.recordID }
  }

  /// The number of its record, if that is in that store and has not ended.
  final func record(in store: RecordStore) -> UInt64? {
    read { core in core.record?.store === store ? core.record?.content.id : nil }
  }

  /// Its record so far, if it is in that store and has not finished.
  final func currentRecord(in store: RecordStore) -> RecordedProcedure? {
    read { core in
      guard let home = core.home, let record = core.record, record.store === store
      else { return nil }
      let missesDependency = core.missesDependency
      var current = home.holdingLockOnly { record.soFar(missesDependency: missesDependency) }
      (current.name, current.errors) = (core.givenName, core.errors)
      current.reason = core.cancelReason
      return current
    }
  }

  /// Records it from here on, and what is below it.
  final func beginRecord(in list: ReadyList) {
    read { core in
      guard core.machine.state < .finishing, core.home === list, core.isMember else { return }
      core.beginRecord(of: self, in: list)
      guard let request = core.requirements?.exclusion?.request, let record = core.record
      else { return }
      list.holdingLockOnly { request.record = record }
    }
  }
}
