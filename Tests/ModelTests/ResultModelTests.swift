#if MODEL
  import Procedures
  import ProcedureTestSupport
  import Testing

  /// Values and their hand-over, in every schedule of a few threads.
  @Suite(.serialized, .hangLimit) struct ResultModelTests {
    @Test("F5: one of two finishes counts, with its output")
    func finishAgainstFinish() throws {
      try explore(onQueue: { model in
        let source = SourceProcedure<Int>()
        model.start(source)
        return model.scenario(threads: [
          { source.finish(withResult: .success(1)) },
          { source.finish(withResult: .failure(TestError("2"))) },
        ]) {
          let output = try? source.output?.get()
          try require(source.isFinished, "not finished")
          try require(
            source.outcome == (output == 1 ? .succeeded : .failed([TestError("2")])),
            "\(String(describing: output)) \(source)")
        }
      })
    }

    @Test(
      "R1: a target gets its value once, and runs, when the injection races with the source's finish"
    )
    func injectionAgainstFinish() throws {
      try explore(onQueue: { model in
        let source = SourceProcedure<Int>()
        model.start(source)
        let target = TransformProcedure<Int, Int> { $0 + 1 }
        return model.scenario(threads: [
          { source.finish(withResult: .success(1)) },
          {
            target.injectResult(from: source)
            model.queue.add(target)
          },
        ]) {
          try require(target.outcome == .succeeded, "\(target)")
          try require(try target.output?.get() == 2, "\(String(describing: target.output))")
          try require(target.dependencies.isEmpty, "something is left")
        }
      })
    }

    @Test(
      "R1, C2: a target that is cancelled against the hand-over ends once, with the value or without"
    )
    func cancelAgainstHandOver() throws {
      try explore(onQueue: { model in
        let source = SourceProcedure<Int>()
        model.start(source)
        let target = TransformProcedure<Int, Int> { $0 + 1 }
        target.injectResult(from: source)
        model.queue.add(target)
        return model.scenario(threads: [
          { source.finish(withResult: .success(1)) }, { target.cancel() },
        ]) {
          try require(target.isFinished, "\(target)")
          try require(target.isCancelled || target.input == 1, "\(target)")
        }
      })
    }
  }
#endif
