#if os(macOS) || os(Linux)
  import Foundation
  import ProcedureTestSupport
  import Testing

  @testable import ProceduresProcess

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// What programs, and the code that hears of them, do to each other: nothing.
  @Suite("Programs, and the handlers of their output and end", .hangLimit)
  struct ProcessSupervisionTests: RunsPrograms {
    @Test("a handler that blocks keeps its program neither from being terminated nor killed")
    func blockedHandler() async throws {
      for isKilled in [false, true] {
        let release = DispatchSemaphore(value: 0)
        let (pieces, output) = AsyncStream.makeStream(of: Data.self)
        let (results, end) = AsyncStream.makeStream(of: Result<ProcessResult, ProcessError>.self)
        var configuration = shell(
          (isKilled ? "trap '' TERM; " : "") + "echo $$; sleep 600; sleep 600")
        configuration.terminationGracePeriod = .seconds(600)
        configuration.standardOutput = .streamed {
          output.yield($0)
          release.wait()
        }
        let child = ChildProcess(configuration) { end.yield($0) }
        child.start()
        var iterator = pieces.makeAsyncIterator()
        let text = String(decoding: try #require(await iterator.next()), as: UTF8.self)
        let group = ProcessGroup(identifier: try #require(pid_t(text.dropLast())))
        if isKilled { child.kill() } else { child.terminate() }
        // The time limit of the suite is for when it is not.
        while !group.isGone { try await Task.sleep(for: .milliseconds(10)) }
        release.signal()
        var ends = results.makeAsyncIterator()
        let exit = try #require(await ends.next()).get().exit
        #expect(exit == .signal(isKilled ? SIGKILL : SIGTERM))
      }
    }

    @Test("however many handlers block, other programs start, are read and end")
    func manyBlockedHandlers() async throws {
      let release = DispatchSemaphore(value: 0)
      let (ends, end) = AsyncStream.makeStream(of: Void.self)
      for _ in 0..<40 {
        var configuration = shell("echo x")
        configuration.standardOutput = .streamed { _ in release.wait() }
        ChildProcess(configuration) { _ in end.yield() }.start()
      }
      for _ in 0..<3 {
        let result = await run(shell("echo y"))
        #expect(try result.get().outputText == "y\n")
      }
      for _ in 0..<40 { release.signal() }
      var iterator = ends.makeAsyncIterator()
      for _ in 0..<40 { await iterator.next() }
    }

    @Test("a program inherits the environment as it is when it starts, with the changes to it")
    func environment() async throws {
      unsafe setenv("PROCEDURES_TEST_A", "early", 1)
      unsafe setenv("PROCEDURES_TEST_B", "b", 1)
      var configuration = shell("echo $PROCEDURES_TEST_A,$PROCEDURES_TEST_B,$PROCEDURES_TEST_C")
      configuration.environment["PROCEDURES_TEST_B"] = nil
      configuration.environment.set(["PROCEDURES_TEST_C": "é=c"])
      unsafe setenv("PROCEDURES_TEST_A", "late", 1)
      #expect(configuration.environment["PROCEDURES_TEST_A"] == "late")
      #expect(configuration.environment["PROCEDURES_TEST_B"] == nil)
      #expect(try await run(configuration).get().outputText == "late,,é=c\n")

      configuration.environment = ["PATH": "/usr/bin:/bin", "X": "1"]
      configuration.environment["X"] = nil
      #expect(configuration.environment == ["PATH": "/usr/bin:/bin"])
      configuration.arguments = ["-c", "env | grep -c -e PROCEDURES -e '^X='"]
      #expect(try await run(configuration).get().outputText == "0\n")
    }

    @Test(
      "an environment that no program can be given is an error that says so",
      arguments: [["": "x"], ["a=b": "x"], ["a\u{0}b": "x"], ["a": "x\u{0}"]])
    func impossibleEnvironment(variables: [String: String]) async throws {
      var configuration = shell("true")
      configuration.environment.set(variables)
      let result = await run(configuration)
      let error = #expect(throws: ProcessError.self) { try result.get() }
      #expect(error?.code == .notStarted)
      #expect(error?.description.contains("variable") == true)
    }

    @Test("a program has a session of its own, and so no terminal to wait for")
    func session() async throws {
      let text = try await run(shell("ps -o sid= -p $$; echo $$")).get().outputText
      let numbers = text.split(whereSeparator: \.isWhitespace)
      #expect(numbers.count == 2 && numbers[0] == numbers[1])
      let result = try await run(shell("read x < /dev/tty")).get()
      #expect(result.exit != .status(0))
    }

    #if os(Linux)
      @Test("a sleeping program that is to be ended anyway is not waited for")
      func sleepingDescendant() async throws {
        var configuration = shell("sleep 600 & echo x")
        configuration.outputGracePeriod = .seconds(600)
        configuration.endsDescendants = true
        #expect(try await run(configuration).get().outputText == "x\n")
      }

      @Test("a descendant that is about to write what it got from the program does so")
      func busyDescendant() async throws {
        var configuration = shell(
          "mkfifo $D/f; (sort < $D/f | cat) & seq 1 200000 > $D/f; rm $D/f; exit 0")
        let directory = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        configuration.environment["D"] = directory.path
        configuration.outputGracePeriod = .seconds(600)
        configuration.endsDescendants = true
        let lines = try await run(configuration).get().outputText.split(separator: "\n")
        #expect(lines.count == 200_000)
      }
    #endif

    /// In a process of its own: while a program has ended and is not reaped, the thread of Swift
    /// Testing that waits for such processes spins.
    @Test("the duration ends with the program, not with what it left running")
    func duration() async {
      await #expect(processExitsWith: .success) {
        let directory = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        // What it leaves reads the end of the pipe when the program has ended, and has the output
        // for five seconds more.
        let tests = ProcessSupervisionTests()
        var configuration = tests.shell(
          "mkfifo $D/f; { read x; sleep 5; } < $D/f & exec 3> $D/f; sleep 0.1")
        configuration.environment["D"] = directory.path
        configuration.outputGracePeriod = .seconds(600)
        let start = ContinuousClock.now
        let result = try await tests.run(configuration).get()
        precondition(result.duration >= .milliseconds(100))
        precondition(result.duration < start.duration(to: .now) - .seconds(1))
      }
    }

    @Test(
      "a start that the system refuses is tried again for a while, or as long as others may make room"
    )
    func patience() {
      var patience = PatienceWithSystem()
      var waited = Duration.zero
      while let delay = patience.next(after: EAGAIN, othersRun: false) { waited += delay }
      #expect(waited >= .seconds(2) && waited < .seconds(3))
      #expect(patience.next(after: EAGAIN, othersRun: true) != nil)
      #expect(patience.next(after: ETXTBSY, othersRun: true) == nil)
    }

    @Test("a signal has its name")
    func names() {
      #expect(ProcessExit.signal(SIGSEGV).description == "was ended by signal 11 (SIGSEGV)")
      #expect(ProcessExit.signal(60).description == "was ended by signal 60")
    }

    @Test("send() reaches the whole group, and no program that has ended")
    func send() async throws {
      let (pieces, output) = AsyncStream.makeStream(of: Data.self)
      let (results, end) = AsyncStream.makeStream(of: Result<ProcessResult, ProcessError>.self)
      var configuration = shell("trap 'echo got; exit 4' USR1; echo up; sleep 600 & wait")
      configuration.endsDescendants = true
      configuration.standardOutput = .streamed { output.yield($0) }
      let child = ChildProcess(configuration) { end.yield($0) }
      child.start()
      var iterator = pieces.makeAsyncIterator()
      _ = await iterator.next()
      child.send(SIGUSR1)
      var ends = results.makeAsyncIterator()
      #expect(try #require(await ends.next()).get().exit == .status(4))
      child.send(SIGKILL)
    }
  }
#endif
