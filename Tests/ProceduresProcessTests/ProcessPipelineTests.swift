#if os(macOS) || os(Linux)
  import Foundation
  import Procedures
  import ProcedureTestSupport
  import Testing

  @testable import ProceduresProcess

  /// The time limits are for what would hang, not for slow machines.
  @Suite("Processes as values, files and pipes", .hangLimit)
  struct ProcessPipelineTests {
    private let queue = ProcedureQueue(name: "processes")

    private func shell(_ script: String) -> ProcessProcedure {
      ProcessProcedure("/bin/sh", arguments: ["-c", script]).named(script)
    }

    private func directory() throws -> URL {
      let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      return url
    }

    @Test("I7, R1: a process procedure's result is its output, and its input the standard input")
    func values() async throws {
      let list = shell("printf 'b\\na\\n'")
      let sort = ProcessProcedure("sort").injectResult(from: list) { .data($0.output) }
      let count = TransformProcedure<ProcessResult, Int> { $0.outputText.count }
        .injectResult(from: sort)
      queue.add(list, sort, count)
      #expect(try await sort.value.outputText == "a\nb\n")
      #expect(try await count.value == 4 && sort.result?.exit == .status(0))
    }

    @Test("R1: a failed program's error is what its dependents end with")
    func failedValue() async throws {
      let fails = shell("exit 3")
      let next = ProcessProcedure("cat").injectResult(from: fails) { .data($0.output) }
      let other = ProcessProcedure("echo").injectArguments(from: fails) { [$0.outputText] }
      queue.add(fails, next, other)
      for procedure in [next, other] {
        let error = await #expect(throws: ProcessError.self) { try await procedure.value }
        #expect(error?.result?.exit == .status(3))
        #expect(procedure.isCancelled && procedure.result == nil)
      }
    }

    @Test("I7: arguments, and the rest, may come from what ran before")
    func arguments() async throws {
      let source = ResultProcedure { ["one", "two words"] }
      let echo = ProcessProcedure("printf", arguments: ["%s,"]).injectArguments(from: source) { $0 }
      echo.inject(dependency: source) { echo, _, _ in
        echo.configuration.environment["A"] = "x"
      }
      queue.add(source, echo)
      #expect(try await echo.value.outputText == "one,two words,")
      #expect(echo.configuration.arguments == ["%s,", "one", "two words"])
      let throwing = ProcessProcedure("true").injectArguments(from: source) { _ in
        throw TestError("none")
      }
      queue.add(throwing)
      #expect(await throwing.waitUntilFinished().errors.first as? TestError == TestError("none"))
    }

    @Test("I7: a program does not run if the source of its arguments has an error as its output")
    func argumentsOfIgnoredError() async throws {
      let source = ResultProcedure<[String]> { throw TestError("broken") }
      let ignoring = IgnoreErrorsProcedure(source)
      let echo = ProcessProcedure("echo").injectArguments(from: ignoring) { $0 }
      queue.add(ignoring, echo)
      #expect(await echo.waitUntilFinished().isCancelled && echo.result == nil)
      #expect((echo.errors.first as? ProcedureError)?.code == .dependencyFailed)
    }

    @Test("I7: output goes to a file, emptied or appended to; input comes from one")
    func files() async throws {
      let directory = try directory()
      defer { try? FileManager.default.removeItem(at: directory) }
      func write(_ text: String, appending: Bool) async {
        let echo = ProcessProcedure("echo", arguments: [text]) {
          $0.directory = directory.path
          $0.standardOutput = .file("out", appending: appending)
        }
        #expect(await queue.run(echo) == .succeeded)
        #expect(echo.result?.output.isEmpty == true)
      }
      await write("longer than that", appending: false)
      await write("a", appending: false)
      await write("b", appending: true)
      let both = shell("echo out; echo error >&2; echo out")
      both.configuration.standardOutput = .file(directory.path + "/both")
      both.configuration.standardError = .file(directory.path + "/both")
      #expect(await queue.run(both) == .succeeded)
      for (name, text) in [("out", "a\nb\n"), ("both", "out\nerror\nout\n")] {
        let cat = ProcessProcedure("cat") {
          $0.standardInput = .file(directory.appending(path: name).path)
        }
        queue.add(cat)
        #expect(try await cat.value.outputText == text)
      }
    }

    @Test("a file that cannot be opened is an error that names it, and no program runs")
    func noFile() async throws {
      let directory = try directory()
      defer { try? FileManager.default.removeItem(at: directory) }
      let reads = shell("echo x > \(directory.path)/ran")
      reads.configuration.standardInput = .file("/no/such/file")
      let writes = shell("echo x > \(directory.path)/ran")
      writes.configuration.standardOutput = .file(directory.path)
      for procedure in [reads, writes] {
        let error = await queue.run(procedure).errors.first as? ProcessError
        #expect(error?.code == .fileNotOpened && error?.description.contains("/") == true)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test(
      "I7: the programs of a | b | c run at once, on one slot, and pass more than any pipe holds")
    func pipeline() async throws {
      let queue = ProcedureQueue(maxConcurrentProcedureCount: 1)
      let pipeline =
        shell("head -c 3000000 /dev/zero") | ProcessProcedure("cat")
        | ProcessProcedure("wc", arguments: ["-c"])
      queue.add(pipeline)
      let text = try await pipeline.value.outputText
      #expect(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) == 3_000_000)
      #expect(pipeline.stages.count == 3)
      #expect(pipeline.stages[0].result?.output.isEmpty == true)
    }

    @Test(
      "I7: a pipeline's input is that of the first program, and a pipeline is a source as any other"
    )
    func pipelineValues() async throws {
      let source = ResultProcedure { "b\na\nb\n" }
      let pipeline = (ProcessProcedure("sort") | ProcessProcedure("uniq"))
        .injectResult(from: source) { .text($0) }
      let count = TransformProcedure<ProcessResult, Int> { $0.outputText.count }
        .injectResult(from: pipeline)
      queue.add(source, pipeline, count)
      #expect(try await count.value == 4)
    }

    @Test("I7: a writer that is ended since its reader has enough has not failed")
    func readerHasEnough() async throws {
      let pipeline = ProcessProcedure("yes") | ProcessProcedure("head", arguments: ["-n", "2"])
      queue.add(pipeline)
      #expect(try await pipeline.value.outputText == "y\ny\n")
      #expect(await pipeline.waitUntilFinished() == .succeeded)
    }

    @Test(
      "I7: a program that fails, or cannot start, ends the rest of its pipeline, and is the one error"
    )
    func pipelineFails() async throws {
      for failing in [shell("exit 3"), ProcessProcedure("no-such-program")] {
        let pipeline = shell("sleep 600; :") | failing | shell("sleep 600; :")
        let errors = await queue.run(pipeline).errors
        let cause = (errors.first as? ProcedureError)?.underlyingErrors.first
        #expect(errors.count == 1 && cause is ProcessError, "\(errors)")
      }
    }

    @Test("a cancel ends all programs of a pipeline, before they start too")
    func pipelineCancel() async throws {
      for round in 0..<40 {
        let pipeline = shell("sleep 600; :") | shell("sleep 600; :") | shell("sleep 600; :")
        queue.add(pipeline)
        for _ in 0..<(round * 2_000) { _ = pipeline.isCancelled }
        pipeline.cancel()
        #expect(await pipeline.waitUntilFinished().isCancelled)
      }
    }

    #if os(Linux)
      @Test("I7: pipelines leave no descriptor open, also if they are cancelled or cannot start")
      func noDescriptorStays() async throws {
        await #expect(processExitsWith: .success) {
          let queue = ProcedureQueue()
          func make(_ program: String) -> ProcessPipeline {
            ProcessProcedure("echo") | ProcessProcedure(program) | ProcessProcedure("cat")
          }
          // Without those of Dispatch's timers: it opens one for each clock, when the first timer
          // by that clock is set.
          func openCount() throws -> Int {
            let files = FileManager.default
            return try files.contentsOfDirectory(atPath: "/proc/self/fd").count { descriptor in
              let file = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
              return file?.hasSuffix("[timerfd]") != true
            }
          }
          _ = await queue.run(make("cat"))
          let before = try openCount()
          for round in 0..<20 {
            _ = await queue.run(make("cat"))
            _ = await queue.run(make("no-such-program"))
            let cancelled = make("cat")
            queue.add(cancelled)
            if round.isMultiple(of: 2) { cancelled.cancel() } else { cancelled.stages[1].cancel() }
            _ = await cancelled.waitUntilFinished()
          }
          let after = try openCount()
          precondition(after <= before, "descriptors stay open")
        }
      }
    #endif

    @Test("a configuration may be replaced before it runs, in a pipeline too")
    func replacing() async throws {
      let last = ProcessProcedure("false")
      let pipeline = shell("echo x") | last
      last.configuration = ProcessConfiguration(program: "cat")
      queue.add(pipeline)
      #expect(try await pipeline.value.outputText == "x\n")
    }
  }
#endif
