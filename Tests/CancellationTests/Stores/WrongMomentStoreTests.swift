import Cancellation
import ProcedureTestSupport
import Testing

/// What owns tokens and tasks, and what awaits them, called at wrong moments: twice, too late, from
/// inside, and from a `deinit`.
@Suite(.hangLimit) struct WrongMomentStoreTests {
  private final class Owner: Sendable {
    let searches = SerialCancellation()
    let tasks = TaskStore<Int>()
    let action: @Sendable (Owner) -> Void
    init(_ action: @escaping @Sendable (Owner) -> Void) { self.action = action }
    deinit { action(self) }
  }

  // MARK: Registrations

  @Test("K5: a registration is used twice, as a copy, from inside its handler, and on never")
  func registrations() {
    let source = CancellationTokenSource()
    let slots = Slots()
    let answers = Recorder<Bool>()
    slots[0] = source.token.onCancel { answers.note(slots[0].remove()) }
    let first = source.token.onCancel {}
    let copy = first
    answers.note(first.remove())
    answers.note(copy.remove())
    source.cancel()
    answers.note(slots[0].remove())
    answers.note(CancellationToken.never.onCancel {}.remove())
    answers.note(CancellationToken.cancelled.onCancel {}.remove())
    #expect(answers.events == [true, false, false, false, false, false])
  }

  @Test("K5: the handle of a handler that left does not reach the one that took its place")
  func staleRegistration() {
    let source = CancellationTokenSource()
    let calls = Counter()
    for _ in 0..<3 {
      let stale = source.token.onCancel {}
      stale.remove()
      source.token.onCancel { calls.increment() }
      #expect(!stale.remove())
    }
    source.cancel()
    #expect(calls.value == 3)
  }

  // MARK: Sources

  @Test("K6: a token that is linked to itself, or to one parent twice, is cancelled once")
  func linkedTwice() {
    let source = CancellationTokenSource()
    let calls = Counter()
    let child = CancellationTokenSource(linkedTo: source.token, source.token, .never)
    let both = (child.token || source.token) && (source.token || child.token)
    both.onCancel { calls.increment() }
    // A child's cancel from inside its parent's, and the other way round.
    child.token.onCancel { source.cancel() }
    source.token.onCancel { child.cancel() }
    child.cancel()
    source.cancel()
    #expect(calls.value == 1)
  }

  @Test(
    "K10: a deadline may be past, now, too far away, replaced, or set after the end")
  func deadlines() {
    let clock = TestClock()
    let past = CancellationTokenSource()
    past.cancel(after: .seconds(-5), clock: clock.clock)
    #expect(past.isCancelled)
    #expect(CancellationToken.timeout(.zero, clock: clock.clock).isCancelled)
    #expect(CancellationToken.timeout(.seconds(Int64.min / 4), clock: clock.clock).isCancelled)
    let far = CancellationTokenSource()
    far.cancel(after: .seconds(1_000_000_000_000), clock: clock.clock)
    far.cancel(after: .seconds(5), clock: clock.clock)
    far.cancel(after: .seconds(1_000_000_000_000), clock: clock.clock)
    clock.advance(by: .seconds(3_600))
    #expect(!far.isCancelled && clock.pendingCount == 1)
    far.cancel()
    far.cancel(after: .zero, clock: clock.clock)
    #expect(clock.pendingCount == 0)
    #expect(far.token.reason == .requested)
  }

  // MARK: Serial cancellation, guards

  @Test("K13: renew and cancel may come twice, from a handler, after the end, and from deinit")
  func serial() {
    let searches = SerialCancellation()
    searches.cancel()
    #expect(searches.renew().isCancelled, "before any renew")
    let inside = SerialCancellation()
    let renewed = Slot<CancellationToken>()
    let first = inside.renew()
    first.onCancel { renewed.value = inside.renew() }
    let second = inside.renew()
    // The handler's came while the second was being made: the later of the two is current.
    #expect(first.isCancelled && second.isCancelled && renewed.value?.isCancelled == false)
    inside.cancel()
    inside.cancel()
    #expect(renewed.value?.isCancelled == true && inside.renew().isCancelled)
    let leaving = Slot<CancellationToken>()
    do {
      _ = Owner { owner in
        leaving.value = owner.searches.renew()
        #expect(leaving.value?.isCancelled == false)
      }
    }
    #expect(leaving.value?.isCancelled == true)
  }

