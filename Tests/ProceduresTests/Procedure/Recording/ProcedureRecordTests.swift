import ProcedureExclusion
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import Procedures

@Suite(.hangLimit) struct ProcedureRecordTests {
  private let store = RecordStore(capacity: 1)

  private func begun() -> OpenRecord {
    let clock = RecordClock(DispatchTimers.shared)
    let history = HindranceHistory(.worker, limit: .max, by: clock)
    let recording = ListRecording(in: store, history, parent: 0, root: 0)
    let content = RecordedProcedure(
      id: 1, in: recording, type: Procedure.self, isGroup: false, at: 0)
    return OpenRecord(content, at: RecordSample())
  }

  private func life(_ stage: RecordedLife.Stage, isCancelled: Bool = false) -> RecordedLife {
    RecordedLife(stage: stage, isCancelled: isCancelled)
  }

  private func sample(_ now: Int64, _ parts: [(Hindrance, Int64, mean: Int64)] = []) -> RecordSample
  {
    var sample = RecordSample(now: now)
    for (hindrance, time, mean) in parts {
      sample.times.lanes[hindrance.rawValue] = time
      sample.moments.lanes[hindrance.rawValue] = Double(time * mean)
    }
    return sample
  }

  private func waits(_ record: OpenRecord) -> [String] {
    record.content.waits.map { "\($0.cause) \($0.nanoseconds)" + ($0.name.map { " \($0)" } ?? "") }
  }

  @Test(
    "V1: the causes that keep a list's ready members back are noted in their order")
  func order() {
    var record = begun()
    record.move(to: life(.ready), without: nil, at: sample(0))
    let end = sample(9, [(.suspension, 4, mean: 7), (.slot, 3, mean: 5), (.worker, 2, mean: 9)])
    record.move(to: life(.executing), without: nil, at: end)
    #expect(waits(record) == ["slot 3", "suspension 4", "worker 2"])
    #expect(record.content.started == 9 && record.content.executing == 9)
  }

  @Test("V1: the time before an evaluation counts for a worker, not for a slot")
  func evaluation() {
    var record = begun()
    record.move(to: life(.evaluation), without: nil, at: sample(0))
    let end = sample(9, [(.suspension, 4, mean: 4), (.slot, 3, mean: 7), (.worker, 2, mean: 9)])
    record.move(to: life(.conditions), without: nil, at: end)
    #expect(waits(record) == ["suspension 4", "worker 5"])
  }

  @Test(
    "V1: a procedure that is cancelled in line waited for the exclusion until then, and no longer")
  func cancelledInLine() {
    var record = begun()
    record.move(to: life(.ready), without: nil, at: sample(0))
    let limits = CategoryLimits([ExclusionLimit("disk").inner])
    let line = RecordedLine(
      of: MemberRequest(limits, for: Procedure(), in: ProcedureList(context: .detached)))
    record.enter(line, at: sample(2, [(.slot, 2, mean: 2)]))
    var soFar = record
    soFar.endWait(without: nil, at: sample(4, [(.slot, 2, mean: 2)]))
    record.move(to: life(.ending, isCancelled: true), without: nil, at: sample(5))
    #expect(record.line == nil && record.content.cancelled == 5)
    record.move(to: life(.finished, isCancelled: true), without: nil, at: sample(9))
    #expect(waits(soFar) == ["slot 2", "exclusion 2 disk"])
    #expect(waits(record) == ["slot 2", "exclusion 3 disk"])
    #expect(record.content.started == RecordedProcedure.never && record.content.finished == 9)
  }

  @Test("V1: a wait for a dependency and one for a barrier have each their own part")
  func barrier() {
    var record = begun()
    record.move(to: life(.dependencies), without: nil, at: sample(0))
    record.end(EndedDependency(number: 7, name: nil), at: 3)
    record.hold(isBarrier: false)
    record.move(to: life(.ready), without: nil, at: sample(5))
    record.move(to: life(.dependencies), without: nil, at: sample(5))
    record.move(to: life(.ready), without: nil, at: sample(6))
    #expect(waits(record) == ["dependency 3", "barrier 2", "worker 1"])
    #expect(record.content.dependencies == [7])
  }
}
