import ProcedureTestSupport
import Testing

@testable import Procedures

@Suite struct RecordedExclusionTests {
  @Test("V1: one that is cancelled in line waited for the exclusion until then, and no longer")
  func cancelledInLine() {
    let queue = ProcedureQueue()
    let store = RecordStore(capacity: 1)
    store.record(queue)
    let recording = queue.list.recording.current!
    let begin = recording.clock.now
    let (place, id) = unsafe store.recordPlaces.take()
    let record = unsafe ProcedureRecord(
      at: place, in: recording,
      RecordedProcedure(
        id: id, in: recording, type: Procedure.self, isGroup: false, gate: .ready,
        at: recording.sample()))
    record.expectExclusion().enterLine(for: "disk")
    record.noteCancel(missesDependency: false)
    // It leaves the line when its turn comes: more than twice as late.
    let cancelled = recording.clock.now
    while recording.clock.now - cancelled <= cancelled - begin {}
    let soFar = record.current(name: nil, errors: [], reason: nil, missesDependency: false)
    record.noteEnd(name: nil, errors: [], reason: nil)
    for content in [soFar, record.content] {
      var rest = content.readyWait
      rest -= content.exclusion!.times
      #expect(content.exclusion?.category == "disk" && content.exclusion!.times.total > 0)
      #expect(min(rest.group, rest.suspension, rest.slot, rest.worker) >= 0)
    }
    record.release()
  }
}
