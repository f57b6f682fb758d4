internal import Dispatch
internal import ProcedurePrimitives

/// A list's recording is guarded by the list's lock. A byte beside it says which parts exist, so
/// that adding to a list that is not recorded costs one load.
extension ProcedureList {
  private static var recorded: UInt8 { 1 }
  private static var awaited: UInt8 { 2 }
  private static var met: UInt8 { 4 }

  var isRecorded: Bool { @inline(__always) get { recordingStatus.load() & Self.recorded != 0 } }

  /// Whether a recorder is called with each procedure that is about to become a member.
  var meetsNewcomers: Bool { @inline(__always) get { recordingStatus.load() & Self.met != 0 } }

  /// A procedure is about to become a member. Called with no lock held, on the thread that adds it.
  @inline(never)
  func meet(_ newcomer: Procedure) {
    let recorder = storage.withLock { $0.newcomerRecorder }
    recorder?.meet(newcomer)
  }

  /// - Parameter body: returns an object to release after the lock, since users' errors may be
  ///   released with it.
  @discardableResult
  fileprivate func changeRecording<Result: Sendable>(_ body: (inout Storage) -> Result) -> Result {
    storage.withLock { storage in
      let result = body(&storage)
      publishRecording(of: storage)
      return result
    }
  }

  private func publishRecording(of storage: borrowing Storage) {
    recordingStatus.store(
      (storage.recording == nil ? 0 : Self.recorded)
        | (storage.awaitedStore == nil ? 0 : Self.awaited)
        | (storage.newcomerRecorder == nil ? 0 : Self.met))
  }

  /// Runs only `body` under the lock: arrivals stay where they are.
  @inline(__always)
  func holdingLockOnly<Result: Sendable>(_ body: () -> Result) -> Result {
    storage.withLock { _ in body() }
  }

  /// Begins the record of a member. Nil if the list is no longer recorded.
  func makeRecord(
    of procedure: Procedure, isGroup: Bool, _ life: RecordedLife
  ) -> ProcedureRecord? {
    storage.withLock { storage in
      guard let recording = storage.recording else { return nil }
      if recording.parent == 0, !recording.store.takesNext() { return nil }
      return ProcedureRecord(of: type(of: procedure), isGroup: isGroup, life, in: recording)
    }
  }

  /// Records members that are enqueued from now on.
  ///
  /// - Returns: the recording; nil if the store has been stopped meanwhile.
  private func record(in store: RecordStore, parent: UInt64, root: Int) -> ListRecording? {
    let context = context
    let clock = RecordClock(context.clock.service)
    let isOnMainThread = context.scheduler.isOnMainThread
    // The replaced record is released after the lock: users' errors may be released with it.
    let (recording, _): (ListRecording?, ListRecording?) = locked { storage in
      guard store.isRecording else { return (nil, nil) }
      // Members that an earlier timeline records continue with the same times.
      let history =
        storage.recording?.history
        ?? HindranceHistory(
          storage.machine.hindrance, limit: storage.machine.limit,
          isOnMainThread: isOnMainThread, by: clock)
      let new = ListRecording(in: store, history, parent: parent, root: root)
      let replaced = exchange(&storage.recording, with: new)
      publishRecording(of: storage)
      return (new, replaced)
    }
    // Members that have arrived meanwhile have either seen it, or can be found now.
    arrivals.order()
    return recording
  }

  /// Records the children of a group that are enqueued from now on, if the group itself is
  /// recorded, and they are not.
  private static func record(
    childrenOf group: Procedure, in recording: ListRecording
  ) -> (list: ProcedureList, ListRecording)? {
    guard let list = group.childList, !list.isRecorded,
      let record = group.record(in: recording.store),
      let own = list.record(in: recording.store, parent: record, root: recording.root)
    else { return nil }
    return (list, own)
  }

  /// Records the present members, and everything below.
  ///
  /// Iterative: groups may be nested thousands deep.
  private func recordMembers(in recording: ListRecording) {
    var lists = [(list: self, recording)]
    while let (list, recording) = lists.popLast() {
      for member in list.procedures {
        member.beginRecord(in: list)
        if let below = Self.record(childrenOf: member, in: recording) { lists.append(below) }
      }
    }
  }

  /// A group was added to this list: records its children, if this list is recorded.
  func recordChildren(of group: Procedure) {
    guard isRecorded, let recording = storage.withLock({ $0.recording }),
      let (list, own) = Self.record(childrenOf: group, in: recording)
    else { return }
    list.recordMembers(in: own)
  }

  /// Records the members of the list of a queue, or of a group, and everything below, from now on.
  func beginRecording(in store: RecordStore, of owner: (any RecordedOwner)?, named name: String) {
    ProcedureRecord.isUsed.store(1)
    let context = context
    let place = store.addRoot(
      owner, named: name, by: RecordClock(context.clock.service),
      underlyingQueue: context.scheduler.underlyingQueue?.label)
    if let recording = record(in: store, parent: 0, root: place) { recordMembers(in: recording) }
  }

  /// Ends the recording of the store in this list and below.
  func endRecording(in store: RecordStore) {
    var lists = [self]
    while let list = lists.popLast() {
      list.changeRecording { storage in
        storage.recording?.store === store ? storage.recording.take() : nil
      }
      lists += list.procedures.compactMap(\.childList)
    }
  }

  /// The group, whose recording was awaited, is on a queue.
  func beginAwaitedRecording() {
    guard recordingStatus.load() & Self.awaited != 0 else { return }
    guard let store = changeRecording({ $0.awaitedStore.take() }) else { return }
    let group = group
    beginRecording(in: store, of: group, named: group?.name ?? "")
  }
}

extension ProcedureList {
  /// The records so far of unfinished members, and of everything below.
  func unfinishedRecords(in store: RecordStore) -> [RecordedProcedure] {
    var lists = [self]
    var records: [RecordedProcedure] = []
    while let list = lists.popLast() {
      for procedure in list.procedures {
        if let record = procedure.currentRecord(in: store) { records.append(record) }
        if let childList = procedure.childList { lists.append(childList) }
      }
    }
    return records
  }
}

/// Called with each procedure that is about to become a member of a list.
final class NewcomerRecorder: Sendable {
  let meet: @Sendable (Procedure) -> Void

  init(_ meet: @escaping @Sendable (Procedure) -> Void) {
    self.meet = meet
  }
}

extension Procedure {
  /// Calls `recorder` with each child of this group that is about to be added, on the thread that
  /// adds it. One recorder at a time.
  package final func recordChildren(_ recorder: @escaping @Sendable (Procedure) -> Void) {
    let recorder = NewcomerRecorder(recorder)
    childList?.changeRecording { exchange(&$0.newcomerRecorder, with: recorder) }
  }
}

extension RecordStore {
  /// Records the children of a group, from now on, or from the time when it is on a queue.
  package func record(_ group: Procedure) {
    guard let list = group.childList else { return }
    // The thread that puts the group on a queue sets the context, and then reads whether a
    // recording is awaited; this thread notes the recording, and then reads the context. One of the
    // two finds the other's note: both are made under the list's lock, so that the later one sees
    // the earlier. Without the lock both could be missed, on x86-64 too.
    list.changeRecording { exchange(&$0.awaitedStore, with: self) }
    if list.isOnQueue { list.beginAwaitedRecording() }
  }
}

extension Procedure: RecordedOwner {
  final var recordedList: ProcedureList? { childList }
}
