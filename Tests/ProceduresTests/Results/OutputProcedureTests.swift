import ProcedurePrimitives
import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct OutputProcedureTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  private final class Waiting: Procedure, OutputProcedure, InputProcedure, @unchecked Sendable {
    typealias Input = Int
    typealias Output = Int
    override func execute() {}
  }

  /// Keeps its output itself.
  private final class Own: Procedure, OutputProcedure, @unchecked Sendable {
    private let stored = Locked<Result<Int, any Error>?>(nil)
    var output: Result<Int, any Error>? {
      get { stored.withLock { $0 } }
      set { stored.withLock { $0 = newValue } }
    }
    override func execute() {}
  }

  private final class Silent: Procedure, OutputProcedure, @unchecked Sendable {
    typealias Output = Void
    override func execute() {}
  }

  @Test("F5, R1: an output without a value counts as an output")
  func void() {
    let (first, second, third, never) = (Silent(), Silent(), Silent(), Silent())
    let target = TransformProcedure<Void, Int> { 1 }
    target.injectResult(from: first)
    let deprived = TransformProcedure<Void, Int> { 1 }
    deprived.injectResult(from: never)
    makeQueue().add(first, second, third, never, target, deprived)
    scheduler.run()
    second.output = .failure(TestError("early"))
    #expect(first.output == nil && second.output != nil)
    #expect(first.finish(withResult: .success(())) && second.finish(withResult: .success(())))
    second.output = .failure(TestError("late"))
    third.cancel()
    third.finish(withResult: .success(()))
    never.finish()
    scheduler.run()
    for procedure in [first, second, third] {
      #expect(throws: Never.self) { try procedure.output?.get() }
      #expect(procedure.output != nil)
    }
    #expect(never.output == nil)
    #expect(try! target.output?.get() == 1)
    #expect((deprived.errors.first as? ProcedureError)?.code == .requirementNotSatisfied)
  }

  @Test("F5: the first finish sets the output, a later one changes nothing")
  func firstWins() {
    let (first, second, plain) = (Waiting(), Waiting(), Waiting())
    makeQueue().add(first, second, plain)
    scheduler.run()
    #expect(first.finish(withResult: .success(1)))
    #expect(!first.finish(withResult: .success(2)))
    first.output = .success(3)
    #expect(second.finish(withResult: .failure(TestError("e"))))
    #expect(!second.finish(withResult: .success(2)))
    #expect(plain.finish())
    #expect(!plain.finish(withResult: .success(2)))
    scheduler.run()
    first.output = nil
    #expect(try! first.output?.get() == 1)
    #expect(first.outcome == .succeeded)
    #expect(second.output != nil)
    #expect(second.outcome == .failed([TestError("e")]))
    #expect(plain.output == nil)
  }

  @Test("F5: a refused finish sets no output, before the start and on a group")
  func refused() {
    final class Group: GroupProcedure, OutputProcedure, @unchecked Sendable {
      typealias Output = Int
    }
    let diagnostics = Recorder<String>()
    let (queue, waiting) = (makeQueue(), Waiting())
    queue.diagnosticsHandler = { diagnostics.note($0.procedureName) }
    queue.isSuspended = true
    let group = Group(children: [])
    queue.add(waiting, group)
    #expect(!waiting.finish(withResult: .success(1)) && waiting.output == nil)
    #expect(!group.finish(withResult: .success(1)) && group.output == nil)
    #expect(diagnostics.events == ["Waiting", "Group"])
    group.output = .success(2)
    waiting.cancel()
    #expect(waiting.finish(withResult: .success(1)))
    queue.isSuspended = false
    scheduler.run()
    #expect(try! waiting.output?.get() == 1 && group.output?.get() == 2)
    #expect(waiting.outcome == .cancelled([]))
  }

  @Test("F5: an output that the procedure keeps itself is set, and handed over, all the same")
  func ownOutput() {
    let (queue, own) = (makeQueue(), Own())
    let target = IdentityProcedure<Int>().injectResult(from: own)
    queue.add(own, target)
    scheduler.run()
    #expect(own.finish(withResult: .success(4)))
    #expect(!own.finish(withResult: .success(5)))
    scheduler.run()
    #expect(try! own.output?.get() == 4 && target.input == 4)
  }

  @Test("F5: one of several finishes at the same moment counts, with its output and its error")
  func finishAgainstFinish() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let procedure = Waiting()
      let executing = Gate()
      procedure.addDidExecuteBlockObserver { _ in executing.open() }
      queue.add(procedure)
      await executing.wait()
      let winners = Recorder<Int>()
      await race(
        { if procedure.finish(withResult: .success(1)) { winners.note(1) } },
        { if procedure.finish(withResult: .success(2)) { winners.note(2) } },
        { if procedure.finish(withResult: .failure(TestError("3"))) { winners.note(3) } })
      let outcome = await procedure.waitUntilFinished()
      #expect(winners.events.count == 1)
      switch procedure.output {
      case .success(let number): #expect(winners.events == [number])
      case .failure: #expect(winners.events == [3] && outcome == .failed([TestError("3")]))
      case nil: Issue.record("no output")
      }
    }
  }

  @Test("R2: inputs and outputs are behind the lock: set and read from several threads at once")
  func shared() async {
    for _ in 0..<Rounds.few {
      let procedure = Waiting()
      await race(
        { for number in 0..<10 { procedure.input = number } },
        { for number in 0..<10 { procedure.output = .success(number) } },
        { for _ in 0..<10 { _ = (procedure.input, procedure.output) } })
      #expect(try! procedure.input == 9 && procedure.output!.get() == 9)
    }
  }

  @Test("value is the output, the first error, or why there is none")
  func value() async throws {
    let queue = ProcedureQueue()
    let (fine, failing) = (ResultProcedure { 5 }, ResultProcedure<Int> { throw TestError("e") })
    let (cancelled, empty) = (Waiting(), Waiting())
    empty.addDidExecuteBlockObserver { $0.finish() }
    cancelled.cancel()
    queue.add(fine, failing, cancelled, empty)
    #expect(try await fine.value == 5)
    await #expect(throws: TestError("e")) { try await failing.value }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    await #expect(throws: ProcedureError.self) { try await empty.value }
    #expect(try await queue.value(of: ResultProcedure { 6 }) == 6)
    await #expect(throws: TestError("e")) {
      try await queue.value(of: ResultProcedure<Int> { throw TestError("e") })
    }
  }

  @Test("a cancel of the task that awaits value ends the wait, not the procedure")
  func cancelledWait() async {
    let (queue, procedure) = (ProcedureQueue(), Waiting())
    queue.add(procedure)
    let waiting = Task { try await procedure.value }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(!procedure.isCancelled)
    procedure.cancel()
    procedure.finish()
    await queue.waitUntilAllFinished()
  }
}
