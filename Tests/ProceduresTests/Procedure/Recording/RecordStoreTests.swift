import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import Procedures

@Suite(.hangLimit) struct RecordStoreTests {
  private static func record(in recording: ListRecording) -> ProcedureRecord {
    ProcedureRecord(
      of: Procedure.self, isGroup: false, RecordedLife(stage: .ready, isCancelled: false),
      in: recording)
  }

  private static func recording(in store: RecordStore) -> ListRecording {
    let history = HindranceHistory(.worker, limit: .max, by: RecordClock(DispatchTimers.shared))
    return ListRecording(in: store, history, parent: 0, root: 0)
  }

  @Test(
    "V2: the newest records are kept, each once and whole, when many threads publish",
    arguments: [1, 7, 16, 100])
  func threads(capacity: Int) async {
    for _ in 0..<Rounds.few / 4 {
      let store = RecordStore(capacity: capacity)
      let recording = Self.recording(in: store)
      let publish: @Sendable () -> Void = {
        for _ in 0..<200 {
          let record = Self.record(in: recording)
          record.publish(named: "\(record.content.id)")
        }
      }
      await race(publish, publish, publish, publish)
      #expect(store.droppedCount == 800 - capacity)
      let records = store.records
      #expect(records.count == capacity && Set(records.map(\.id)).count == capacity)
      #expect(records.allSatisfy { $0.name == "\($0.id)" })
      // One thread at a time: exactly the newest.
      for _ in 0..<capacity + 3 { Self.record(in: recording).publish(named: nil) }
      #expect(store.records.map(\.id) == (804..<804 + UInt64(capacity)).map { $0 })
      store.stop()
    }
  }

  @Test("V2: a stopped store keeps nothing, whoever publishes meanwhile")
  func stop() async {
    for _ in 0..<Rounds.few {
      let store = RecordStore(capacity: 100)
      let recording = Self.recording(in: store)
      await race(
        { for _ in 0..<50 { Self.record(in: recording).publish(named: nil) } },
        { store.stop() })
      #expect(store.records.isEmpty)
    }
  }

  private struct Weak {
    weak var store: RecordStore?
  }

  @Test("V2: a queue lets go of each timeline that has gone, or was replaced by another")
  func manyTimelines() async {
    let queue = ProcedureQueue()
    var stores: [Weak] = []
    for number in 0..<Rounds.size(100, otherwise: 30) {
      let store = RecordStore(capacity: 100_000)
      stores.append(Weak(store: store))
      store.record(queue)
      let group = GroupProcedure(BlockProcedure {}, BlockProcedure {})
      queue.add(BlockProcedure {}, group)
      await queue.waitUntilAllFinished()
      // As a timeline does that goes.
      if number.isMultiple(of: 2) { store.stop() }
    }
    // A worker may not have left its last group yet.
    #expect(await eventually { stores.count { $0.store != nil } <= 1 })
    #expect(stores.filter { $0.store != nil }.count == 1)
    // The last one has not been stopped, and still records.
    #expect(queue.list.isRecorded)
    stores.last?.store?.stop()
    #expect(await eventually { stores.allSatisfy { $0.store == nil } })
    #expect(stores.allSatisfy { $0.store == nil } && !queue.list.isRecorded)
  }

  @Test("V2: a member that waits keeps no timeline that has gone, but its empty shell")
  func pendingMembers() async {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    var store: RecordStore? = RecordStore(capacity: 10)
    let last = Weak(store: store)
    store?.record(queue)
    queue.add(BlockProcedure {}, GroupProcedure(BlockProcedure {}))
    #expect(store?.records.count == 3)
    store?.stop()
    store = nil
    queue.isSuspended = false
    await queue.waitUntilAllFinished()
    #expect(await eventually { last.store == nil })
    #expect(last.store == nil)
  }

  @Test("V2: a procedure that its group refused, and that the user keeps, keeps no timeline")
  func refused() async {
    let queue = ProcedureQueue()
    var store: RecordStore? = RecordStore(capacity: 10)
    let last = Weak(store: store)
    store?.record(queue)
    var group: GroupProcedure? = GroupProcedure(BlockProcedure {})
    queue.add(group!)
    await queue.waitUntilAllFinished()
    let refused = BlockProcedure {}
    #expect(group!.add(child: refused) == false)
    group = nil
    await refused.waitUntilFinished()
    #expect(store?.records.count == 2)
    store?.stop()
    store = nil
    #expect(await eventually { last.store == nil })
    #expect(last.store == nil)
    withExtendedLifetime(refused) {}
  }
}
