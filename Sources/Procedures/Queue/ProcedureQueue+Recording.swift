extension ProcedureQueue: RecordedOwner {
  var recordedLimit: Int? { list.recordedLimit }

  func unfinishedRecords(in store: RecordStore) -> [RecordedProcedure] {
    list.unfinishedRecords(in: store)
  }

  func endRecording(in store: RecordStore) { list.endRecording(in: store) }
}

extension RecordStore {
  /// Records the procedures on the queue, and later ones.
  package func record(_ queue: ProcedureQueue) {
    queue.list.beginRecording(in: self, of: queue, named: queue.name)
  }
}
