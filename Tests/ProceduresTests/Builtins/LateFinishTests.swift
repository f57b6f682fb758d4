import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct LateFinishTests {
  private let scheduler = ManualScheduler()
  private let reports = Recorder<ProcedureDiagnostic>()

  private func makeQueue() -> ProcedureQueue {
    let queue = ProcedureQueue(scheduler: scheduler)
    queue.diagnosticsHandler = { [reports] in reports.note($0) }
    return queue
  }

  @Test("a finish after a ready-made procedure has ended by itself is reported, with what to write")
  func late() {
    var queue: ProcedureQueue? = makeQueue()
    let block = BlockProcedure { _ in }
    block.name = "upload"
    let (result, transform) = (
      ResultProcedure { 1 },
      TransformProcedure<Int, Int> { $0 }.injectResult(from: ResultProcedure { 1 })
    )
    let task = AsyncProcedure {}
    queue?.add(block, result, task)
    scheduler.run()
    #expect(block.isFinished && task.isFinished && !transform.isFinished)
    #expect(!block.finish(withError: TestError("the disk is full")))
    #expect(!result.finish(withResult: .success(2)))
    #expect(!task.finish())
    #expect(reports.events.map(\.code) == [.finishTooLate, .finishTooLate, .finishTooLate])
    #expect(
      reports.events[0].description
        == "finish() on 'upload' came after it had ended by itself, when its closure returned, and "
        + "these errors are lost: the disk is full. For work that calls back later write "
        + "AsyncProcedure(.callback) { finish in … }.")
    #expect(block.outcome == .succeeded)
    #expect((try? result.output?.get()) == 1)
    // What it keeps for this keeps nothing of the queue.
    weak let weakQueue = queue
    queue = nil
    #expect(weakQueue == nil)
  }

  @Test("a finish in time, after a cancel, or of a class of your own is not reported")
  func inTime() {
    let queue = makeQueue()
    let early = BlockProcedure { procedure in procedure.finish(withError: TestError("e")) }
    let cancelled = BlockProcedure { procedure in procedure.cancel() }
    let handle = AsyncProcedure(.callback) { finish in
      finish()
      finish()
    }
    let own = TracedProcedure()
    queue.add(early, cancelled, handle, own)
    scheduler.run()
    #expect(early.outcome == .failed([TestError("e")]))
    #expect(handle.outcome == .succeeded)
    cancelled.finish()
    own.finish()
    #expect(reports.events.isEmpty)
  }

  @Test("an error that a closure throws, or a handle brings, after a finish is reported")
  func lostErrors() {
    let queue = makeQueue()
    let procedures: [Procedure] = [
      BlockProcedure { procedure in
        procedure.finish()
        throw TestError("thrown")
      },
      AsyncProcedure { procedure in
        procedure.finish()
        throw TestError("thrown")
      },
      AsyncResultProcedure<Int>(.callback) { finish in
        finish(.success(1))
        finish(.failure(TestError("second")))
      },
    ]
    let cancelled = BlockProcedure { procedure in
      procedure.cancel()
      procedure.finish()
      throw TestError("after a cancel")
    }
    procedures[0].name = "upload"
    queue.add(procedures + [cancelled])
    scheduler.run()
    #expect(procedures.allSatisfy { $0.outcome == .succeeded })
    #expect(reports.events.map(\.code) == [.finishTooLate, .finishTooLate, .finishTooLate])
    #expect(
      reports.events[0].description
        == "The closure of 'upload' ended after it had been finished, and these errors are lost: "
        + "thrown. Throw, or finish, but not both; call a finish handle once.")
  }

  @Test(
    "F1: no finish is reported after one from outside that has ended the procedure"
  )
  func endedFromOutside() {
    let queue = makeQueue()
    let handle = Slot<FinishHandle<Void>>()
    let block = BlockProcedure { procedure in
      procedure.finish()
      // Its closure has not returned.
      procedure.finish(withError: TestError("second"))
    }
    let result = ResultProcedure { 1 }
    result.addWillExecuteBlockObserver { result, _ in
      result.finish(withResult: .success(2))
    }
    let callback = AsyncProcedure(.callback) { finish in handle.value = finish }
    queue.add(block, result, callback)
    scheduler.run()
    #expect(callback.finish())
    _ = handle.take()
    scheduler.run()
    for procedure in [block, result, callback] {
      #expect(procedure.outcome == .succeeded)
      #expect(!procedure.finish(withError: TestError("third")))
    }
    #expect(reports.events.isEmpty)
  }
}
