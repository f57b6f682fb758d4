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

  /// The time limits are for what would hang, not for slow machines; programs that are to be ended
  /// sleep longer than that.
  @Suite("A child process", .hangLimit)
  struct ChildProcessTests: RunsPrograms {
    @Test("standard output and standard error are captured apart")
    func capture() async throws {
      let result = try await run(shell("echo out; echo err >&2; exit 3")).get()
      #expect(result.exit == .status(3))
      #expect(result.outputText == "out\n")
      #expect(result.errorText == "err\n")
    }

    @Test("standard error is merged into standard output in the order written")
    func merge() async throws {
      var configuration = shell("echo 1; echo 2 >&2; echo 3")
      configuration.mergesStandardError = true
      let result = try await run(configuration).get()
      #expect(result.outputText == "1\n2\n3\n")
      #expect(result.errorOutput.isEmpty)
    }

    @Test("more input and output pass than any pipe holds, both ways at once")
    func fullPipes() async throws {
      let data = Data.pattern(1_000_000)
      var configuration = shell("cat; cat /dev/zero | head -c 300000 >&2")
      configuration.standardInput = .data(data)
      let result = try await run(configuration).get()
      #expect(result.output == data)
      #expect(result.errorOutput.count == 300_000)
    }

    @Test("a program that ignores large input ends, and no SIGPIPE ends this process")
    func ignoredInput() async throws {
      var configuration = shell("exec 0<&-; echo done")
      configuration.standardInput = .data(Data(count: 1_000_000))
      for _ in 0..<20 {
        #expect(try await run(configuration).get().outputText == "done\n")
      }
    }

    @Test("a program without input reads the end of the file at once")
    func noInput() async throws {
      #expect(try await run(shell("cat; echo end")).get().outputText == "end\n")
    }

    @Test("the last bytes of captured output are kept, and the others are counted")
    func capturedLimit() async throws {
      #expect(ProcessConfiguration(program: "x").mostCapturedBytes == 16 << 20)
      var configuration = shell(
        "yes | head -c 3000000; printf end; yes | head -c 300000 >&2; printf wrong >&2")
      configuration.mostCapturedBytes = 100_000
      let result = try await run(configuration).get()
      #expect(result.output.count == 100_000 && result.outputText.hasSuffix("y\nend"))
      #expect(result.errorOutput.count == 100_000 && result.errorText.hasSuffix("y\nwrong"))
      #expect(result.droppedByteCount == 2_900_003 + 200_005)
      #expect(result.description.hasSuffix("and 3100008 bytes before that not kept"))
      configuration.mostCapturedBytes = -1
      let none = try await run(configuration).get()
      #expect(none.output.isEmpty && none.droppedByteCount == 3_300_008)
    }

    @Test("output is handed over line by line, the last line too, and a long one in several pieces")
    func lines() async throws {
      func lines(_ script: String) async throws -> [String] {
        let lines = Recorder<String>()
        var configuration = shell(script)
        configuration.standardOutput = .lines { lines.note($0) }
        #expect(try await run(configuration).get().output.isEmpty)
        return lines.events
      }
      #expect(try await lines("printf 'a\\r\\nb\\n\\nc'") == ["a", "b", "", "c"])
      #expect(try await lines("printf 'a\\n'") == ["a"])
      #expect(try await lines("exit 0") == [])
      let count = 100_000
      let many = try await lines("seq \(count)")
      #expect(many.count == count && many.last == "\(count)" && many.first == "1")
      let long = try await lines("head -c 200000 /dev/zero | tr '\\0' x; printf 'é\\nend'")
      #expect(long.dropLast().joined().count == 200_001 && long.last == "end")
      #expect(long.allSatisfy { $0.utf8.count <= 65_536 } && long.count == 5)
    }

    @Test("discarded output does not hold the program up")
    func discarded() async throws {
      var configuration = shell("head -c 1000000 /dev/zero; echo x >&2")
      configuration.standardOutput = .discarded
      let result = try await run(configuration).get()
      #expect(result.exit == .status(0))
      #expect(result.output.isEmpty)
      #expect(result.errorText == "x\n")
    }

    @Test("streamed output comes in order, and none of it is kept")
    func streamed() async throws {
      let (pieces, continuation) = AsyncStream.makeStream(of: Data.self)
      var configuration = shell("for i in 1 2 3 4 5; do echo $i; done")
      configuration.standardOutput = .streamed { continuation.yield($0) }
      let result = try await run(configuration).get()
      continuation.finish()
      var all = Data()
      for await piece in pieces { all += piece }
      #expect(String(decoding: all, as: UTF8.self) == "1\n2\n3\n4\n5\n")
      #expect(result.output.isEmpty)
    }

    @Test("a program has the environment, the directory and the arguments it was given")
    func surroundings() async throws {
      var configuration = ProcessConfiguration(
        program: "sh", arguments: ["-c", "pwd; echo $A; echo \"$1\"", "sh", "two words"])
      configuration.environment = ["A": "é", "PATH": "/usr/bin:/bin"]
      configuration.directory = "/usr/bin/.."
      let text = try await run(configuration).get().outputText
      #expect(text == "/usr\né\ntwo words\n")
    }

    @Test("a program is in a group of its own, with default signals and no foreign file descriptor")
    func surroundingsAreClean() async throws {
      let leaked = unsafe open("/dev/null", O_RDONLY)
      defer { close(leaked) }
      let script = "ps -o pgid= -p $$ | tr -d ' '; echo $$; ls /dev/fd | tr '\\n' ' '"
      let lines = try await run(shell(script)).get().outputText.split(separator: "\n")
      #expect(lines[0] == lines[1])
      #expect(lines[0] != "\(getpgrp())")
      // 3 is the directory that `ls` reads.
      #expect(lines[2].split(separator: " ") == ["0", "1", "2", "3"])
    }

    @Test("a program that was ended by a signal says by which")
    func signalled() async throws {
      #expect(try await run(shell("kill -9 $$")).get().exit == .signal(9))
      #expect(ProcessExit.signal(9).description == "was ended by signal 9 (SIGKILL)")
    }

    @Test(
      "a program that cannot be run is an error that names it",
      arguments: [
        ("no-such-program", nil, ProcessError.Code.programNotFound, "no program 'no-such-program'"),
        ("/no/such/file", nil, .programNotFound, "no program '/no/such/file'"),
        ("", nil, .programNotFound, "no program ''"),
        ("/etc/passwd", nil, .notExecutable, "'/etc/passwd' is not executable"),
        ("/etc", nil, .notExecutable, "'/etc' is a directory"),
        ("/bin/sh", "/no/such/dir", .directoryNotFound, "directory '/no/such/dir'"),
        ("/bin/sh", "/etc/passwd", .directoryNotFound, "is not a directory"),
        ("/bin/sh", "/tmp\u{0}/x", .directoryNotFound, "has a zero byte in its path"),
        ("a\u{0}b", nil, .programNotFound, "no program"),
      ] as [(String, String?, ProcessError.Code, String)])
    func cannotRun(
      program: String, directory: String?, code: ProcessError.Code, text: String
    ) async throws {
      var configuration = ProcessConfiguration(program: program)
      configuration.directory = directory
      let error = await #expect(throws: ProcessError.self) { try await run(configuration).get() }
      #expect(error?.code == code)
      #expect(code ~= error! && !(code ~= CancellationError()))
      #expect(error?.program == program)
      #expect(error?.description.contains(text) == true, "\(String(describing: error))")
    }

    @Test("a file with a zero byte in its path is refused, and none with the part before is made")
    func zeroByteInFile() async throws {
      let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path
      var output = ProcessConfiguration(program: "/bin/echo", arguments: ["x"])
      output.standardOutput = .file("\(path)\u{0}.log")
      var input = ProcessConfiguration(program: "/bin/cat")
      input.standardInput = .file("/etc/passwd\u{0}.txt")
      for configuration in [output, input] {
        let error = await #expect(throws: ProcessError.self) { try await run(configuration).get() }
        #expect(error?.code == .fileNotOpened, "\(String(describing: error))")
        #expect(
          error?.description.contains("its path has a zero byte") == true,
          "\(String(describing: error))")
      }
      #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a script whose interpreter is missing is an error that says so")
    func missingInterpreter() async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).sh")
      defer { try? FileManager.default.removeItem(at: file) }
      // Written by a program: a file that this process has open for writing is busy, also for a
      // moment after, in what another test is just starting.
      let write = "echo '#!/no/such/interpreter' > '\(file.path)'; chmod 755 '\(file.path)'"
      _ = try await run(shell(write)).get()
      let result = await run(ProcessConfiguration(program: file.path))
      let error = #expect(throws: ProcessError.self) { try result.get() }
      #expect(
        error?.description.contains("interpreter") == true, "\(String(describing: error))")
    }

    @Test("a descendant that keeps the pipe open does not hold up the end")
    func descendantKeepsPipe() async throws {
      var configuration = shell("sleep 600 & echo $!")
      configuration.outputGracePeriod = .milliseconds(50)
      let result = try await run(configuration).get()
      let descendant = try #require(pid_t(result.outputText.dropLast()))
      // Left alone, as a shell would: it is there to be killed.
      #expect(kill(descendant, SIGKILL) == 0)
    }

    @Test("processes that the program left behind are ended when asked to")
    func endsDescendants() async throws {
      #if os(Linux)
        // Until it is `sleep`, and not the copy of the shell that it begins as.
        let isThere = "until grep -qa ^sleep /proc/$!/cmdline; do :; done;"
      #else
        let isThere = ""
      #endif
      var configuration = shell("sleep 600 & \(isThere) echo $$")
      configuration.outputGracePeriod = .milliseconds(50)
      configuration.endsDescendants = true
      let result = try await run(configuration).get()
      #expect(result.exit == .status(0))
      let group = try #require(pid_t(result.outputText.dropLast()))
      #expect(isGone(group: group))
      #if os(Linux)
        let ended = try #require(result.endedDescendants)
        #expect(ended.count == 1 && ended[0].hasPrefix("sleep 600 (process "))
      #endif
    }

    @Test("no process is named where none was left behind, or it is left alone")
    func endsNoDescendants() async throws {
      for (script, ends) in [("true | true", true), ("sleep 600 & echo $!", false)] {
        var configuration = shell(script)
        configuration.outputGracePeriod = .milliseconds(50)
        configuration.endsDescendants = ends
        let result = try await run(configuration).get()
        #expect(result.endedDescendants == nil)
        if let left = pid_t(result.outputText.dropLast()) { kill(left, SIGKILL) }
      }
    }

    @Test("terminate reaches the whole group; a program may clean up")
    func terminate() async throws {
      // A process that a shell has just forked loses a SIGTERM that the shell has a trap for.
      var configuration = shell("sleep 600 & trap 'echo bye; exit 7' TERM; echo $$; wait")
      configuration.terminationGracePeriod = .seconds(1_000)
      let result = try await run(configuration, afterFirstOutput: { $0.terminate() })
      #expect(result.exit == .status(7))
      let lines = result.outputText.split(separator: "\n")
      #expect(lines.last == "bye")
      #expect(isGone(group: try #require(pid_t(lines[0]))))
    }

    @Test("a descendant that outlives the program after terminate gets the grace period too")
    func terminateDescendant() async throws {
      // The shell ends at once by SIGTERM, the inner one takes 0.2 s to clean up.
      var configuration = shell(
        "sh -c 'sleep 600 & trap \"sleep 0.2; echo cleaned; exit\" TERM; echo $$; wait'; :")
      configuration.terminationGracePeriod = .seconds(1_000)
      let result = try await run(configuration, afterFirstOutput: { $0.terminate() })
      #expect(result.exit == .signal(SIGTERM))
      #expect(result.outputText.hasSuffix("cleaned\n"))
    }

    @Test("a group that ignores SIGTERM gets SIGKILL after the grace period")
    func escalation() async throws {
      var configuration = shell(
        "trap '' TERM; (trap '' TERM; sleep 600) & echo $$; wait; sleep 600")
      configuration.terminationGracePeriod = .milliseconds(100)
      let result = try await run(configuration, afterFirstOutput: { $0.terminate() })
      #expect(result.exit == .signal(SIGKILL))
      #expect(isGone(group: try #require(pid_t(result.outputText.dropLast()))))
    }

    @Test("kill ends everything without a grace period")
    func killNow() async throws {
      var configuration = shell("trap '' TERM; echo $$; sleep 600; sleep 600")
      configuration.terminationGracePeriod = .seconds(600)
      let result = try await run(
        configuration,
        afterFirstOutput: { child in
          child.terminate()
          child.kill()
        })
      #expect(result.exit == .signal(SIGKILL))
      #expect(isGone(group: try #require(pid_t(result.outputText.dropLast()))))
    }

    @Test("a stopped program is terminated as well")
    func stopped() async throws {
      let result = try await run(
        shell("echo $$; kill -STOP $$; sleep 600"), afterFirstOutput: { $0.terminate() })
      #expect(result.exit == .signal(SIGTERM))
    }

    @Test("no file descriptor is left open")
    func descriptors() async {
      // In a process of its own: other tests have programs running too.
      await #expect(processExitsWith: .success) {
        let tests = ChildProcessTests()
        var configuration = tests.shell("cat")
        configuration.standardInput = .text("x")
        _ = try await tests.run(configuration).get()
        let before = ChildProcessTests.lowestFreeDescriptor
        for _ in 0..<50 { _ = try await tests.run(configuration).get() }
        precondition(ChildProcessTests.lowestFreeDescriptor <= before, "some of \(before) are left")
      }
    }

    private static var lowestFreeDescriptor: Int32 {
      let descriptor = unsafe open("/dev/null", O_RDONLY)
      close(descriptor)
      return descriptor
    }

    private func isGone(group: pid_t) -> Bool { ProcessGroup(identifier: group).isGone }

    /// Runs a program and acts on it as soon as it wrote something; the result has all output.
    private func run(
      _ configuration: ProcessConfiguration,
      afterFirstOutput act: @escaping @Sendable (ChildProcess) -> Void
    ) async throws -> ProcessResult {
      let (pieces, output) = AsyncStream.makeStream(of: Data.self)
      let (ends, end) = AsyncStream.makeStream(of: Result<ProcessResult, ProcessError>.self)
      var configuration = configuration
      configuration.standardOutput = .streamed { output.yield($0) }
      let child = ChildProcess(configuration) { result in
        end.yield(result)
        end.finish()
        output.finish()
      }
      child.start()
      var all = Data()
      var iterator = pieces.makeAsyncIterator()
      if let first = await iterator.next() {
        all += first
        act(child)
      }
      while let piece = await iterator.next() { all += piece }
      var results = ends.makeAsyncIterator()
      let result = try #require(await results.next()).get()
      return ProcessResult(
        exit: result.exit, output: all, errorOutput: result.errorOutput, duration: result.duration)
    }
  }
#endif
