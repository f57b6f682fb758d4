#if MODEL
  import Procedures
  import ProcedureTestSupport
  import Testing

  @Suite(.serialized, .hangLimit) struct RecordingModelTests {
    /// Each notes its own, and then reads the other's; both notes are made under one lock:
    ///
    ///     record(group)                 queue.add(group)
    ///     notes that it is awaited
    ///                                   notes the queue
    ///     reads the queue               reads whether a recording is awaited
    @Test("V1: the child of a group is recorded, whichever comes first: the recording or the add")
    func recordingAgainstAdd() throws {
      try explore(onQueue: { model in
        let child = PlainProcedure.lasting()
        let group = GroupProcedure(child)
        let store = RecordStore(capacity: 8)
        return model.scenario(threads: [{ store.record(group) }, { model.queue.add(group) }]) {
          try require(store.records.count == 1, "recorded: \(store.records.map(\.id))")
          child.finish()
          model.scheduler.run()
          try child.checkLife()
        }
      })
    }
  }
#endif
