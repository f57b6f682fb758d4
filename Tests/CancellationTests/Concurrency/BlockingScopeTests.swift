import Cancellation
import Foundation
import ProcedureTestSupport
import Testing

/// K5: a scope for synchronous code that waits for a running handler.
@Suite(.hangLimit) struct BlockingScopeTests {
  private struct Failure: Error {}

  /// What the handler, and nobody else after the scope, may use.
  private func scope(_ token: CancellationToken, _ recorder: Recorder<String>) {
    withBlockingCancellationHandler(for: token) {
      recorder.note("operation")
    } onCancel: {
      recorder.note("handler")
    }
  }

  @Test(
    "K5: a cancelled token calls the handler first; one that never ends, or has ended, does not call it"
  )
  func settled() {
    let recorder = Recorder<String>()
    scope(.cancelled, recorder)
    scope(.never, recorder)
    scope(CancellationTokenSource().token, recorder)
    let source = CancellationTokenSource()
    scope(source.token, recorder)
    source.cancel()
    #expect(recorder.events == ["handler"] + Array(repeating: "operation", count: 4))
  }

  @Test("K5: the scope returns after a handler that another thread runs", arguments: [false, true])
  func waits(throwing: Bool) {
    for _ in 0..<50 {
      let source = CancellationTokenSource()
      let (entered, leave, recorder) = (Gate(), Gate(), Recorder<String>())
      do throws(Failure) {
        try withBlockingCancellationHandler(for: source.token) { () throws(Failure) in
          Thread.detach { source.cancel() }
          entered.block()
          recorder.note("operation ends")
          Thread.detach { leave.open() }
          if throwing { throw Failure() }
        } onCancel: {
          entered.open()
          leave.block()
          for _ in 0..<100 { sched_yield() }
          recorder.note("handler ends")
        }
      } catch {}
      recorder.note("scope ends")
      #expect(recorder.events == ["operation ends", "handler ends", "scope ends"])
    }
  }

  @Test("K5: a cancel in the operation, and a scope in a handler, do not wait for themselves")
  func ownThread() {
    let (source, recorder) = (CancellationTokenSource(), Recorder<String>())
    withBlockingCancellationHandler(for: source.token) {
      source.cancel()
      recorder.note("operation")
    } onCancel: {
      recorder.note("handler")
      scope(source.token, recorder)
    }
    #expect(recorder.events == ["handler", "handler", "operation", "operation"])
  }

  @Test("K5: a handler does not run after its scope, whatever races with the cancel")
  func race() async {
    for _ in 0..<Rounds.few {
      let (source, done) = (CancellationTokenSource(), Slot<Bool>())
      let cancel = Task.detached { source.cancel() }
      Self.enter(source.token, done)
      await cancel.value
      #expect(source.isCancelled)
    }
  }

  private static func enter(_ token: CancellationToken, _ done: Slot<Bool>) {
    withBlockingCancellationHandler(for: token) {
      _ = sched_yield()
    } onCancel: {
      for _ in 0..<10 { #expect(done.value == nil) }
    }
    done.value = true
  }
}
