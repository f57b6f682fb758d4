internal import ProcedurePrimitives

extension ReadyList {
  /// Records the children of a group that is recorded itself, however deep.
  ///
  /// Iterative: groups may be nested thousands deep.
  func recordChildren(of group: Procedure, in recording: ListRecording) {
    var groups = [(group, recording)]
    while let (group, recording) = groups.popLast() {
      guard let list = group.childList, list.recording.current == nil,
        let record = group.recordID?.number(in: recording.store)
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
  func beginRecording(in store: RecordStore, of owner: (any RecordedOwner)?, named name: String) {
    ProcedureRecord.isUsed.store(1)
    let (place, clock) = store.addRoot(owner, named: name, by: context.clock.service)
    record(in: store, by: clock, parent: 0, root: place)
    guard let recording = recording.current else { return }
    for member in procedures {
      member.beginRecord(in: self)
      if member.childList != nil { recordChildren(of: member, in: recording) }
    }
  }
}

extension ReadyList {
  var recordedLimit: Int? {
    let limit = limit
    return limit == .max ? nil : limit
  }

  /// What is recorded so far of members that have not finished, and below.
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

extension RecordStore {
  /// Records the children of a group, from here on, or from when it is on a queue.
  package func record(_ group: Procedure) {
    guard let list = group.childList else { return }
    list.recording.await(self)
    if list.isOnQueue { list.recording.takeAwaited()?.beginRecording(of: list) }
  }

  /// The group is on a queue.
  func beginRecording(of list: ReadyList) {
    let group = list.group
    list.beginRecording(in: self, of: group, named: group?.name ?? "")
  }
}

extension Procedure: RecordedOwner {
  final var recordedLimit: Int? { childList?.recordedLimit }

  final func unfinishedRecords(in store: RecordStore) -> [RecordedProcedure] {
    childList?.unfinishedRecords(in: store) ?? []
  }
}
