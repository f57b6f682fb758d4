internal import ProcedurePrimitives

extension ProcedureCore {
  /// The record, if the procedure is recorded, or was.
  private var anyRecord: ProcedureRecord? {
    @inline(__always) get { isWatched ? attachments.existing() : nil }
  }

  /// The record, if the procedure is recorded and has not finished.
  var record: ProcedureRecord? {
    @inline(__always) get {
      guard let record = anyRecord, record.isOpen else { return nil }
      return record
    }
  }

  var recordID: RecordID { @inline(__always) get { anyRecord?.id ?? .none } }

  /// The procedure is about to become a member of a list, or was a member before that was recorded.
  @inline(never)
  mutating func beginRecord(of procedure: Procedure, in list: ProcedureList) {
    guard !isWatched, !isLeftOut else { return }
    guard
      let record = list.makeRecord(
        of: procedure, isGroup: life.isGroup, watchedLife)
    else {
      // Offered again, it would count as another one of the sample.
      leaveOut()
      return
    }
    attachments.prepend(record)
    watch(true)
  }

  /// It is about to leave its list.
  ///
  /// - Returns: its record, if it has one; the caller publishes it without the lock.
  mutating func endRecord() -> ProcedureRecord? {
    guard isWatched, life.isRetired, let record else { return nil }
    // Most have no name, no errors, and exclude no other.
    guard !attachments.are(only: record) || life.isCancelled else {
      record.noteEnd(.succeeded, urgency.priority)
      return record
    }
    if let list, let request = requirements?.value.exclusion?.request {
      list.holdingLockOnly { request.endRecord() }
    }
    record.noteEnd(
      life.isCancelled ? .cancelled : life.isFailed ? .failed : .succeeded, urgency.priority,
      name: givenName, errors: errors, reason: cancelReason)
    return record
  }

  /// A procedure that it waits for, and that has not finished: a dependency, or a prerequisite of a
  /// condition. Without one it waits for its group, a barrier, or a worker.
  var missing: Procedure? {
    dependencies.firstAwaited
      ?? requirements?.value.prerequisites.first { $0.link.isArmed }?.link.dependency
  }

  /// Notes whether the list has taken it.
  mutating func noteInsertion(
    of procedure: Procedure, in list: ProcedureList, _ insertion: Insertion, isBarrier: Bool
  ) {
    if insertion == .refused {
      // It ends, and has no entry.
      watch(false)
    } else if let record {
      if insertion == .held { record.note { open, _ in open.hold(isBarrier: isBarrier) } }
      // The note covers the time before it was a member.
      notifyWatcher(after: record.life)
    } else {
      beginRecord(of: procedure, in: list)
    }
  }

  /// A dependency has finished, or was taken back.
  func noteDependency(_ dependency: EndedDependency) {
    record?.note { $0.end(dependency, at: $1) }
  }

  /// The observers of an event are about to be called.
  mutating func noteObservers(of event: ProcedureEvents) {
    guard let record else { return }
    record.note { $0.beginObserving(event, .observer, at: $1) }
    isObserved = true
  }

  /// The observers have returned, if any were called.
  @inline(never)
  mutating func noteObserversReturned() {
    isObserved = false
    record?.note { $0.endObserving(at: $1) }
  }

  /// One of the observers will be called at `place`.
  func noteObserverAwaited(at place: ObserverPlace) {
    if case .mainActor = place { record?.note { $0.observe(.mainActor, at: $1) } }
  }

  /// Its closure will begin on the main actor.
  func noteBodyAwaited() { record?.note { $0.bodyAwaitedSince = $1 } }

  /// The main actor has begun it.
  func noteBodyBegun() { record?.note { $0.endWaitForBody(at: $1) } }
}

extension Procedure {
  /// This procedure, as the record of a dependent notes its end; nil if the dependent is not
  /// recorded. No lock is held: the name may be the user's.
  ///
  /// - Parameter isTakenBack: whether the dependent waits for it no longer, though it has not
  ///   ended.
  final func ended(for dependent: Procedure, isTakenBack: Bool = false) -> EndedDependency? {
    guard ProcedureRecord.isUsed.load() != 0, let record = dependent.peek({ $0.record }) else {
      return nil
    }
    return EndedDependency(self, for: record, isTakenBack: isTakenBack)
  }

  /// The observer whose call at `place` was awaited is called now.
  final func noteObserverCalled(at place: ObserverPlace) {
    guard case .mainActor = place else { return }
    withCore { core in core.record?.note { $0.observe(.observer, at: $1) } }
  }

  /// Records the steps of its task, which has not begun. A closure on the main actor takes none.
  @inline(never)
  final func recordSteps(of task: ProcedureTask) {
    guard asyncBody?.runsOnMainActor != true else { return }
    if let steps = withCore({ $0.record?.beginSteps() }) { task.record(in: steps) }
  }

  /// The number of its record, if the record is in `store` and has not ended.
  final func record(in store: RecordStore) -> UInt64? {
    peek { core in
      core.record.flatMap { $0.store === store ? $0.number : nil }
    }
  }

  /// Its record so far, if the record is in `store` and the procedure has not finished.
  final func currentRecord(in store: RecordStore) -> RecordedProcedure? {
    // 1. Read the notes under the locks.
    let current: RecordedProcedure? = peek { core in
      guard let list = core.list, let record = core.record, record.store === store
      else { return nil }
      let missing = core.missing
      var current = list.holdingLockOnly { record.soFar(without: missing) }
      (current.name, current.errors) = (core.givenName, core.errors)
      (current.reason, current.priority) = (core.cancelReason, core.urgency.priority)
      return current
    }
    guard var record = current else { return nil }
    if record.name == nil { record.name = text(for: .name) }
    // 2. Find the awaited procedure without them. Its name is the user's, and its record is behind
    //    its own lock.
    let wait = wait
    switch wait {
    case .dependencies, .prerequisites, .exclusion:
      guard let awaited = wait.awaited.first else { break }
      record.wait(for: awaited.name, awaited.record(in: store) ?? 0)
    default: break
    }
    return record
  }

  /// Records it from now on, and everything below it.
  final func beginRecord(in list: ProcedureList) {
    withCore { core in
      guard core.life.state < .finishing, core.list === list, core.isMember else { return }
      core.offerAgain()
      core.beginRecord(of: self, in: list)
      guard let request = core.requirements?.value.exclusion?.request, let record = core.record
      else { return }
      list.holdingLockOnly { request.begin(record) }
    }
  }
}
