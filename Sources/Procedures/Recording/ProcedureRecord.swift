internal import ProcedurePrimitives

/// The record of one procedure, from when it is enqueued.
///
/// `content` is guarded by the procedure's lock, except what belongs to its exclusion, which is guarded
/// by that of its list. Once the procedure has finished it does not change.
final class ProcedureRecord: @unchecked Sendable {
  /// Whether there ever was a timeline: without one a dependent need not ask for the record.
  static let isUsed = AtomicByte(0)

  let recording: ListRecording
  @safe @exclusivity(unchecked) fileprivate(set) var content: RecordedProcedure
  /// Guarded by the lock of the list. Made when it waits in line for the first time.
  @safe @exclusivity(unchecked) private var exclusion: RecordedExclusion?

  init(_ content: RecordedProcedure, in recording: ListRecording) {
    self.content = content
    self.recording = recording
  }

  var id: UInt64 { content.id }

  // MARK: Under the procedure's lock

  /// It has come some way before it was recorded.
  fileprivate func noteProgress(of machine: borrowing ProcedureStateMachine, at now: Int64) {
    if machine.isCancelled { content.cancelled = now }
    if machine.state > .pending { content.started = now }
    if machine.state > .started { content.executing = now }
  }

  /// Something that it waits for has changed.
  ///
  /// - Parameter dependency: the record of a dependency that has just ended.
  func note(_ machine: borrowing ProcedureStateMachine, after dependency: RecordID? = nil) {
    if let id = dependency?.id { content.dependencies.append(id) }
    guard content.gate != .passed else { return }
    let gate = machine.gate
    guard gate != content.gate else { return }
    content.pass(to: gate, at: recording.sample(), isDependency: dependency != nil)
  }

  /// A condition is asked that does not answer at once.
  func noteCondition(_ name: String) {
    if content.gate != .passed { content.condition = name }
  }

  /// It was cancelled.
  func noteCancel() {
    let sample = recording.sample()
    endHold(at: sample.now)
    if content.cancelled == RecordedProcedure.never { content.cancelled = sample.now }
    content.pass(to: .passed, at: sample)
  }

  /// A step of its turn is about to be carried out: one that starts it, holds it, or comes after that.
  func note(_ step: ProcedureStateMachine.Step) {
    let sample = recording.sample()
    endHold(at: sample.now)
    switch step {
    case .willExecute, .announceChildren, .execute:
      if content.started == RecordedProcedure.never {
        content.pass(to: .passed, at: sample)
        content.started = sample.now
      }
      if step == .execute { content.executing = sample.now }
    case .waitForPendingEvents:
      content.heldSince = sample.now
    default:
      break
    }
  }

  @inline(__always)
  private func endHold(at now: Int64) {
    guard content.heldSince != RecordedProcedure.never else { return }
    content.heldWait += now - content.heldSince
    content.heldSince = RecordedProcedure.never
  }

  /// It is about to leave its list.
  func noteEnd(of core: borrowing ProcedureCore, _ extras: ProcedureExtras?) {
    content.finished = recording.clock.now
    endHold(at: content.finished)
    content.name = extras?.name
    if let errors = core.machine.errorsIfAny { content.errors = errors }
    if core.machine.isCancelled {
      content.end = .cancelled
      content.reason = core.cancelReason
    } else {
      content.end = core.machine.errorsIfAny == nil ? .succeeded : .failed
    }
  }

  /// What is known so far, of one that has not finished. Called under the list's lock as well.
  fileprivate func current(of core: borrowing ProcedureCore) -> RecordedProcedure {
    var current = content
    let sample = recording.sample()
    current.pass(to: .passed, at: sample)
    if current.heldSince != RecordedProcedure.never {
      current.heldWait += sample.now - current.heldSince
    }
    if let exclusion { current.exclusion = exclusion.ended(at: sample.times) }
    current.name = core.extras?.name
    current.errors = core.machine.errors
    current.reason = core.cancelReason
    return current
  }

  // MARK: Under the lock of the list

