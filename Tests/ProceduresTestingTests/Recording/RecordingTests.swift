import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct RecordingTests {
  private let queue = ProcedureQueue()

  @Test("X1: events are noted in order, one line each")
  func events() async throws {
    let recording = RecordingObserver()
    let procedure = TracedProcedure("upload", failure: TestError("full"))
    procedure.add(observer: recording)
    _ = await queue.run(procedure)
    try recording.expect([
      "upload will execute", "upload did execute", "upload will finish",
      "upload did finish: failed: full",
    ])
  }

  @Test("differences from the expected are shown line by line")
  func difference() async throws {
    let recording = RecordingObserver(events: [.didCancel, .didExecute, .didFinish])
    let procedure = TracedProcedure("upload")
    procedure.add(observer: recording)
    procedure.cancel(withErrors: [TestError("enough")])
    _ = await queue.run(procedure)
    let error = #expect(throws: RecordingError.self) {
      try recording.expect(["upload did execute", "upload did finish: cancelled: enough"])
    }
    #expect(
      "\(error!)" == """
        Expected (-) and seen (+):
        - upload did execute
        + upload did cancel: enough
          upload did finish: cancelled: enough
        """)
  }

  @Test("F4: instances are counted as long as they live, and named")
  func liveInstances() async throws {
    let live = LiveInstances()
    var kept: TracedProcedure? = live.track(TracedProcedure("kept"), as: "kept")
    live.track(TracedProcedure("gone"))
    #expect(live.labels == ["kept"] && live.count == 1)
    let error = #expect(throws: LiveInstancesError.self) { try live.expectNone() }
    #expect("\(error!)" == "1 still alive: kept")
    _ = await queue.run(kept!)
    kept = nil
    try await live.allReleased(within: .seconds(1_000))
  }
}
