#if os(macOS) || os(Linux)
  import Foundation
  import Procedures
  import ProcedureTestSupport
  import Testing

  @testable import ProceduresProcess

  /// The time limits are for what would hang, not for slow machines; programs that are to be ended
  /// sleep longer than that.
  @Suite("A process procedure", .hangLimit)
  struct ProcessProcedureTests {
    private let queue = ProcedureQueue(name: "processes")

    @Test("a process procedure finishes with the result of its program")
    func success() async {
      let echo = ProcessProcedure("echo", arguments: ["hello"])
      let outcome = await queue.run(echo)
      guard case .succeeded = outcome else { return #expect(Bool(false), "\(outcome)") }
      #expect(echo.result?.exit == .status(0))
      #expect(echo.result?.outputText == "hello\n")
      let text = echo.result.map { "\($0)" } ?? ""
      #expect(text.hasPrefix("exited with status 0 after "))
      #expect(text.hasSuffix(", with 6 bytes of output"))
      #expect(echo.processIdentifier == nil)
      // Arguments may be secret, and names go into logs.
      #expect(echo.name == "echo" && !"\(echo)".contains("hello"))
    }

    @Test("an exit status that is no success is an error that names program and status")
    func failure() async throws {
      let procedure = shell("echo partial; exit 4")
      let error = try await #require(processError(procedure))
      #expect(error.code == .unsuccessful && "\(error.code)" == "unsuccessful")
      #expect(error.description == "'/bin/sh' exited with status 4")
      #expect(error.result?.outputText == "partial\n")
      #expect(procedure.result?.exit == .status(4))
    }

    @Test("the error has the end of standard error, and not the arguments")
    func errorText() async throws {
      let short = shell("echo 'no such file' >&2; echo out; exit 3")
      let error = try await #require(processError(short))
      #expect(error.errorText == "no such file")
      #expect(error.description == "'/bin/sh' exited with status 3: no such file")
      let long = shell(
        "i=0; while [ $i -lt 3000 ]; do echo \"line $i\" >&2; i=$((i+1)); done; exit 3")
      let text = try await #require(processError(long)).errorText
      #expect(text.hasPrefix("…line 2") && text.hasSuffix("\nline 2999"))
      #expect(text.utf8.count <= 1_010)
      #expect(long.result?.errorText.hasPrefix("line 0\n") == true)
    }

    @Test(
      "the error has the end of standard error however that is taken; without it the error is short"
    )
    func errorTextOfStreams() async throws {
      func error(
        _ script: String, _ configure: (inout ProcessConfiguration) -> Void
      ) async throws -> ProcessError {
        try await #require(
          processError(
            ProcessProcedure("/bin/sh", arguments: ["-c", script], configure: configure)))
      }
      let fails = "echo first; echo wrong >&2; exit 1"
      let streamed = try await error(fails) { $0.standardError = .streamed { _ in } }
      #expect(streamed.errorText == "wrong")
      let merged = try await error(fails) { $0.mergesStandardError = true }
      #expect(merged.errorText == "first\nwrong")
      let discarded = try await error(fails) { $0.standardError = .discarded }
      #expect(
        discarded.description == "'/bin/sh' exited with status 1" && discarded.errorText == "")
      let oneLine = try await error("head -c 5000 /dev/zero | tr '\\0' x >&2; printf é >&2; exit 1")
      {
        _ in
      }
      #expect(oneLine.errorText.hasPrefix("…xxx") && oneLine.errorText.hasSuffix("xé"))
    }

    @Test("the caller decides which statuses are success")
    func successStatuses() async {
      let grep = ProcessProcedure("grep", arguments: ["x"]) { $0.successStatuses = [0, 1] }
      guard case .succeeded = await queue.run(grep) else { return #expect(Bool(false)) }
      #expect(grep.result?.exit == .status(1))
    }

    @Test("an end by a signal that no cancel sent is an error")
    func signalled() async throws {
      let error = try await #require(processError(shell("kill -9 $$")))
      #expect(error.description == "'/bin/sh' was ended by signal 9 (SIGKILL)")
    }

    @Test("a program that does not exist is an error that names it")
    func missing() async throws {
      let procedure = ProcessProcedure("no-such-program")
      let error = try await #require(processError(procedure))
      #expect(error.code == .programNotFound)
      #expect(error.description.contains("'no-such-program'"))
      #expect(procedure.result == nil)
    }

    @Test("a mark behind a slash or a colon makes no other letter of it")
    func marks() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
      let mark = "\u{301}"
      try FileManager.default.createDirectory(
        at: folder.appending(path: "d"), withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let path = folder.path + "/\(mark)echo"
      _ = await queue.run(ProcessProcedure("ln", arguments: ["-s", "/bin/echo", path]))
      func procedure(_ program: String, searching: String? = nil) -> ProcessProcedure {
        ProcessProcedure(program, arguments: ["x"]) { configuration in
          configuration.directory = folder.path + "/d"
          configuration.standardOutput = .file(folder.path + "/\(mark)out", appending: true)
          if let searching { configuration.environment["PATH"] = searching }
        }
      }
      for procedure in [
        procedure("../\(mark)echo"), procedure(path),
        procedure("\(mark)echo", searching: "/\(mark)no:..:\(mark)no"),
      ] {
        guard case .succeeded = await queue.run(procedure) else {
          Issue.record("\(procedure.errors)")
          continue
        }
      }
      let output = folder.path + "/\(mark)out"
      #expect(try String(contentsOfFile: output, encoding: .utf8) == "x\nx\nx\n")
    }

    @Test("a cancelled process procedure finishes cancelled when its program is gone")
    func cancel() async throws {
      let procedure = sleeper()
      let outcome = await run(procedure) { $0.cancel(withErrors: [Mark()]) }
      guard case .cancelled(let errors) = outcome else {
        return #expect(Bool(false), "\(outcome)")
      }
      #expect(errors.count == 1 && errors.first is Mark)
      #expect(procedure.result?.exit == .signal(15))
    }

    @Test("a token cancels a process procedure")
    func token() async {
      let source = CancellationTokenSource()
      let procedure = sleeper()
      procedure.cancel(when: source.token)
      let outcome = await run(procedure) { _ in source.cancel() }
      guard case .cancelled = outcome else { return #expect(Bool(false), "\(outcome)") }
    }

    @Test("a timeout ends the program, and is the error")
    func timeout() async throws {
      let clock = TestClock()
      let procedure = sleeper()
      procedure.add(observer: TimeoutObserver(by: .seconds(1)))
      let outcome = await run(procedure, on: ProcedureQueue(clock: clock.clock)) { _ in
        clock.advance(by: .seconds(1))
      }
      let error = outcome.errors.first as? ProcedureError
      #expect(outcome.isCancelled && error?.code == .timedOut && error?.duration == .seconds(1))
      #expect(procedure.result?.exit == .signal(15))
    }

    @Test("no program runs if the procedure was cancelled before its start")
    func cancelledBefore() async {
      let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
      let procedure = ProcessProcedure("touch", arguments: [file.path])
      procedure.cancel()
      guard case .cancelled = await queue.run(procedure) else { return #expect(Bool(false)) }
      #expect(!FileManager.default.fileExists(atPath: file.path))
      #expect(procedure.result == nil)
    }

    @Test("a killed program is not given the grace period")
    func kill() async {
      let procedure = sleeper("trap '' TERM; echo; sleep 600; sleep 600") {
        $0.terminationGracePeriod = .seconds(600)
      }
      let outcome = await run(procedure) { procedure in
        procedure.cancel()
        procedure.kill()
      }
      guard case .cancelled = outcome else { return #expect(Bool(false), "\(outcome)") }
      #expect(procedure.result?.exit == .signal(9))
    }

    @Test("a cancel at any moment around the start leaves no process and no unfinished procedure")
    func cancelRaces() async throws {
      for round in 0..<200 {
        let procedure = shell("sleep 600; :")
        let seen = Slot<Int32>()
        procedure.addDidCancelBlockObserver { procedure, _ in
          seen.value = procedure.processIdentifier
        }
        queue.add(procedure)
        for _ in 0..<(round * 20) { _ = procedure.isCancelled }
        procedure.cancel()
        guard case .cancelled = await procedure.waitUntilFinished() else {
          return #expect(Bool(false), "round \(round)")
        }
        if let identifier = seen.value { #expect(ProcessGroup(identifier: identifier).isGone) }
      }
    }

    @Test("a hundred programs run at once on one queue")
    func many() async {
      let procedures = (0..<100).map { shell("echo \($0); cat > /dev/null") }
      for procedure in procedures { queue.add(procedure) }
      await queue.waitUntilAllFinished()
      for (index, procedure) in procedures.enumerated() {
        #expect(procedure.outcome == .succeeded)
        #expect(procedure.result?.outputText == "\(index)\n")
      }
    }

    private struct Mark: Error {}

    /// A program that says when it is there.
    private final class Sleeper: ProcessProcedure, @unchecked Sendable {
      let isThere: Gate

      override init(_ configuration: ProcessConfiguration) {
        let isThere = Gate()
        self.isThere = isThere
        var configuration = configuration
        configuration.standardOutput = .streamed { _ in isThere.open() }
        super.init(configuration)
        addDidFinishBlockObserver { _, _ in isThere.open() }
      }
    }

    private func shell(_ script: String) -> ProcessProcedure {
      ProcessProcedure("/bin/sh", arguments: ["-c", script])
    }

    /// Says that it is there, and sleeps for longer than a test may take.
    private func sleeper(
      _ script: String = "echo; sleep 600; :",
      configure: (inout ProcessConfiguration) -> Void = { _ in }
    ) -> Sleeper {
      var configuration = ProcessConfiguration(program: "/bin/sh", arguments: ["-c", script])
      configure(&configuration)
      return Sleeper(configuration)
    }

    private func processError(_ procedure: ProcessProcedure) async -> ProcessError? {
      guard case .failed(let errors) = await queue.run(procedure) else { return nil }
      return errors.first as? ProcessError
    }

    /// Runs a procedure and acts on it once its program has written something.
    private func run(
      _ sleeper: Sleeper, on queue: ProcedureQueue? = nil,
      act: @escaping @Sendable (ProcessProcedure) -> Void
    ) async -> ProcedureOutcome {
      (queue ?? self.queue).add(sleeper)
      await sleeper.isThere.wait()
      act(sleeper)
      return await sleeper.waitUntilFinished()
    }
  }
#endif
