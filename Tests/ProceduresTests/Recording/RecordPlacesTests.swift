import ProcedureTestSupport
import Testing

@testable import Procedures

@Suite struct RecordPlacesTests {
  private static func begin(in places: borrowing RecordPlaces, _ recording: ListRecording)
    -> ProcedureRecord
  {
    let (place, id) = unsafe places.take()
    return unsafe ProcedureRecord(
      at: place, in: recording,
      RecordedProcedure(
        id: id, in: recording, type: Procedure.self, isGroup: false, gate: .ready,
        at: recording.sample()))
  }

  private static func makeRecording() -> ListRecording {
    let store = RecordStore(capacity: 1)
    let queue = ProcedureQueue()
    store.record(queue)
    return queue.list.recording.current!
  }

  @Test("V2: many threads take and release places: each number once, each record whole")
  func threads() async {
    let recording = Self.makeRecording()
    for _ in 0..<Rounds.few / 4 {
      let places = Shared(RecordPlaces())
      let numbers = Recorder<[UInt64]>()
      let take: @Sendable () -> Void = {
        var open: [ProcedureRecord] = []
        var taken: [UInt64] = []
        for index in 0..<200 {
          let record = Self.begin(in: places.value, recording)
          record.noteEnd(name: "\(record.number)", errors: [], reason: nil)
          taken.append(record.number)
          open.append(record)
          if index % 3 != 0 { Self.check(open.remove(at: index % open.count)) }
        }
        for record in open { Self.check(record) }
        numbers.note(taken)
      }
      await race(take, take, take, take)
      let all = numbers.events.flatMap { $0 }
      #expect(Set(all).count == 800)
      #expect(numbers.events.allSatisfy { $0 == $0.sorted() })
    }
  }

  private static func check(_ record: ProcedureRecord) {
    precondition(record.content.name == "\(record.number)")
    record.release()
  }

  #if canImport(Glibc)
    @Test("V2: places that were never taken do not keep a block, nor does a store that has gone")
    func abandoned() async {
      await #expect(processExitsWith: .success) {
        let recording = Self.makeRecording()
        func round() {
          for count in 0..<200 {
            var places = RecordPlaces()
            let open = (0..<count).map { _ in Self.begin(in: places, recording) }
            // The blocks outlive what gave them out.
            places = RecordPlaces()
            for record in open { record.release() }
            _ = consume places
          }
        }
        round()
        let growth = LiveBytes.growth { for _ in 0..<5 { round() } }
        precondition(growth < 16 * 1_024, "live bytes grew by \(growth)")
      }
    }
  #endif
}

/// What cannot be copied, for several threads.
private final class Shared<Value: ~Copyable & Sendable>: Sendable {
  let value: Value
  init(_ value: consuming Value) { self.value = value }
}
