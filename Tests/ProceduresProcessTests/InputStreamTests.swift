#if os(macOS) || os(Linux)
  import Foundation
  import ProcedureTestSupport
  import Procedures
  import ProceduresProcess
  import Testing

  @Suite("Input that is written while a program runs", .hangLimit)
  struct InputStreamTests {
    private let queue = ProcedureQueue(name: "programs")

    private func shell(_ script: String, _ input: ProcessInputStream) -> ProcessProcedure {
      ProcessProcedure("/bin/sh", arguments: ["-c", script]) { $0.standardInput = .stream(input) }
    }

    @Test("I7: a program answers what is written while it runs, and meets the end after end()")
    func dialog() async {
      let input = ProcessInputStream()
      let (lines, answers) = AsyncStream.makeStream(of: String.self)
      let program = shell("while read line; do echo got $line; done; echo end", input)
      program.configuration.standardOutput = .lines { answers.yield($0) }
      queue.add(program)
      var iterator = lines.makeAsyncIterator()
      for word in ["one", "two", "three"] {
        #expect(input.write("\(word)\n"))
        #expect(await iterator.next() == "got \(word)")
      }
      input.end()
      input.end()
      #expect(await iterator.next() == "end")
      #expect(await program.waitUntilFinished() == .succeeded)
      #expect(!input.write("late"))
    }

    @Test("I7: input that was written before the start, and much more, arrives whole and in order")
    func order() async throws {
      let input = ProcessInputStream()
      let piece = Data.pattern(100_003)
      var all = Data()
      for count in 0..<50 {
        input.write(piece.prefix(count * 1_000))
        all += piece.prefix(count * 1_000)
      }
      #expect(input.unwrittenByteCount == all.count)
      let cat = shell("cat", input)
      queue.add(cat)
      for _ in 0..<50 {
        input.write(piece)
        all += piece
        #expect(await input.waitUntilWritten())
        #expect(input.unwrittenByteCount == 0)
      }
      input.end()
      #expect(try await cat.value.output == all)
    }

    @Test("I7: bytes that a program does not take are waited for until it, or the task, ends")
    func untaken() async {
      let input = ProcessInputStream()
      input.write(Data(count: 1_000_000))
      let sleeper = shell("sleep 600", input)
      let waiting = Task { await input.waitUntilWritten() }
      let cancelled = Task { await input.waitUntilWritten() }
      cancelled.cancel()
      #expect(await !cancelled.value)
      queue.add(sleeper)
      while input.unwrittenByteCount == 1_000_000 { await Task.yield() }
      sleeper.cancel()
      #expect(await !waiting.value)
      #expect(await sleeper.waitUntilFinished() == .cancelled([]))
      #expect(!input.write("late") && input.unwrittenByteCount == 0)
      #expect(await !input.waitUntilWritten())
    }

    @Test("I7: nothing waits for the input of a program that never ran")
    func neverRan() async {
      let (input, other) = (ProcessInputStream(), ProcessInputStream())
      let program = shell("cat", input)
      input.write("x")
      let waiting = Task { await input.waitUntilWritten() }
      program.cancel()
      queue.add(program)
      #expect(await !waiting.value)
      #expect(await program.waitUntilFinished() == .cancelled([]))
      other.write("x")
      let missing = ProcessProcedure("no-such-program") { $0.standardInput = .stream(other) }
      queue.add(missing)
      #expect(await missing.waitUntilFinished().isFailure)
      #expect(await !other.waitUntilWritten())
      #expect(!input.write("y") && !other.write("y"))
    }

    @Test("I7: a wait for input ends when the procedure that has the stream is released")
    func released() async {
      let (input, injected, other) = (
        ProcessInputStream(), ProcessInputStream(), ProcessInputStream()
      )
      for stream in [input, injected, other] { stream.write("x") }
      let waiting = Task { await input.waitUntilWritten() }
      do {
        let program = shell("cat", input)
        program.input = .stream(injected)
        let pipeline = ProcessPipeline(shell("cat", ProcessInputStream()))
        pipeline.input = .stream(other)
        // Cancelled, but on no queue.
        program.cancel()
      }
      #expect(await !waiting.value)
      for stream in [input, injected, other] { #expect(await !stream.waitUntilWritten()) }
    }

    @Test("I7: a stream whose procedure was released may go to another one, with all its bytes")
    func givenOn() async throws {
      let input = ProcessInputStream()
      input.write("a")
      _ = shell("cat", input)
      input.write("b")
      let cat = shell("cat", input)
      queue.add(cat)
      while input.unwrittenByteCount > 0 { await Task.yield() }
      #expect(await input.waitUntilWritten())
      input.end()
      #expect(try await cat.value.outputText == "ab")
    }

    @Test("I7: a wait for input ends if its pipeline never ran, or the program has another input")
    func unused() async throws {
      let (input, ignored) = (ProcessInputStream(), ProcessInputStream())
      for stream in [input, ignored] { stream.write("x") }
      let waits = [input, ignored].map { stream in Task { await stream.waitUntilWritten() } }
      let pipeline = ProcessPipeline(shell("cat", ProcessInputStream()))
      pipeline.input = .stream(input)
      pipeline.cancel()
      queue.add(pipeline)
      #expect(await pipeline.waitUntilFinished() == .cancelled([]))
      #expect(await !waits[0].value)
      let cat = shell("cat", ignored)
      cat.input = .text("y")
      queue.add(cat)
      #expect(try await cat.value.outputText == "y")
      #expect(await !waits[1].value)
    }

    @Test("I7: a stream is the input of one program; a second one fails, and the first goes on")
    func twoPrograms() async throws {
      let input = ProcessInputStream()
      let (first, second) = (shell("cat", input), shell("cat", input))
      queue.add(first)
      input.write("a")
      #expect(await input.waitUntilWritten())
      queue.add(second)
      _ = await second.waitUntilFinished()
      let error = try #require(second.errors.first as? ProcessError)
      #expect(error.code == .notStarted)
      #expect("\(error)".hasSuffix("belongs to another program, make one for each"))
      #expect(input.write("b"))
      input.end()
      #expect(try await first.value.outputText == "ab")
    }

    @Test("I7: a program that reads no more takes nothing more, and SIGPIPE ends nobody")
    func reader() async throws {
      let input = ProcessInputStream()
      let program = shell("head -c 3; exec <&-; echo; read x < /dev/null; sleep 600", input)
      let gone = Gate()
      program.configuration.standardOutput = .lines { _ in gone.open() }
      queue.add(program)
      input.write("abc")
      await gone.wait()
      // The shell has closed it before it printed the line.
      while input.write("more") { await Task.yield() }
      program.cancel()
      #expect(await program.waitUntilFinished() == .cancelled([]))
    }

    @Test("I7: a stream may be an injected input, and is ignored in the middle of a pipeline")
    func injected() async throws {
      let input = ProcessInputStream()
      let cat = ProcessProcedure("cat")
      cat.input = .stream(input)
      let pipeline = cat | ProcessProcedure("tr", arguments: ["a-z", "A-Z"])
      queue.add(pipeline)
      input.write("a")
      input.end()
      #expect(try await pipeline.value.outputText == "A")
    }
  }
#endif
