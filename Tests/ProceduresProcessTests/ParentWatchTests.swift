#if os(macOS) || os(Linux)
  import Foundation
  import ProcedureTestSupport
  import Procedures
  import Testing

  @testable import ProceduresProcess

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  @Suite("Programs that end with this process", .serialized, .hangLimit)
  struct ParentWatchTests {
    private static func place(_ process: pid_t) -> URL {
      FileManager.default.temporaryDirectory.appending(path: "procedures-parent-\(process)")
    }

    /// Starts programs in a process that is killed, and returns their groups.
    private func groups(_ test: () async -> Void) async throws -> [ProcessGroup] {
      let place = Self.place(getpid())
      defer { try? FileManager.default.removeItem(at: place) }
      await test()
      return try String(contentsOf: place, encoding: .utf8).split(separator: " ").map {
        ProcessGroup(identifier: try #require(pid_t($0)))
      }
    }

    /// Starts one that ends and three that stay, and writes down what these are.
    private static func startAll(_ scripts: [String]) async throws {
      let queue = ProcedureQueue()
      let short = ProcessProcedure("true") { $0.endsWithThisProcess = true }
      queue.add(short)
      await short.waitUntilFinished()
      var groups: [String] = []
      for script in scripts {
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        let program = ProcessProcedure("/bin/sh", arguments: ["-c", script]) {
          $0.endsWithThisProcess = true
          $0.terminationGracePeriod = .seconds(1)
          $0.standardOutput = .lines { line.yield($0) }
        }
        queue.add(program)
        var iterator = lines.makeAsyncIterator()
        if let group = await iterator.next() { groups.append(group) }
      }
      try Data(groups.joined(separator: " ").utf8).write(to: place(getppid()))
    }

    private static let scripts = [
      "echo $$; sleep 600 & sleep 600", "trap '' TERM; echo $$; while :; do sleep 600; done",
    ]

    @Test("I7: when this process is killed, its programs end, also those that ignore SIGTERM")
    func killed() async throws {
      let groups = try await groups {
        await #expect(processExitsWith: .signal(SIGKILL)) {
          try await Self.startAll(Self.scripts)
          kill(getpid(), SIGKILL)
        }
      }
      #expect(groups.count == 2)
      // The time limit of the suite is for when they do not.
      for group in groups { while !group.isGone { try await Task.sleep(for: .milliseconds(20)) } }
    }

    @Test("I7: when this process exits, its programs end")
    func exits() async throws {
      let groups = try await groups {
        await #expect(processExitsWith: .exitCode(7)) {
          try await Self.startAll(Self.scripts)
          exit(7)
        }
      }
      for group in groups { while !group.isGone { try await Task.sleep(for: .milliseconds(20)) } }
    }

    @Test("I7: a killed watch is replaced, and the new one knows the programs that run")
    func replaced() async throws {
      let groups = try await groups {
        await #expect(processExitsWith: .signal(SIGKILL)) {
          try await Self.startAll([Self.scripts[0]])
          kill(ParentWatch.shared.watchIdentifier, SIGKILL)
          let queue = ProcedureQueue()
          // The system may take a moment to close the pipe of a killed process.
          let first = ParentWatch.shared.watchIdentifier
          while ParentWatch.shared.watchIdentifier == first {
            _ = await queue.run(ProcessProcedure("true") { $0.endsWithThisProcess = true })
          }
          kill(getpid(), SIGKILL)
        }
      }
      #expect(groups.count == 1)
      for group in groups { while !group.isGone { try await Task.sleep(for: .milliseconds(20)) } }
    }

    @Test("I7: a program that has ended, or is cancelled, is of no concern to the watch any more")
    func ended() async throws {
      await #expect(processExitsWith: .exitCode(0)) {
        let queue = ProcedureQueue()
        _ = await queue.run(ProcessProcedure("true") { $0.endsWithThisProcess = true })
        let sleeper = ProcessProcedure("sleep", arguments: ["600"]) {
          $0.endsWithThisProcess = true
        }
        queue.add(sleeper)
        while sleeper.processIdentifier == nil { await Task.yield() }
        guard ParentWatch.shared.groupCount == 1 else { exit(2) }
        sleeper.cancel()
        await sleeper.waitUntilFinished()
        _ = await queue.run(ProcessProcedure("true") { _ in })
        exit(ParentWatch.shared.groupCount == 0 ? 0 : 1)
      }
    }
  }
#endif
