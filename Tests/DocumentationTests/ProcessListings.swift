#if os(macOS) || os(Linux)
  import Foundation
  import ProceduresFakes
  import ProceduresProcess
  import ProceduresTesting
  import ProcedureTestSupport
  import Testing

  @Suite("Listings of the guide Processes", .hangLimit)
  struct ProcessListings {
    private let queue = ProcedureQueue()
    private let output = Recorder<String>()

    private func print(_ line: String) { output.note(line) }

    @Test func running() async throws {
      // listing: process-run
      let list = ProcessProcedure("ls", arguments: ["-d", "/"])
      queue.add(list)
      print(try await list.value.outputText)
      // end
      #expect(output.events == ["/\n"])
    }

    @Test func failing() async throws {
      // listing: process-errors
      let check = ProcessProcedure("sh", arguments: ["-c", "echo 'no such key' >&2; exit 3"])
      do {
        _ = try await queue.value(of: check)
      } catch let error as ProcessError {
        print("\(error)")
        print(error.errorText)
      }
      // end
      #expect(output.events == ["'sh' exited with status 3: no such key", "no such key"])
    }

    @Test func configuring() async throws {
      // listing: process-configure
      let build = ProcessProcedure("env") {
        $0.environment["LANG"] = "C"  // as this process has it, but for that
        $0.environment["DEBUG"] = nil  // without it
        $0.directory = "/tmp"
        $0.terminationGracePeriod = .seconds(10)
      }
      build.timeout(after: .seconds(60))
      // end
      queue.add(build)
      #expect(try await build.value.outputText.contains("LANG=C\n"))
    }

    @Test func dialog() async {
      // listing: process-input
      let input = ProcessInputStream()
      let echo = ProcessProcedure("cat") {
        $0.standardInput = .stream(input)
        $0.standardOutput = .lines { line in print(line) }
      }
      queue.add(echo)
      input.write("one\n")
      input.write("two\n")
      input.end()
      // end
      await echo.waitUntilFinished()
      #expect(output.events == ["one", "two"])
    }

    @Test func values() async throws {
      // listing: process-values
      let names = ResultProcedure { ["b", "a", "c"] }
      let sort = ProcessProcedure("sort")
        .injectResult(from: names) { .text($0.joined(separator: "\n") + "\n") }
      let show = ProcessProcedure("printf", arguments: ["%s and "])
        .injectArguments(from: names) { $0 }
      queue.add(names, sort, show)
      print(try await sort.value.outputText)
      print(try await show.value.outputText)
      // end
      #expect(output.events == ["a\nb\nc\n", "b and a and c and "])
    }

    @Test func pipelines() async throws {
      // listing: process-pipeline
      let count =
        ProcessProcedure("printf", arguments: ["b\na\nb\n"])
        | ProcessProcedure("sort")
        | ProcessProcedure("uniq")
      queue.add(count)
      print(try await count.value.outputText)
      // end
      #expect(output.events == ["a\nb\n"])
    }

    @Test func testing() throws {
      // listing: process-test
      let programs = FakePrograms(["gzip": .hanging.ignoringTermination()])
      let compress = ProcessProcedure("gzip", arguments: ["data.csv"])
      compress.timeout(after: .seconds(60))
      let simulation = ProcedureSimulation(seed: 1)
      try simulation.run { simulation in
        let queue = simulation.makeQueue()
        queue.replacePrograms(with: programs)
        queue.add(compress)
      }
      print("\(programs.signals.map(\.number)) until \(simulation.elapsed)")
      // end
      #expect(output.events == ["[15, 9] until 63.0 seconds"])
    }

    @Test func files() async throws {
      let directory = FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: directory) }
      // listing: process-files
      let write = ProcessProcedure("echo", arguments: ["one"]) {
        $0.directory = directory
        $0.standardOutput = .file("log", appending: true)
      }
      let read = ProcessProcedure("cat") {
        $0.directory = directory
        $0.standardInput = .file("log")
        $0.standardOutput = .lines { line in print("log: \(line)") }
      }
      read.add(dependency: write, requiring: .success)
      queue.add(write, read)
      // end
      await queue.waitUntilAllFinished()
      #expect(output.events == ["log: one"])
    }
  }
#endif
