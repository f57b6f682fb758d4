import Cancellation
import ProcedureTestSupport
import Testing

/// K11: work that a cancel of its task does not reach.
@Suite(.hangLimit) struct ShieldTests {
  private enum Local { @TaskLocal static var value = 0 }

  private struct Failure: Error {}

  @Test("K11: in a task that is cancelled already a shield runs its operation to its end")
  func cancelledBefore() async throws {
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      #expect(Task.isCancelled)
      let value = await withCancellationShield {
        for _ in 0..<10 { await Task.yield() }
        try? await Task.sleep(for: .milliseconds(1))
        return Task.isCancelled ? 0 : 3
      }
      #expect(Task.isCancelled)
      return value
    }
    #expect(await task.value == 3)
  }

  @Test("K11: a cancel that comes while the operation runs does not reach it, and the call waits")
  func cancelledMeanwhile() async throws {
    let (entered, leave) = (Gate(), Gate())
    let recorder = Recorder<String>()
    let task = Task {
      try await withCancellationShield {
        entered.open()
        await leave.wait()
        try Task.checkCancellation()
        recorder.note("saved")
      }
      recorder.note("after")
      return Task.isCancelled
    }
    await entered.wait()
    task.cancel()
    leave.open()
    #expect(try await task.value)
    #expect(recorder.events == ["saved", "after"])
  }

  @Test("K11: an error comes out of a shield with its type; task-local values go in")
  func typed() async {
    do throws(Failure) {
      try await withCancellationShield { () async throws(Failure) in throw Failure() }
      Issue.record("nothing was thrown")
    } catch {
      let failure: Failure = error
      _ = failure
    }
    await Local.$value.withValue(7) {
      #expect(await withCancellationShield { Local.value } == 7)
    }
  }

  @Test("K11: a shield runs its operation where it was formed") @MainActor
  func isolation() async {
    var count = 0
    await withCancellationShield {
      MainActor.assertIsolated()
      count += 1
    }
    #expect(count == 1)
  }

  @Test("K11: a shield's operation ends with a token that it is given")
  func token() async {
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await withCancellationShield {
        (try? await withTask(cancelledBy: .cancelled) { try Task.checkCancellation() }) == nil
      }
    }
    #expect(await task.value)
  }
}