  @Test("K13: a source may have two guards, and a guard after its end")
  func guards() {
    let source = CancellationTokenSource()
    do {
      let first = CancellationGuard(source)
      let second = CancellationGuard(source)
      first.disarm()
      #expect(!second.token.isCancelled)
    }
    #expect(source.isCancelled)
    let ended = CancellationTokenSource()
    ended.complete()
    do { _ = CancellationGuard(ended) }
    #expect(!ended.isCancelled && ended.token.isCompleted)
  }

  // MARK: Task stores

  @Test("K13: a store takes a cancel of an unknown id, two cancels, and one from inside the task")
  func store() async throws {
    let store = TaskStore<Int>()
    store.cancel(7)
    store.cancelAll()
    let isCancelled = store.addTask(id: 1) { [unowned store] in
      store.cancel(1)
      store.cancel(1)
      store.cancelAll()
      return Task.isCancelled && store.count(1) == 0
    }
    #expect(try await isCancelled.value)
    // The policy finds no task, since the task that adds has been taken out before.
    let again = store.addTask(id: 1) { [unowned store] in
      store.cancel(1)
      return try await store.addTask(id: 1, policy: .skipIfRunning) { !Task.isCancelled }.value
    }
    #expect(try await again.value)
    #expect(await eventually { store.count(1) == 0 })
  }

  @Test(
    "K13: tasks added and cancelled from the deinit of the store's owner start cancelled or are")
  func storeInDeinit() async throws {
    let task = Slot<Task<Bool, any Error>>()
    let gate = Gate()
    do {
      _ = Owner { owner in
        owner.tasks.cancelAll()
        task.value = owner.tasks.addTask(id: 1) {
          await gate.wait()
          return Task.isCancelled
        }
      }
    }
    gate.open()
    #expect(try await task.value!.value)
  }

  // MARK: Awaiting

  enum State: CaseIterable { case never, notCancelled, cancelled }

  private func token(_ state: State) -> CancellationToken {
    switch state {
    case .never: return .never
    case .notCancelled: return CancellationTokenSource().token
    case .cancelled: return .cancelled
    }
  }

  @Test(
    "K11: a token that has ended is awaited at once, twice, and in a cancelled task",
    arguments: State.allCases)
  func awaiting(state: State) async {
    let token = token(state)
    #expect(await token.waitUntilCancelled() == (state == .cancelled))
    #expect(await token.waitUntilCancelled() == token.isCancelled)
    let fromCancelled = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await token.waitUntilCancelled()
    }
    #expect(await fromCancelled.value == (state == .cancelled))
    let pending = CancellationTokenSource()
    let waiter = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await pending.token.waitUntilCancelled()
    }
    #expect(await waiter.value == false && !pending.token.isCompleted)
  }

  @Test(
    "K11: scopes, tasks and sequences end at once on a token that has ended",
    arguments: State.allCases)
  func scopes(state: State) async throws {
    let token = token(state)
    let isCancelled = state == .cancelled
    let calls = Counter()
    await withCancellationHandler(for: token) {
      #expect(calls.value == (isCancelled ? 1 : 0), "before the operation")
      token.onCancel { calls.increment() }
    } onCancel: {
      calls.increment()
    }
    #expect(calls.value == (isCancelled ? 2 : 0))
    #expect(try await Task(cancelledBy: token) { Task.isCancelled }.value == isCancelled)
    var elements = 0
    let (numbers, numbersEnd) = AsyncStream.makeStream(of: Int.self)
    numbersEnd.yield(1)
    numbersEnd.finish()
    for await _ in numbers.prefix(until: token) { elements += 1 }
    #expect(elements == (isCancelled ? 0 : 1))
  }

  @Test("K11: the token of a scope may be used after it, and inside another scope")
  func afterTheScope() async {
    let calls = Counter()
    let token = await withCancellationToken { token in
      await withCancellationHandler(for: token) {
        token.onCancel { calls.increment() }
        return token
      } onCancel: {
        calls.increment()
      }
    }
    #expect(token.isCompleted && !token.isCancelled && calls.value == 0)
    token.onCancel { calls.increment() }
    let cancelled = await token.waitUntilCancelled()
    #expect(calls.value == 0 && !cancelled)
  }
}
