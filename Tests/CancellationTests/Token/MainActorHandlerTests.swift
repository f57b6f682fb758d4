import Cancellation
import Dispatch
import ProcedureTestSupport
import Testing

/// K3: handlers that are `@MainActor` are delivered there, in every case, as those with a queue
/// are.
@Suite(.hangLimit) struct MainActorHandlerTests {
  @Test("K3: a handler on the main actor is called there, once, before or after the cancel")
  func cancelled() async {
    let source = CancellationTokenSource()
    let seen = Recorder<String>()
    let (first, second) = (Gate(), Gate())
    source.token.onCancel { @MainActor in
      MainActor.assertIsolated()
      seen.note("registered")
      first.open()
    }
    source.cancel()
    await first.wait()
    source.token.onCancel { @MainActor in
      MainActor.assertIsolated()
      seen.note("late")
      second.open()
    }
    await second.wait()
    #expect(seen.events == ["registered", "late"])
  }

  @Test("K3: a handler on the main actor never runs inside cancel(), even there")
  @MainActor func notInside() async {
    let source = CancellationTokenSource()
    let called = Gate()
    var count = 0
    source.token.onCancel { @MainActor in
      count += 1
      called.open()
    }
    source.cancel()
    #expect(count == 0)
    await called.wait()
    #expect(count == 1)
  }

  @Test("K4: onComplete on the main actor is called in both ends")
  func completed() async {
    let seen = Recorder<Bool>()
    for isCancelled in [true, false] {
      let called = Gate()
      do {
        let source = CancellationTokenSource()
        source.token.onComplete { @MainActor cancelled in
          MainActor.assertIsolated()
          seen.note(cancelled)
          called.open()
        }
        if isCancelled { source.cancel() }
        withExtendedLifetime(source) {}
      }
      await called.wait()
    }
    #expect(seen.events == [true, false])
  }

  @Test("K5: a handler that is removed before the cancel is not called, and is released")
  func unregistered() {
    let source = CancellationTokenSource()
    let probe = Probe()
    let registration = { (object: any AnyObject & Sendable) in
      source.token.onCancel { @MainActor in withExtendedLifetime(object) {} }
    }(probe.instance())
    #expect(probe.living == 1)
    #expect(registration.remove())
    #expect(probe.living == 0)
    source.cancel()
  }

  @Test("K3: a closure without an actor is called inside cancel()")
  func plain() {
    let source = CancellationTokenSource()
    let seen = Recorder<Int>()
    source.token.onCancel { seen.note(1) }
    source.token.onComplete { _ in seen.note(2) }
    source.cancel()
    #expect(seen.events == [1, 2])
  }
}
