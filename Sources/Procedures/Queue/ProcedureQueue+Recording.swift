extension ProcedureQueue: RecordedOwner {
  var recordedList: ProcedureList? { list }
}

extension RecordStore {
  /// Records the procedures on the queue, and later ones.
  package func record(_ queue: ProcedureQueue) {
    queue.list.beginRecording(in: self, of: queue, named: queue.name)
  }
}
