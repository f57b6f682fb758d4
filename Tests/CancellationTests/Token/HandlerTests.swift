import Cancellation
import Dispatch
import ProcedureTestSupport
import Testing

/// K3, K5 and K7: when, where and in which order handlers are called, and how they are taken back.
@Suite(.hangLimit) struct HandlerTests {
  // MARK: K3

  @Test(
    "K3: a handler registered before the cancel is called once, one registered after it at once")
  func registration() {
    let source = CancellationTokenSource()
    let calls = Counter()
    source.token.onCancel { calls.increment() }
    #expect(calls.value == 0)
    #expect(source.cancel(.requested))
    #expect(calls.value == 1)
    source.token.onCancel { calls.increment() }
    #expect(calls.value == 2)
    #expect(!source.cancel(.requested))
    #expect(calls.value == 2)
  }

  @Test("K3: handlers are called in the order of registration, whatever was removed between")
  func order() {
    let source = CancellationTokenSource()
    let recorder = Recorder<Int>()
    let registrations = (0..<100).map { number in
      source.token.onCancel { recorder.note(number) }
    }
    for number in stride(from: 0, to: 100, by: 3) { #expect(registrations[number].remove()) }
    for number in 100..<150 { source.token.onCancel { recorder.note(number) } }
    source.cancel()
    #expect(recorder.events == (0..<100).filter { $0 % 3 != 0 } + Array(100..<150))
  }

  @Test("K3: the cancelling thread calls them, and isCancelled already reads true")
  func thread() {
    let source = CancellationTokenSource()
    let recorder = Recorder<Bool>()
    let key = DispatchSpecificKey<Bool>()
    let queue = DispatchQueue(label: "canceller")
    queue.setSpecific(key: key, value: true)
    let token = source.token
    token.onCancel {
      recorder.note(DispatchQueue.getSpecific(key: key) == true && token.isCancelled)
    }
    queue.sync { source.cancel() }
    #expect(recorder.events == [true])
  }

  @Test("K3: a queue is used in every case: before the cancel, after it, and on the queue itself")
  func queue() {
    let queue = DispatchQueue(label: "delivery")
    let recorder = Recorder<String>()
    let source = CancellationTokenSource()
    source.token.onCancel(on: queue) { recorder.note("before") }
    queue.sync {
      source.cancel()
      source.token.onCancel(on: queue) { recorder.note("after") }
      source.token.onComplete(on: queue) { recorder.note("complete \($0)") }
      recorder.note("not inline")
    }
    queue.sync {}
    #expect(recorder.events == ["not inline", "before", "after", "complete true"])
    CancellationToken.never.onComplete(on: queue) { recorder.note("never \($0)") }
    queue.sync {}
    #expect(recorder.events.last == "never false")
  }

  @Test("K3: queued handlers are queued in their place among the inline ones")
  func queuedOrder() {
    let queue = DispatchQueue(label: "delivery")
    let source = CancellationTokenSource()
    let recorder = Recorder<String>()
    source.token.onCancel { recorder.note("inline 1") }
    source.token.onCancel(on: queue) { recorder.note("queued 1") }
    source.token.onCancel { queue.sync {} }
    source.token.onCancel(on: queue) { recorder.note("queued 2") }
    source.token.onCancel { recorder.note("inline 2") }
    source.cancel()
    queue.sync {}
    let events = recorder.events
    #expect(events.prefix(2) == ["inline 1", "queued 1"])
    #expect(Set(events.suffix(2)) == ["queued 2", "inline 2"])
  }

  @Test("K3: on a token that completed not cancelled, onCancel is released before it returns")
  func notCancelled() {
    let probe = Probe()
    let token = CancellationTokenSource().token
    let registration = token.onCancel { [instance = probe.instance()] in
      _ = instance
      Issue.record("called")
    }
    #expect(probe.living == 0)
    #expect(!registration.remove())
  }

  @Test("K3: a queued handler is delivered although source and token are gone by then")
  func queuedSurvives() {
    let queue = DispatchQueue(label: "delivery")
    let counter = Counter()
    queue.suspend()
    do {
      let source = CancellationTokenSource()
      source.token.onCancel(on: queue) { counter.increment() }
      source.cancel()
    }
    queue.resume()
    queue.sync {}
    #expect(counter.value == 1)
  }

  @Test("K3: a slow handler of one token does not delay another token's")
  func slowHandler() async {
    let (slow, fast) = (CancellationTokenSource(), CancellationTokenSource())
    let (entered, leave, done) = (Gate(), Gate(), Gate())
    let counter = Counter()
    slow.token.onCancel {
      entered.open()
      leave.block()
    }
    fast.token.onCancel { counter.increment() }
    Thread.detach {
      slow.cancel()
      done.open()
    }
    await entered.wait()
    fast.cancel()
    #expect(counter.value == 1)
    // A second canceller returns at once, also while handlers run.
    #expect(!slow.cancel(.requested))
    #expect(slow.isCancelled)
    leave.open()
    await done.wait()
  }

  @Test("K3: a registered target is cancelled once, on its queue, and is not kept alive")
  func target() {
    let queue = DispatchQueue(label: "delivery")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let (probe, recorder) = (Probe(), Recorder<Bool>())
    let source = CancellationTokenSource()
    source.token.register(probe.target { Issue.record("a released target was cancelled") })
    #expect(probe.living == 0)
    let inline = probe.target { recorder.note(DispatchQueue.getSpecific(key: key) == nil) }
    let queued = probe.target { recorder.note(DispatchQueue.getSpecific(key: key) == true) }
    source.token.register(inline)
    source.token.register(queued, on: queue)
    let unregistered = probe.target { Issue.record("an unregistered target was cancelled") }
    #expect(source.token.register(unregistered).remove())
    source.cancel()
    queue.sync {}
    #expect(recorder.events == [true, true])
    source.token.register(inline)
    #expect(recorder.events.count == 3)
    withExtendedLifetime((inline, queued, unregistered)) {}
  }

  // MARK: K5

  @Test("K5: remove() says true once, and releases the captures before it returns")
  func unregister() {
    let (source, probe) = (CancellationTokenSource(), Probe())
    let registration = source.token.onCancel { [instance = probe.instance()] in
      _ = instance
      Issue.record("called")
    }
    let copy = registration
    #expect(probe.living == 1)
    #expect(registration.remove())
    #expect(probe.living == 0)
    #expect(!registration.remove() && !copy.remove())
    source.cancel()
    #expect(!registration.remove())
  }

  @Test("K5: dropping the registration does nothing; the same closure twice runs twice")
  func dropping() {
    let (source, calls) = (CancellationTokenSource(), Counter())
    let handler: @Sendable () -> Void = { calls.increment() }
    _ = source.token.onCancel(handler)
    let second = source.token.onCancel(handler)
    source.token.onCancel(handler)
    #expect(second.remove())
    source.cancel()
    #expect(calls.value == 2)
    #expect(!second.remove())
  }

  @Test(
    "K5: a handler cannot remove itself, and can remove a later sibling, which does not run"
  )
  func unregisterInside() {
    let source = CancellationTokenSource()
    let recorder = Recorder<String>()
    let slots = Slots()
    slots[0] = source.token.onCancel {
      recorder.note("self \(slots[0].remove())")
      recorder.note("later \(slots[1].remove())")
    }
    slots[1] = source.token.onCancel { recorder.note("later ran") }
    source.token.onCancel { recorder.note("last") }
    source.cancel()
    #expect(recorder.events == ["self false", "later true", "last"])
  }

  @Test("K5: remove() returns false at once while the handler runs on another thread")
  func unregisterRunning() async {
    let source = CancellationTokenSource()
    let (entered, leave, done) = (Gate(), Gate(), Gate())
    let registration = source.token.onCancel {
      entered.open()
      leave.block()
    }
    Thread.detach {
      source.cancel()
      done.open()
    }
    await entered.wait()
    #expect(!registration.remove())
    leave.open()
    await done.wait()
  }

  @Test("K5: two handlers that remove each other on two threads do not deadlock")
  func crossUnregister() {
    for _ in 0..<Rounds.few {
      let (left, right) = (CancellationTokenSource(), CancellationTokenSource())
      let slots = Slots()
      slots[0] = left.token.onCancel { slots[1].remove() }
      slots[1] = right.token.onCancel { slots[0].remove() }
      raceOnThreads({ left.cancel() }, { right.cancel() })
      #expect(left.isCancelled && right.isCancelled)
    }
  }

  @Test("K5: a registration that outlives its token's end keeps neither handler nor captures")
  func staleRegistration() {
    let probe = Probe()
    let source = CancellationTokenSource()
    let registration = source.token.onCancel { [instance = probe.instance()] in _ = instance }
    source.cancel()
    #expect(probe.living == 0)
    #expect(!registration.remove())
  }

  // MARK: K7

  @Test("K7: cancelling again, registering and cancelling others inside a handler is defined")
  func reentrancy() {
    let (source, other) = (CancellationTokenSource(), CancellationTokenSource())
    let recorder = Recorder<String>()
    other.token.onCancel {
      recorder.note("other")
      recorder.note("back \(source.cancel(.requested))")
    }
    source.token.onCancel {
      recorder.note("again \(source.cancel(.requested))")
      source.token.onCancel { recorder.note("late") }
      recorder.note("after late")
      other.cancel()
    }
    source.token.onCancel { recorder.note("second") }
    source.cancel()
    #expect(
      recorder.events == ["again false", "late", "after late", "other", "back false", "second"])
  }

