#if MODEL
  import Procedures
  import TestSupport
  import Testing

  /// Values and their hand-over, in every schedule of a few threads.
  @Suite(.serialized) struct ResultModelTests {
    private final class Source: Procedure, OutputProcedure, @unchecked Sendable {
      typealias Output = Int
      override func execute() {}
    }

    /// A source that executes.
    private func started(on queue: ProcedureQueue, _ scheduler: ManualScheduler) -> Source {
      let source = Source()
      queue.add(source)
      scheduler.run()
      return source
    }

    @Test("F5: of two finishes one counts, with its output")
    func finishAgainstFinish() throws {
      let schedules = try Explorer().explore {
        let scheduler = ManualScheduler()
        let source = started(on: ProcedureQueue(scheduler: scheduler), scheduler)
        return .init(
          threads: [
            { source.finish(withResult: .success(1)) },
            { source.finish(withResult: .failure(TestError("2"))) },
            { scheduler.run() },
          ]
        ) {
          scheduler.run()
          let output = try? source.output?.get()
          try require(source.isFinished, "not finished")
          try require(
            "\(source.outcome!)" == (output == 1 ? "succeeded" : "failed: 2"),
            "\(String(describing: output)) \(source)")
        }
      }
      #expect(schedules > 50)
    }

    @Test("R1: an injection against the source's finish: the target gets the value, once, and runs")
    func injectionAgainstFinish() throws {
      let schedules = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let source = started(on: queue, scheduler)
        let target = TransformProcedure<Int, Int> { $0 + 1 }
        return .init(
          threads: [
            {
              source.finish(withResult: .success(1))
              scheduler.run()
            },
            {
              target.injectResult(from: source)
              queue.add(target)
            },
          ]
        ) {
          scheduler.run()
          try require("\(target.outcome!)" == "succeeded", "\(target)")
          try require(try target.output?.get() == 2, "\(String(describing: target.output))")
          try require(target.dependencies.isEmpty && queue.count == 0, "something is left")
        }
      }
      #expect(schedules > 50)
    }

    @Test(
      "R1, C2: a cancel of the target against the hand-over: it ends once, cancelled or with it")
    func cancelAgainstHandOver() throws {
      let schedules = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let source = started(on: queue, scheduler)
        let target = TransformProcedure<Int, Int> { $0 + 1 }
        target.injectResult(from: source)
        queue.add(target)
        return .init(
          threads: [
            {
              source.finish(withResult: .success(1))
              scheduler.run()
            },
            { target.cancel() },
          ]
        ) {
          scheduler.run()
          try require(target.isFinished && queue.count == 0, "\(target)")
          try require(target.isCancelled || target.input == 1, "\(target)")
        }
      }
      #expect(schedules > 50)
    }
  }
#endif
