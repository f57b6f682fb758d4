extension ProcedureQueue: RecordedOwner {
  var recordedList: ReadyList? { list }
}

extension RecordStore {
  /// Records what is on the queue, and what is added to it, from here on.
  package func record(_ queue: ProcedureQueue) {
    queue.list.beginRecording(in: self, of: queue, named: queue.name)
  }
}