  @Test("K7: captures whose release re-enters the library are released under no lock")
  func releaseReenters() {
    let recorder = Recorder<String>()
    func observed(_ source: CancellationTokenSource) -> Tracker {
      let token = source.token
      let registration = token.onCancel {}
      return Tracker {
        registration.remove()
        token.onComplete { _ in recorder.note("registered") }
        recorder.note("released")
      }
    }
    // By unregistering.
    let pending = CancellationTokenSource()
    let object = observed(pending)
    var registration = pending.token.onCancel { [object] in _ = object }
    _ = consume object
    #expect(registration.remove())
    registration = pending.token.onCancel {}
    #expect(recorder.events == ["released"])
    // By cancelling, which also calls what the release before registered.
    let second = observed(pending)
    pending.token.onCancel { [second] in _ = second }
    _ = consume second
    pending.cancel()
    #expect(recorder.events == ["released", "registered", "registered", "released"])
    // By the end of the source.
    var dying: CancellationTokenSource? = CancellationTokenSource()
    let third = observed(dying!)
    dying!.token.onCancel { [third] in _ = third }
    _ = consume third
    dying = nil
    #expect(recorder.events.suffix(2) == ["registered", "released"])
  }

  @Test("K7: a handler may drop the last reference to its source and to its token")
  func lastReference() {
    let (slots, probe) = (Slot<CancellationTokenSource>(), Probe())
    slots.value = CancellationTokenSource()
    slots.value?.token.onCancel { [instance = probe.instance()] in
      slots.value = nil
      _ = instance
    }
    slots.value?.cancel()
    #expect(slots.value == nil)
    #expect(probe.living == 0)
  }

  @Test("K8: all handlers and their captures are released after the end", arguments: [true, false])
  func releaseAfterEnd(cancelled: Bool) {
    let probe = Probe()
    var source: CancellationTokenSource? = CancellationTokenSource()
    let token = source!.token
    for _ in 0..<10 {
      token.onCancel { [instance = probe.instance()] in _ = instance }
      token.onComplete { [instance = probe.instance()] _ in _ = instance }
    }
    #expect(probe.living == 20)
    if cancelled { source?.cancel() } else { source = nil }
    #expect(probe.living == 0)
    #expect(token.isCancelled == cancelled)
  }
}