  /// It had a slot at hand, and waits in line for what it excludes others from.
  func enterLine(of request: ExclusionRequest) {
    let exclusion = exclusion ?? RecordedExclusion()
    self.exclusion = exclusion
    guard !exclusion.isInLine else { return }
    exclusion.isInLine = true
    exclusion.category = ExclusionTable.shared.withLock { _ in request.categoryAwaited }
    exclusion.times -= recording.sample().times
  }

  /// It goes on, or waits for something else.
  ///
  /// - Parameter holder: the record of the procedure that made room for it; 0 if that is not known.
  func leaveLine(after holder: UInt64) {
    guard let exclusion, exclusion.isInLine else { return }
    exclusion.isInLine = false
    exclusion.times += recording.sample().times
    if holder != 0 { exclusion.holder = holder }
  }

  // MARK: With no lock held

  /// The procedure has finished. Called in its last turn, before anything is told of that.
  func publish(_ procedure: Procedure) {
    if let exclusion { content.exclusion = exclusion }
    if content.name == nil { content.name = procedure.derivedName }
    recording.store.append(self)
  }
}

/// The record of a procedure, if it has one.
struct RecordID: Sendable {
  let id: UInt64?
}

extension ProcedureStateMachine {
  /// What it waits for.
  var gate: RecordedProcedure.Gate {
    if state != .pending || isCancelled { return .passed }
    if isWaitingForDependencies { return .dependencies }
    return isReady ? .ready : .conditions
  }
}

extension ExclusionRequest {
  /// That of the line it stands in. Guarded by the lock of the table.
  fileprivate var categoryAwaited: ExclusionCategory? {
    if case .waiting(let line) = status { line.level.category } else { nil }
  }
}

extension ProcedureCore {
  /// The procedure is about to become a member of a list, or was one before that was recorded.
  ///
  /// - Returns: whether the list is recorded.
  @inline(__always)
  mutating func beginRecord(of procedure: Procedure, in list: ReadyList) -> Bool {
    guard let recording = list.recording.current else { return false }
    makeRecord(of: procedure, in: recording)
    return true
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
  fileprivate final func beginRecord(in list: ReadyList) {
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

extension ReadyList {
  /// Records the children of a group that is recorded itself, however deep.
  ///
  /// Iterative: groups may be nested thousands deep.
  func recordChildren(of group: Procedure, in recording: ListRecording) {
    var groups = [(group, recording)]
    while let (group, recording) = groups.popLast() {
      guard let list = group.childList, list.recording.current == nil,
        let record = group.recordID?.id
      else { continue }
      list.record(in: recording.store, by: recording.clock, parent: record, root: recording.root)
      guard let own = list.recording.current else { continue }
      for member in list.procedures {
        member.beginRecord(in: list)
        if member.childList != nil { groups.append((member, own)) }
      }
    }
  }

  /// Records what is in the list of a queue, or of a group, and below, from here on.
  fileprivate func beginRecording(in store: RecordStore, of queue: ProcedureQueue?) {
    ProcedureRecord.isUsed.store(1)
    let group = group
    let (place, clock) = store.addRoot(
      queue, group, named: queue?.name ?? group?.name ?? "", by: context.clock.service)
    record(in: store, by: clock, parent: 0, root: place)
    guard let recording = recording.current else { return }
    for member in procedures {
      member.beginRecord(in: self)
      if member.childList != nil { recordChildren(of: member, in: recording) }
    }
  }
}

extension RecordStore {
  /// Records what is on the queue, and what is added to it, from here on.
  package func record(_ queue: ProcedureQueue) {
    queue.list.beginRecording(in: self, of: queue)
  }

  /// Records the children of the group, from here on, or from when it is on a queue.
  package func record(_ group: GroupProcedure) {
    guard let list = group.childList else { return }
    list.recording.await(self)
    if list.isOnQueue { list.recording.takeAwaited()?.beginRecording(of: list) }
  }

  /// The group is on a queue.
  func beginRecording(of list: ReadyList) {
    list.beginRecording(in: self, of: nil)
  }
}
