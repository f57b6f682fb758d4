extension ProcedureQueue: RecordedOwner {
  var recordedLimit: Int? { list.recordedLimit }

  func unfinishedRecords(in store: RecordStore) -> [RecordedProcedure] {
    list.unfinishedRecords(in: store)
  }

  func endRecording(in store: RecordStore) { list.endRecording(in: store) }
}

extension RecordStore {
  /// Records what is on the queue, and what is added to it, from here on.
  package func record(_ queue: ProcedureQueue) {
    queue.list.beginRecording(in: self, of: queue, named: queue.name)
  }
}
