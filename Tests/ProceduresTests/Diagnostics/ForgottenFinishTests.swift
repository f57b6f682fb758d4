import ProcedureTestSupport
import Procedures
import Testing

/// What is reported of an `execute()` that has returned without `finish()`. Each test has a class
/// of its own, since a class is reported once in a process.
@Suite(.hangLimit) struct ForgottenFinishTests {
  private let scheduler = ManualScheduler()
  private let time = TestClock()
  private let diagnostics = Recorder<ProcedureDiagnostic>()

  private func makeQueue() -> ProcedureQueue {
    let queue = ProcedureQueue(scheduler: scheduler, clock: time.clock)
    queue.diagnosticsHandler = { [diagnostics] in diagnostics.note($0) }
    return queue
  }

  /// Lets the procedures of the queue end.
  private func end(_ queue: ProcedureQueue) {
    for procedure in queue.procedures {
      procedure.finish()
    }
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test(
    "X3: a procedure to which nothing refers any more is reported within a second, with its type")
  func hopeless() {
    final class Forgetful: Silent, @unchecked Sendable {}
    let queue = makeQueue()
    queue.add(Forgetful().named("mail"))
    scheduler.run()
    #expect("\(queue.snapshot())".contains("executing: execute() has returned, waits for finish()"))
    time.advance(by: .seconds(1))
    #expect(diagnostics.events.map(\.code) == [.finishForgotten])
    #expect(
      diagnostics.events.map { "\($0)" } == [
        "execute() of 'mail' (Forgetful) has returned without finish(), and nothing seems to refer to it any more "
          + "but its queue: if so, it never ends unless it is cancelled. Call finish() on each path."
      ])
    queue.add(Forgetful())
    scheduler.run()
    time.advance(by: .seconds(100))
    #expect(diagnostics.events.count == 1, "once for each class")
    end(queue)
  }

  @Test("X3: a procedure to which something refers is reported after the delay, once for its class")
  func forgotten() {
    final class Forgetful: Silent, @unchecked Sendable {}
    let queue = makeQueue()
    let kept = [Forgetful(), Forgetful()]
    queue.add(kept)
    scheduler.run()
    time.advance(by: .seconds(9))
    #expect(diagnostics.events.isEmpty)
    time.advance(by: .seconds(100))
    #expect(diagnostics.events.map(\.code) == [.finishForgotten])
    #expect(diagnostics.events.first?.age == .seconds(10))
    #expect(
      diagnostics.events.first?.description.hasPrefix(
        "execute() of 'Forgetful' returned 10 seconds ago, and finish() has not been called")
        == true
    )
    // The remedy is a call that exists.
    #expect(diagnostics.events.first?.description.contains("report(fractionCompleted:)") == true)
    withExtendedLifetime(kept) {}
    end(queue)
  }

  @Test("X3: work that shows that it goes on is not reported, nor what the framework ends itself")
  func atWork() async {
    final class Reporting: Silent, @unchecked Sendable {
      override func execute() { report(fractionCompleted: 0.1) }
    }
    final class Stoppable: Silent, @unchecked Sendable {
      override func execute() { cancellationToken.onCancel {} }
    }
    final class CalledBack: Silent, @unchecked Sendable {
      let callbacks: Recorder<@Sendable () -> Void>
      init(_ callbacks: Recorder<@Sendable () -> Void>) { self.callbacks = callbacks }
      override func execute() { callbacks.note { [weak self] in self?.finish() } }
    }
    final class Limited: Silent, @unchecked Sendable {}
    let queue = makeQueue()
    let callbacks = Recorder<@Sendable () -> Void>()
    let limited = Limited()
    limited.timeout(after: .seconds(3_600))
    let kept: [Procedure] = [
      Reporting(), Stoppable(), limited, ManualProcedure(), DelayProcedure(by: .seconds(3_600)),
      AsyncProcedure(.callback) { finish in callbacks.note { finish() } },
      GroupProcedure(ManualProcedure()),
    ]
    queue.add(kept)
    queue.add(CalledBack(callbacks))
    scheduler.run()
    time.advance(by: .seconds(600))
    #expect(diagnostics.events.map(\.description) == [])
    // Optimised code would let go of them before.
    withExtendedLifetime(kept) {}
    for callback in callbacks.events { callback() }
    queue.cancelAll()
    scheduler.run()
    for procedure in queue.procedures { procedure.finish() }
    scheduler.run()
  }

  @Test("X3: nothing is reported without a delay, and no timer is left of a queue that is gone")
  func off() {
    final class Forgetful: Silent, @unchecked Sendable {}
    var queue: ProcedureQueue? = makeQueue()
    queue?.waitReportDelay = nil
    queue?.add(Forgetful())
    scheduler.run()
    time.advance(by: .seconds(600))
    #expect(diagnostics.events.isEmpty)
    queue.map { end($0) }
    queue = nil
    #expect(time.pendingCount == 0)
  }

  @Test(
    "X3: a forgotten finish and a missing dependency are reported on standard error without a handler"
  )
  func unheard() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      final class Forgetful: Silent, @unchecked Sendable {}
      final class Kept: Silent, @unchecked Sendable {}
      let (scheduler, time) = (ManualScheduler(), TestClock())
      let queue = ProcedureQueue(scheduler: scheduler, clock: time.clock)
      let kept = Kept()
      let mail = TracedProcedure("mail")
      let export = TracedProcedure("export")
      mail.add(dependency: export)
      queue.add(Forgetful(), kept, mail)
      scheduler.run()
      time.advance(by: .seconds(600))
      withExtendedLifetime((kept, export)) {}
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("Procedures: ") }
    #expect(lines.count == 3, "\(text)")
    #expect(
      lines.filter { $0.contains("execute() of 'Forgetful' has returned without") }.count == 1)
    #expect(lines.filter { $0.contains("execute() of 'Kept' returned 10 seconds ago") }.count == 1)
    #expect(
      lines.filter { $0.contains("'mail' has waited 10 seconds for 'export', which") }.count == 1)
  }
}

/// Begins nothing, and never finishes by itself.
private class Silent: Procedure, @unchecked Sendable {
  override func execute() {}
}
