#if os(macOS) || os(Linux)
  import Foundation
  import ProcedureTestSupport
  import Procedures
  import ProceduresProcess
  import Testing

  /// What the closure of an output gets of a program that is cancelled.
  @Suite("Output after a cancel", .hangLimit)
  struct CutShortTests {
    private let queue = ProcedureQueue(name: "programs")

    /// Runs `yes`, cancels it while `output` is called for the fifth time, and returns what
    /// followed.
    private func runUntilFifthCall(
      _ output: (_ note: @escaping @Sendable (Int) -> Void) -> ProcessOutput
    ) async -> [Int] {
      let (entered, cancelled, counts) = (Gate(), Gate(), Recorder<Int>())
      let yes = ProcessProcedure("yes")
      yes.configuration.standardOutput = output { count in
        counts.note(count)
        guard counts.events.count == 5 else { return }
        entered.open()
        cancelled.block()
      }
      yes.addDidCancelBlockObserver { _, _ in cancelled.open() }
      queue.add(yes)
      await entered.wait()
      yes.cancel()
      #expect(await yes.waitUntilFinished() == .cancelled([]))
      return Array(counts.events.dropFirst(5))
    }

    @Test("I7: after a cancel a hundred lines follow at most, however many were read")
    func lines() async {
      let after = await runUntilFifthCall { note in .lines { note($0.utf8.count) } }
      #expect(after.count <= 100)
    }

    @Test("I7: after a cancel one piece follows at most, of 64 KB at most")
    func pieces() async {
      let after = await runUntilFifthCall { note in .streamed { note($0.count) } }
      #expect(after.count <= 1 && after.allSatisfy { $0 <= 65_536 })
    }

    @Test("I7: the last words of a program that is cancelled are handed over", arguments: [1, 150])
    func lastWords(count: Int) async {
      let (ready, lines) = (Gate(), Recorder<String>())
      let program = ProcessProcedure(
        "/bin/sh",
        arguments: [
          "-c", "trap 'seq \(count); exit 0' TERM; echo ready; while :; do sleep 0.01; done",
        ])
      program.configuration.terminationGracePeriod = .seconds(1_000)
      program.configuration.standardOutput = .lines { line in
        lines.note(line)
        ready.open()
      }
      queue.add(program)
      await ready.wait()
      program.cancel()
      #expect(await program.waitUntilFinished() == .cancelled([]))
      let words = (1...count).map { "\($0)" }.suffix(100)
      #expect(lines.events == ["ready"] + words)
    }
  }
#endif
