import Cancellation
import ProcedureTestSupport
import Testing

/// K11: `waitUntilCancelled()`, the scopes and `Task(cancelledBy:)`.
@Suite(.hangLimit) struct AsyncTests {
  struct Failure: Error, Equatable { var code = 0 }

  // MARK: cancelled

  @Test("K11: await cancelled answers at once on a settled token")
  func settled() async {
    #expect(await CancellationToken.cancelled.waitUntilCancelled())
    #expect(await !CancellationToken.never.waitUntilCancelled())
    #expect(await !CancellationTokenSource().token.waitUntilCancelled())
  }

  @Test("K11: a thousand waiters resume once each, with how it ended", arguments: [true, false])
  func waiters(cancelled: Bool) async {
    let slot = Slot<CancellationTokenSource>()
    slot.value = CancellationTokenSource()
    let token = slot.value!.token
    let started = Counter()
    let answers = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<1_000 {
        group.addTask {
          if started.increment() == 1_000 {
            if cancelled { slot.value?.cancel() }
            slot.value = nil
          }
          return await token.waitUntilCancelled()
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: cancelled, count: 1_000))
  }

  @Test("K11: a waiter whose task is cancelled resumes with false and leaves the token")
  func waiterCancelled() async {
    let source = CancellationTokenSource()
    let token = source.token
    let task = Task { await token.waitUntilCancelled() }
    task.cancel()
    #expect(await task.value == false)
    #expect(!token.isCompleted)
    let bornCancelled = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await token.waitUntilCancelled()
    }
    #expect(await bornCancelled.value == false)
  }

  @Test("K11: a waiter resumes exactly once when its task and its token are cancelled together")
  func cancelledRace() async {
    for round in 0..<Rounds.few {
      let slot = Slot<CancellationTokenSource>()
      slot.value = CancellationTokenSource()
      let token = slot.value!.token
      let task = Task { await token.waitUntilCancelled() }
      if round % 2 == 0 { await Task.yield() }
      raceOnThreads(
        { task.cancel() },
        { if round % 3 == 0 { slot.value = nil } else { slot.value?.cancel() } })
      // A continuation that is resumed twice traps, one that is lost hangs.
      let wasCancelled = await task.value
      #expect(!wasCancelled || token.isCancelled)
    }
  }

  // MARK: withCancellationToken

  @Test("K11: the task's cancel fires the token before Task.cancel() returns")
  func withToken() async throws {
    let (entered, slot) = (Gate(), Slot<CancellationToken>())
    let task = Task {
      await withCancellationToken { token in
        slot.value = token
        entered.open()
        return await token.waitUntilCancelled()
      }
    }
    await entered.wait()
    let token = try #require(slot.value)
    #expect(!token.isCompleted)
    task.cancel()
    #expect(token.isCancelled)
    #expect(token.reason == .taskCancelled)
    _ = await task.value
  }

  @Test("K11: in a cancelled task the token is born cancelled and the body runs")
  func withTokenBornCancelled() async {
    let isCancelled = await Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await withCancellationToken { token in token.isCancelled }
    }.value
    #expect(isCancelled)
  }

  @Test("K11: when the body ends its token completes not cancelled, also by an error")
  func withTokenEscapes() async {
    let escaped = await withCancellationToken { token in token }
    #expect(escaped.isCompleted && !escaped.isCancelled)
    let slot = Slot<CancellationToken>()
    // Typed: no other error can come out.
    do throws(Failure) {
      try await withCancellationToken { token async throws(Failure) in
        slot.value = token
        throw Failure(code: 3)
      }
    } catch {
      #expect(error.code == 3)
    }
    #expect(slot.value?.isCompleted == true)
  }

  @Test("K11: the body runs with the caller's isolation, on state that is not Sendable")
  func isolation() async {
    actor Owner {
      var state: [String] = []
      func run() async -> [String] {
        await withCancellationToken { token in
          self.assertIsolated()
          state.append("token \(token.isCompleted)")
        }
        await withCancellationHandler(for: CancellationTokenSource().token) {
          self.assertIsolated()
          state.append("handler")
        } onCancel: {
        }
        return state
      }
    }
    #expect(await Owner().run() == ["token false", "handler"])
  }

  // MARK: withCancellationHandler

  @Test("K11: the handler of a scope is not called after the scope")
  func scopeEnds() async {
    let source = CancellationTokenSource()
    let value = await withCancellationHandler(for: source.token) {
      7
    } onCancel: {
      Issue.record("called after the scope")
    }
    source.cancel()
    #expect(value == 7)
  }

  @Test(
    "K11: a cancelled token calls the handler first; one that never ends, or has ended, does not call it"
  )
  func scopeSettled() async {
    let recorder = Recorder<String>()
    await withCancellationHandler(for: .cancelled) {
      recorder.note("operation")
    } onCancel: {
      recorder.note("handler")
    }
    for token in [CancellationToken.never, CancellationTokenSource().token] {
      await withCancellationHandler(for: token) {
        recorder.note("operation")
      } onCancel: {
        recorder.note("handler")
      }
    }
    #expect(recorder.events == ["handler", "operation", "operation", "operation"])
  }

  @Test("K11: the scope waits for a running handler, also when it threw")
  func scopeWaits() async {
    for throwing in [false, true] {
      let source = CancellationTokenSource()
      let (entered, leave) = (Gate(), Gate())
      let recorder = Recorder<String>()
      let token = source.token
      let scope = Task {
        do throws(Failure) {
          try await withCancellationHandler(for: token) { () async throws(Failure) in
            Thread.detach { source.cancel() }
            await entered.wait()
            recorder.note("operation ends")
            Thread.detach { leave.open() }
            if throwing { throw Failure() }
          } onCancel: {
            entered.open()
            leave.block()
            recorder.note("handler ends")
          }
        } catch {
          recorder.note("threw")
        }
        recorder.note("scope ends")
      }
      await scope.value
      let middle = throwing ? ["threw"] : []
      #expect(recorder.events == ["operation ends", "handler ends"] + middle + ["scope ends"])
    }
  }

  @Test("K11: a handler that ends the operation on its own thread does not hold up the scope")
  func scopeEndedByHandler() async {
    for _ in 0..<100 {
      let (source, gate) = (CancellationTokenSource(), Gate())
      let token = source.token
      async let scope: Void = withCancellationHandler(for: token) {
        await gate.wait()
      } onCancel: {
        gate.open()
      }
      source.cancel()
      await scope
      #expect(gate.isOpen)
    }
    // The operation itself cancels.
    let (source, calls) = (CancellationTokenSource(), Counter())
    await withCancellationHandler(for: source.token) {
      source.cancel()
    } onCancel: {
      calls.increment()
    }
    #expect(calls.value == 1)
  }

  @Test("K11: a handler does not run after its scope, whatever races with the cancel")
  func scopeRace() async {
    for _ in 0..<Rounds.few {
      let (source, done) = (CancellationTokenSource(), Slot<Bool>())
      let token = source.token
      async let cancel: Void = { source.cancel() }()
      await withCancellationHandler(for: token) {
        await Task.yield()
      } onCancel: {
        #expect(done.value == nil)
      }
      done.value = true
      await cancel
    }
  }

  // MARK: Task(cancelledBy:)

  @Test("K11: the token's cancel cancels the task, the task's cancel not the token")
  func task() async throws {
    let source = CancellationTokenSource()
    let task = Task(cancelledBy: source.token) { () -> Bool in
      await withCancellationToken { await $0.waitUntilCancelled() }
    }
    source.cancel()
    #expect(try await task.value)
    let other = CancellationTokenSource()
    let second = Task(cancelledBy: other.token) {
      await withCancellationToken { await $0.waitUntilCancelled() }
    }
    second.cancel()
    #expect(try await second.value)
    #expect(!other.token.isCompleted)
  }

  @Test("K11: with a cancelled token the task starts cancelled, and runs")
  func taskBornCancelled() async throws {
    for _ in 0..<Rounds.few {
      #expect(try await Task(cancelledBy: .cancelled) { Task.isCancelled }.value)
    }
  }

  @Test("K11: a finished task leaves the token and is not kept, whatever it threw")
  func taskLeaves() async {
    let (source, probe) = (CancellationTokenSource(), Probe())
    for _ in 0..<100 {
      let instance = probe.instance()
      await #expect(throws: Failure.self) {
        try await Task(cancelledBy: source.token) {
          withExtendedLifetime(instance) {}
          throw Failure()
        }.value
      }
    }
    #expect((try? await Task(cancelledBy: .never) { 3 }.value) == 3)
    #expect(!source.token.isCompleted)
  }

  @Test("K11: one cancel() goes from a token to a task and on to that task's token")
  func roundTrip() async throws {
    let source = CancellationTokenSource()
    let (entered, slot) = (Gate(), Slot<CancellationToken>())
    let task = Task(cancelledBy: source.token) {
      await withCancellationToken { token in
        slot.value = token
        entered.open()
        await token.waitUntilCancelled()
      }
    }
    await entered.wait()
    source.cancel()
    #expect(slot.value!.isCancelled)
    try await task.value
  }

  @Test("K11: the operation of a task runs where it was formed")
  @MainActor func taskIsolation() async throws {
    let state = NotSendable()
    try await Task(cancelledBy: CancellationTokenSource().token) {
      MainActor.assertIsolated()
      state.value = 1
    }.value
    #expect(state.value == 1)
  }

  final class NotSendable { var value = 0 }
}
