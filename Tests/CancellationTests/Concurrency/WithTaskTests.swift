import Cancellation
import ProcedureTestSupport
import Testing

/// K11: `withTask(cancelledBy:)`, a part of a task that a token ends.
@Suite(.hangLimit) struct WithTaskTests {
  enum Local { @TaskLocal static var value = 0 }

  @Test("K11: withTask returns what its operation returned, or throws what that threw")
  func neither() async throws {
    let source = CancellationTokenSource()
    let value = try await withTask(cancelledBy: source.token) {
      await Task.yield()
      return Task.isCancelled ? 0 : 3
    }
    #expect(value == 3)
    await #expect(throws: TestError("no")) {
      try await withTask(cancelledBy: .never) { throw TestError("no") }
    }
    #expect(!source.token.isCompleted)
  }

  @Test(
    "K11: the token's cancel is seen in the operation before cancel() returns, and ends it alone")
  func tokenFirst() async throws {
    let source = CancellationTokenSource()
    let (entered, sawIt) = (Gate(), Recorder<Bool>())
    let task = Task {
      await #expect(throws: CancellationError.self) {
        try await withTask(cancelledBy: source.token) {
          try await withTaskCancellationHandler {
            entered.open()
            try await Task.sleep(for: .seconds(3_600))
          } onCancel: {
            sawIt.note(true)
          }
        }
      }
      return Task.isCancelled
    }
    await entered.wait()
    source.cancel()
    #expect(sawIt.events == [true])
    #expect(await task.value == false)
  }

  @Test(
    "K11: the current task's cancel reaches the operation before cancel() returns, not the token")
  func taskFirst() async throws {
    let source = CancellationTokenSource()
    let (entered, sawIt) = (Gate(), Recorder<Bool>())
    let task = Task {
      try await withTask(cancelledBy: source.token) {
        try await withTaskCancellationHandler {
          entered.open()
          try await Task.sleep(for: .seconds(3_600))
        } onCancel: {
          sawIt.note(true)
        }
      }
    }
    await entered.wait()
    task.cancel()
    #expect(sawIt.events == [true])
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!source.token.isCompleted)
  }

  @Test("K11: withTask ends once when its token and its task are cancelled together")
  func both() async {
    for _ in 0..<Rounds.few {
      let source = CancellationTokenSource()
      let task = Task {
        try await withTask(cancelledBy: source.token) {
          try await Task.sleep(for: .seconds(3_600))
        }
      }
      raceOnThreads({ task.cancel() }, { source.cancel() })
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("K11: withTask starts cancelled, and runs, if its token or its task was cancelled before")
  func before() async throws {
    #expect(try await withTask(cancelledBy: .cancelled) { Task.isCancelled })
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await withTask(cancelledBy: .never) { Task.isCancelled }
    }
    #expect(try await task.value)
  }

  @Test("K8: withTask leaves nothing on its token, and nothing of its operation")
  func nothingLeft() async throws {
    let source = CancellationTokenSource()
    let probe = Probe()
    for round in 0..<100 {
      let object = probe.instance()
      try? await withTask(cancelledBy: source.token) {
        withExtendedLifetime(object) {}
        if round % 2 == 0 { throw TestError("no") }
      }
    }
    #expect(await eventually { probe.living == 0 })
    #expect(probe.living == 0)
    #expect(!source.token.isCompleted)
    source.cancel()
  }

  @Test("K11: the operation runs where it was formed, with the task's local values and priority")
  @MainActor func isolation() async throws {
    var count = 0
    try await Local.$value.withValue(7) {
      try await withTask(cancelledBy: .never) {
        MainActor.assertIsolated()
        count += Local.value
      }
    }
    #expect(count == 7)
    let priority = try await Task.detached(priority: .low) {
      try await withTask(cancelledBy: .never) { Task.basePriority }
    }.value
    #expect(priority == .low)
  }
}
