#if os(macOS) || os(Linux)
  import Foundation
  import ProcedureTestSupport
  import ProceduresFakes
  import ProceduresTesting
  import Testing

  /// A part of an app, as a user writes it: it knows nothing of tests.
  private struct Archive: Sendable {
    func pack(_ file: String) -> ProcessProcedure {
      let pack = ProcessProcedure("gzip", arguments: ["-k", file]) {
        $0.terminationGracePeriod = .seconds(5)
      }
      pack.timeout(after: .seconds(60))
      return pack
    }
  }

  @Suite("Programs of a test", .hangLimit)
  struct FakeProgramsTests {
    /// Runs what `make` returns in a simulation, and returns it with the time that it took.
    private func simulate<Made: Procedure>(
      _ programs: FakePrograms, seed: UInt64 = 1, _ make: () -> Made
    ) throws -> (procedure: Made, elapsed: Duration) {
      let simulation = ProcedureSimulation(seed: seed)
      let procedure = make()
      try simulation.run { simulation in
        let queue = simulation.makeQueue()
        queue.replacePrograms(with: programs)
        queue.add(procedure)
      }
      return (procedure, simulation.elapsed)
    }

    // MARK: What a user tests

    @Test(
      "I7, I8: a program that ignores SIGTERM is killed after its grace period, in virtual time")
    func ignoresTermination() throws {
      let programs = FakePrograms([
        "gzip": FakeProgram.hanging.ignoringTermination()
      ])
      let (pack, elapsed) = try simulate(programs) { Archive().pack("data.csv") }
      #expect(programs.runs.map(\.arguments) == [["-k", "data.csv"]])
      #expect(programs.signals.map(\.number) == [15, 9])
      let times = programs.signals.map(\.instant)
      #expect(times[0].duration(to: times[1]) == .seconds(5) && elapsed == .seconds(65))
      #expect(pack.isCancelled && pack.result?.exit == .signal(9))
      guard case ProcedureError.Code.timedOut? = pack.errors.first else {
        Issue.record("\(pack.errors)")
        return
      }
      #expect(pack.errors.count == 1 && pack.result?.duration == .seconds(65))
    }

    @Test("I7: SIGTERM ends a program at once, or when it has tidied up")
    func termination() throws {
      let plain = FakePrograms([
        "gzip": FakeProgram().output("half").wait(.seconds(100)).output("all")
      ])
      let (pack, elapsed) = try simulate(plain) { Archive().pack("a") }
      #expect(elapsed == .seconds(60) && pack.result?.outputText == "half")
      #expect(plain.signals.map(\.number) == [15] && pack.result?.exit == .signal(15))

      let tidy = FakePrograms([
        "gzip": FakeProgram.hanging.onTermination(
          FakeProgram().wait(.seconds(2)).errorOutput("removed").exit(1))
      ])
      let (clean, later) = try simulate(tidy) { Archive().pack("a") }
      #expect(later == .seconds(62) && clean.result?.exit == .status(1))
      #expect(clean.result?.errorText == "removed" && tidy.signals.count == 1)
    }

    @Test("I7, I8: output comes line by line, each at its time")
    func lines() throws {
      let programs = FakePrograms([
        "make": FakeProgram().output("one\ntw").wait(.seconds(2)).output("o\nthree").wait(
          .seconds(3))
      ])
      let seen = Recorder<String>()
      let simulation = ProcedureSimulation(seed: 2)
      let make = ProcessProcedure("make") {
        $0.standardOutput = .lines { line in
          seen.note("\(simulation.elapsed.components.seconds): \(line)")
        }
      }
      try simulation.run { simulation in
        let queue = simulation.makeQueue()
        queue.replacePrograms(with: programs)
        queue.add(make)
        simulation.perform(after: .seconds(1)) { #expect(make.processIdentifier != nil) }
      }
      #expect(seen.events == ["0: one", "2: two", "5: three"])
      #expect(make.outcome?.isSuccess == true && make.result?.output.isEmpty == true)
      #expect(make.processIdentifier == nil)
    }

    @Test("I7: a status that is no success is an error with the end of standard error")
    func failures() throws {
      let programs = FakePrograms { run in
        switch (run.program, run.number) {
        case ("git", 1): FakeProgram().errorOutput("the lock is held\n").exit(128)
        case ("git", _): FakeProgram().output("done\n")
        case ("crash", _): FakeProgram().crash(signal: 11)
        default: .missing
        }
      }
      let (git, _) = try simulate(programs) { ProcessProcedure("git") }
      let error = try #require(git.errors.first as? ProcessError)
      #expect("\(error)" == "'git' exited with status 128: the lock is held")
      #expect(error.code == .unsuccessful && error.result?.exit == .status(128))
      #expect(
        try simulate(programs) { ProcessProcedure("git") }.procedure.result?.outputText == "done\n")
      let (crash, _) = try simulate(programs) { ProcessProcedure("crash") }
      #expect((crash.errors.first as? ProcessError)?.result?.exit == .signal(11))
      let (lost, _) = try simulate(programs) { ProcessProcedure("gti") }
      #expect((lost.errors.first as? ProcessError)?.code == .programNotFound)
      #expect(lost.result == nil && programs.runs.map(\.program) == ["git", "git", "crash", "gti"])
    }

    @Test("R1, I7: input and arguments come from earlier procedures")
    func values() throws {
      let programs = FakePrograms { run in
        FakeProgram().output(run.inputText.uppercased() + run.arguments.joined())
      }
      let (group, _) = try simulate(programs) { () -> GroupProcedure in
        let words = ResultProcedure { "abc" }
        let first = ProcessProcedure("first").injectResult(from: words) { .text($0) }
        let second = ProcessProcedure("second").injectArguments(from: first) {
          [$0.outputText, "!"]
        }
        return GroupProcedure(words, first, second)
      }
      #expect(group.outcome?.isSuccess == true)
      #expect((group.children.last as? ProcessProcedure)?.result?.outputText == "ABC!")
    }

    @Test("I7, I8: a fake takes what is written to a stream, and begins when that has ended")
    func inputStream() throws {
      let programs = FakePrograms { run in FakeProgram().output(run.inputText.uppercased()) }
      let (input, taken) = (ProcessInputStream(), Recorder<Int>())
      let simulation = ProcedureSimulation(seed: 1)
      let (first, second) = (ProcessProcedure("a"), ProcessProcedure("a"))
      for program in [first, second] { program.configuration.standardInput = .stream(input) }
      second.add(dependency: first)
      try simulation.run { simulation in
        let queue = simulation.makeQueue()
        queue.replacePrograms(with: programs)
        queue.add(first, second)
        for second in 1...3 {
          simulation.perform(after: .seconds(second)) {
            input.write("\(second) a\n")
            taken.note(input.unwrittenByteCount)
            if second == 3 { input.end() }
          }
        }
      }
      #expect(first.result?.outputText == "1 A\n2 A\n3 A\n")
      #expect(taken.events == [0, 0, 0] && programs.runs.count == 1)
      #expect((second.errors.first as? ProcessError)?.code == .notStarted)
      #expect(!input.write("late"))
    }

    @Test("I7, I8: a cancelled fake hands over its last hundred lines when it has ended")
    func cutShort() throws {
      let tidy = FakeProgram().output((1...150).map { "\($0)\n" }.joined()).wait(.seconds(1))
      let programs = FakePrograms([
        "a": FakeProgram().output("ready\n").wait(.seconds(100)).onTermination(tidy)
      ])
      let lines = Recorder<String>()
      let (program, _) = try simulate(programs) {
        let program = ProcessProcedure("a") { $0.standardOutput = .lines { lines.note($0) } }
        program.timeout(after: .seconds(5))
        return program
      }
      #expect(program.isCancelled)
      #expect(lines.events == ["ready"] + (51...150).map { "\($0)" })
    }

    @Test("I7: output and input are files, merged, and the last bytes of what is captured")
    func streams() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let programs = FakePrograms { run in
        run.program == "cat"
          ? FakeProgram().output(run.input)
          : FakeProgram().output("one").errorOutput("two").output("three")
      }
      for appending in [false, true] {
        let (write, _) = try simulate(programs) {
          ProcessProcedure("write") {
            $0.directory = folder.path
            $0.standardOutput = .file("log", appending: appending)
          }
        }
        #expect(write.outcome?.isSuccess == true && write.result?.errorText == "two")
      }
      let (read, _) = try simulate(programs) {
        ProcessProcedure("cat") {
          $0.directory = folder.path
          $0.standardInput = .file("log")
          $0.mostCapturedBytes = 6
        }
      }
      #expect(read.result?.outputText == "ethree" && read.result?.droppedByteCount == 10)
      let (none, _) = try simulate(programs) {
        ProcessProcedure("cat") { $0.standardInput = .file(folder.path + "/none") }
      }
      #expect((none.errors.first as? ProcessError)?.code == .fileNotOpened)
      let (closed, _) = try simulate(programs) {
        ProcessProcedure("write") { $0.standardOutput = .file(folder.path + "/no/log") }
      }
      #expect((closed.errors.first as? ProcessError)?.code == .fileNotOpened)
      let (merged, _) = try simulate(programs) {
        ProcessProcedure("write") { $0.mergesStandardError = true }
      }
      #expect(
        merged.result?.outputText == "onetwothree" && merged.result?.errorOutput.isEmpty == true)
    }

    @Test("I7: in a pipeline each program gets what the one before it wrote")
    func pipelines() throws {
      let programs = FakePrograms { run in
        switch run.program {
        case "list": FakeProgram().output("b\n").wait(.seconds(1)).output("a\n")
        case "sort":
          FakeProgram().output(run.inputText.split(separator: "\n").sorted().joined(separator: " "))
        case "fail": FakeProgram().exit(1)
        default: .hanging
        }
      }
      let (sorted, elapsed) = try simulate(programs) {
        ProcessProcedure("list") | ProcessProcedure("sort")
      }
      #expect((try? sorted.output?.get().outputText) == "a b" && elapsed == .seconds(1))
      let (failing, _) = try simulate(programs) {
        ProcessProcedure("list") | ProcessProcedure("fail") | ProcessProcedure("hang")
      }
      let errors = failing.errors.compactMap { $0 as? ProcedureError }
      #expect((errors.first?.underlyingErrors.first as? ProcessError)?.program == "fail")
      #expect(errors.count == 1)
    }

    @Test("kill() and send(signal:) reach the program, as long as it runs")
    func signals() throws {
      let programs = FakePrograms(["a": FakeProgram().wait(.seconds(9)).ignoringTermination()])
      let simulation = ProcedureSimulation(seed: 1)
      let (killed, other) = (ProcessProcedure("a"), ProcessProcedure("a"))
      try simulation.run { simulation in
        let queue = simulation.makeQueue()
        queue.replacePrograms(with: programs)
        queue.add(killed)
        simulation.perform(after: .seconds(1)) { killed.send(signal: 10) }
        simulation.perform(after: .seconds(2)) { killed.send(signal: 15) }
        simulation.perform(after: .seconds(3)) { killed.kill() }
        simulation.perform(after: .seconds(4)) {
          killed.send(signal: 10)
          killed.kill()
          queue.add(other)
        }
      }
      #expect(programs.signals.map(\.number) == [10, 15, 9])
      #expect((killed.errors.first as? ProcessError)?.result?.exit == .signal(9))
      #expect(other.outcome?.isSuccess == true && simulation.elapsed == .seconds(13))
    }

    // MARK: Cancels

    @Test("I7: a cancel ends the program at any moment, and is no error of its own")
    func cancels() throws {
      let all: [FakeProgram] = [
        FakeProgram(), .missing, .hanging, FakeProgram.hanging.ignoringTermination(),
        FakeProgram().wait(.seconds(2)).exit(1),
        FakeProgram().wait(.seconds(2)).ignoringTermination(),
        FakeProgram.hanging.onTermination(FakeProgram().output("x").wait(.seconds(1)).output("y")),
      ]
      let ends = Recorder<Bool>()
      try ProcedureSimulation.explore(seeds: 0..<1_000) { simulation in
        let program = simulation.random(in: 0...6)
        let programs = FakePrograms { _ in all[program] }
        let queue = simulation.makeQueue()
        queue.replacePrograms(with: programs)
        let run = ProcessProcedure("a")
        queue.add(run)
        let delay = Duration.milliseconds(500 * simulation.random(in: 0...6))
        simulation.perform(after: delay) { run.cancel() }
        try simulation.run()
        if run.isCancelled {
          try simulation.expect(run.errors.isEmpty, "\(run.errors)")
          try simulation.expect(simulation.elapsed <= delay + .seconds(3), "the grace period")
        } else {
          try simulation.expect(programs.signals.isEmpty, "a signal")
          try simulation.expect(simulation.elapsed <= max(delay, .seconds(2)), "a timer is left")
        }
        ends.note(run.isCancelled)
      }
      #expect(Set(ends.events) == [true, false])
    }

    @Test("I7: one program of a pipeline, or all, may be cancelled at any moment")
    func cancelledPipelines() throws {
      try ProcedureSimulation.explore(seeds: 0..<500) { simulation in
        let programs = FakePrograms([
          "a": FakeProgram().output("x").wait(.seconds(2)), "b": FakeProgram().wait(.seconds(1)),
        ])
        let queue = simulation.makeQueue()
        queue.replacePrograms(with: programs)
        let (a, b) = (ProcessProcedure("a"), ProcessProcedure("b"))
        let both = a | b
        queue.add(both)
        let victim = [a, b, both][simulation.random(in: 0...2)]
        let delay = Duration.milliseconds(500 * simulation.random(in: 0...7))
        simulation.perform(after: delay) { victim.cancel() }
        try simulation.run()
        try simulation.expect(simulation.elapsed <= .milliseconds(3_500), "it takes long")
      }
    }

    // MARK: Other clocks

    @Test("I8: with a TestClock steps come when it is advanced, the grace period too")
    func testClock() async throws {
      let clock = TestClock()
      let queue = ProcedureQueue(clock: clock.clock)
      let programs = FakePrograms([
        "a": FakeProgram.hanging.ignoringTermination(), "b": FakeProgram(),
      ])
      queue.replacePrograms(with: programs)
      let run = ProcessProcedure("a")
      queue.add(run)
      while programs.runs.isEmpty { await Task.yield() }
      run.cancel()
      while clock.pendingCount == 0 { await Task.yield() }
      clock.advance(by: .seconds(3))
      try await run.finished(within: .seconds(1_000))
      #expect(run.result?.exit == .signal(9) && run.outcome?.isCancelled == true)
      #expect(try await queue.value(of: ProcessProcedure("b")).exit == .status(0))
    }

    @Test("on a queue of threads many programs run and are cancelled at once, and nothing is left")
    func threads() async throws {
      let live = LiveInstances()
      let programs = FakePrograms { run in
        run.number % 2 == 0 ? FakeProgram().output("x\n") : .hanging
      }
      do {
        let queue = ProcedureQueue()
        queue.replacePrograms(with: programs)
        let all = (0..<400).map { _ in live.track(ProcessProcedure("a")) }
        queue.add(all)
        for (place, run) in all.enumerated() where place % 3 == 0 { run.cancel() }
        while programs.runs.count < all.count(where: { !$0.isCancelled }) { await Task.yield() }
        queue.cancelAll()
        try await queue.allFinished(within: .seconds(1_000))
        for run in all { #expect(run.errors.isEmpty) }
      }
      try await live.allReleased(within: .seconds(1_000))
    }
  }
#endif
