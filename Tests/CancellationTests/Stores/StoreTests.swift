import Cancellation
import Dispatch
import ProcedureTestSupport
import Testing

/// K13: `TaskStore`, `SerialCancellation`, `CancellationGuard`.
@Suite(.hangLimit) struct StoreTests {
  enum Work: Hashable { case search, save }
  struct Failure: Error {}

  // MARK: TaskStore

  @Test("K13: a store counts all of its tasks, and those under one id")
  func counts() async throws {
    let (store, gate) = (TaskStore<Int>(), Gate())
    #expect(store.isEmpty && store.count == 0)
    let tasks = [1, 1, 2].map { id in store.addTask(id: id) { await gate.wait() } }
    #expect(!store.isEmpty && store.count == 3 && store.count(1) == 2)
    store.cancel(1)
    #expect(store.count == 1)
    gate.open()
    for task in tasks { try await task.value }
    #expect(store.isEmpty && store.count == 0)
  }

  @Test("K13: tasks are kept by id, several under one, and leave by themselves")
  func concurrent() async throws {
    let store = TaskStore<Work>()
    let gates = (0..<3).map { _ in Gate() }
    let first = store.addTask(id: .search) { await gates[0].wait() }
    let second = store.addTask(id: .search) { () -> Int in
      await gates[1].wait()
      return 2
    }
    let third = store.addTask(id: .save) {
      await gates[2].wait()
      throw Failure()
    }
    #expect(store.count(.search) == 2 && store.count(.save) == 1)
    gates[0].open()
    try await first.value
    #expect(store.count(.search) == 1)
    for gate in gates { gate.open() }
    #expect(try await second.value == 2)
    await #expect(throws: Failure.self) { try await third.value }
    #expect(store.count(.search) == 0 && store.count(.save) == 0)
  }

  @Test("K13: cancel(id) cancels that id only, cancelAll all; both empty the count at once")
  func cancel() async throws {
    let store = TaskStore<Work>()
    let searches = (0..<2).map { _ in store.addTask(id: .search) { await untilCancelled() } }
    let save = store.addTask(id: .save) { await untilCancelled() }
    store.cancel(.search)
    #expect(store.count(.search) == 0 && store.count(.save) == 1)
    for task in searches { try await task.value }
    #expect(!save.isCancelled)
    store.cancelAll()
    #expect(store.count(.save) == 0)
    try await save.value
    store.cancel(.search)
    // It may be used again.
    #expect(try await !store.addTask(id: .search) { Task.isCancelled }.value)
  }

  @Test("K13: all tasks are cancelled when the store goes, and do not keep it")
  func storeGoes() async throws {
    var store: TaskStore<DefaultTaskID>? = TaskStore()
    weak let weakStore = store
    let task = store!.addTask { await untilCancelled() }
    store = nil
    #expect(weakStore == nil)
    try await task.value
  }

  @Test("K13: the id may be left out where it is the default one")
  func defaultID() async throws {
    let store = TaskStore<DefaultTaskID>()
    let gate = Gate()
    let tasks = (0..<2).map { _ in store.addTask { await gate.wait() } }
    #expect(store.count(DefaultTaskID()) == 2)
    gate.open()
    for task in tasks { try await task.value }
  }

  @Test("K13: cancelPrevious cancels the old task before the new one's first line")
  func cancelPrevious() async throws {
    let store = TaskStore<Work>()
    for _ in 0..<100 {
      let old = store.addTask(id: .search, policy: .cancelPrevious) { await untilCancelled() }
      let isFirstCancelled = store.addTask(id: .search, policy: .cancelPrevious) {
        old.isCancelled
      }
      #expect(try await isFirstCancelled.value)
      try await old.value
    }
  }

  /// Three tasks under one id. The handler of the first that is cancelled calls `inFirstHandler`.
  ///
  /// They do not end before `end` opens: a task waits for its running handlers, on a thread of the
  /// pool.
  private static func tasks(
    in store: TaskStore<Work>, until end: Gate, inFirstHandler: @escaping @Sendable () -> Void
  ) async -> [Task<Void, any Error>] {
    let calls = Counter()
    var tasks: [Task<Void, any Error>] = []
    for _ in 0..<3 {
      let hasHandler = Gate()
      tasks.append(
        store.addTask(id: .search) {
          await withTaskCancellationHandler {
            hasHandler.open()
            await end.wait()
          } onCancel: {
            if calls.increment() == 1 { inFirstHandler() }
          }
        })
      await hasHandler.wait()
    }
    return tasks
  }

  enum Cancel: CaseIterable { case addition, id, all }

  @Test(
    "K13: with cancelPrevious no task begins before all older ones read cancelled, which another caller cancels",
    arguments: Cancel.allCases)
  func cancelPreviousMeanwhile(cancel: Cancel) async throws {
    let store = TaskStore<Work>()
    let (isCancelling, mayGoOn, isDone, end) = (Gate(), Gate(), Gate(), Gate())
    let old = await Self.tasks(in: store, until: end) {
      isCancelling.open()
      mayGoOn.block()
    }
    let first = Slot<Task<Void, any Error>>()
    DispatchQueue(label: "another caller").async {
      switch cancel {
      case .addition:
        first.value = store.addTask(id: .search, policy: .cancelPrevious) { await untilCancelled() }
      case .id: store.cancel(.search)
      case .all: store.cancelAll()
      }
      isDone.open()
    }
    await isCancelling.wait()
    // The other caller is inside a handler of the first of the old tasks.
    #expect(store.count == (cancel == .addition ? 1 : 0))
    #expect(store.isEmpty == (cancel != .addition))
    let areCancelled = store.addTask(id: .search, policy: .cancelPrevious) {
      old.map(\.isCancelled)
    }
    #expect(try await areCancelled.value == [true, true, true])
    mayGoOn.open()
    await isDone.wait()
    end.open()
    for task in old { try await task.value }
    try await first.value?.value
    #expect(await eventually { store.isEmpty })
  }

  @Test(
    "K13: a handler of an old task may add with cancelPrevious, and all older ones read cancelled")
  func cancelPreviousInside() async throws {
    let store = TaskStore<Work>()
    let (old, end) = (Recorder<Task<Void, any Error>>(), Gate())
    let inner = Slot<Task<[Bool], any Error>>()
    let tasks = await Self.tasks(in: store, until: end) {
      inner.value = store.addTask(id: .search, policy: .cancelPrevious) {
        old.events.map(\.isCancelled)
      }
    }
    for task in tasks { old.note(task) }
    let outer = store.addTask(id: .search, policy: .cancelPrevious) { Task.isCancelled }
    #expect(try await inner.value?.value == [true, true, true])
    // It is older than the one that the handler has added.
    #expect(try await outer.value)
    end.open()
    for task in tasks { try await task.value }
    #expect(await eventually { store.isEmpty })
  }

  @Test("K13: with cancelPrevious no task begins before older ones read cancelled, added at once")
  func cancelPreviousRace() async throws {
    for _ in 0..<Rounds.few * 4 {
      let store = TaskStore<Work>()
      let old = store.addTask(id: .search) { await untilCancelled() }
      let areCancelled = Recorder<Task<Bool, any Error>>()
      let add: @Sendable () -> Void = {
        areCancelled.note(
          store.addTask(id: .search, policy: .cancelPrevious) { old.isCancelled })
      }
      raceOnThreads(add, add)
      for task in areCancelled.events { #expect(try await task.value) }
    }
  }

  @Test("K13: skipIfRunning returns the running task, and starts when none is")
  func skipIfRunning() async throws {
    let store = TaskStore<Work>()
    let gate = Gate()
    let first = store.addTask(id: .save, policy: .skipIfRunning) { () -> Int in
      await gate.wait()
      return 1
    }
    let second = store.addTask(id: .save, policy: .skipIfRunning) { () -> Int in
      Issue.record("started")
      return 2
    }
    #expect(first == second && store.count(.save) == 1)
    let other = store.addTask(id: .save, policy: .skipIfRunning) { "another type" }
    await #expect(throws: CancellationError.self) { try await other.value }
    gate.open()
    #expect(try await second.value == 1)
    #expect(try await store.addTask(id: .save, policy: .skipIfRunning) { 3 }.value == 3)
  }

  @Test("K13: a task that ends late does not take its successor along")
  func identity() async throws {
    let store = TaskStore<Work>()
    let (old, new) = (Gate(), Gate())
    let first = store.addTask(id: .search, policy: .cancelPrevious) { await old.wait() }
    let second = store.addTask(id: .search, policy: .cancelPrevious) { await new.wait() }
    old.open()
    try await first.value
    #expect(store.count(.search) == 1)
    new.open()
    try await second.value
    #expect(store.count(.search) == 0)
  }

  @Test("K13: a task that is cancelled in the turn that adds it starts cancelled")
  func cancelledBeforeStart() async throws {
    let store = TaskStore<Work>()
    for _ in 0..<Rounds.few {
      let task = store.addTask(id: .search) { await untilCancelled() }
      store.cancelAll()
      #expect(task.isCancelled && store.isEmpty)
      try await task.value
    }
  }

  @Test(
    "K13: one task survives under cancelPrevious, and none is lost, when threads add and cancel at once"
  )
  func race() async throws {
    for _ in 0..<Rounds.few / 4 {
      let store = TaskStore<Work>()
      let tasks = Recorder<Task<Void, any Error>>()
      let add: @Sendable () -> Void = {
        let task = store.addTask(id: .search, policy: .cancelPrevious) { await untilCancelled() }
        tasks.note(task)
      }
      raceOnThreads(add, add, add)
      #expect(store.count(.search) == 1)
      #expect(tasks.events.filter { !$0.isCancelled }.count == 1)
      raceOnThreads(
        { store.cancelAll() },
        { tasks.note(store.addTask(id: .save, policy: .skipIfRunning) { await untilCancelled() }) },
        { tasks.note(store.addTask(id: .save, policy: .skipIfRunning) { await untilCancelled() }) })
      store.cancelAll()
      for task in tasks.events { try await task.value }
    }
  }

  @Test("K13: 20,000 tasks under one id come and go in linear time")
  func many() async throws {
    let store = TaskStore<DefaultTaskID>()
    let gate = Gate()
    let tasks = (0..<20_000).map { _ in store.addTask { await gate.wait() } }
    gate.open()
    for task in tasks { try await task.value }
    #expect(store.count(DefaultTaskID()) == 0)
  }

  // MARK: SerialCancellation

  @Test("K13: renew cancels the token before, handlers done, and returns a pending one")
  func renew() {
    let serial = SerialCancellation()
    let first = serial.renew()
    let calls = Counter()
    first.onCancel { calls.increment() }
    #expect(!first.isCompleted)
    let second = serial.renew()
    #expect(first.isCancelled && calls.value == 1 && !second.isCompleted)
    serial.cancel()
    #expect(second.isCancelled && serial.renew().isCancelled)
    serial.cancel()
  }

  @Test("K13: the current token is cancelled when the object goes")
  func serialGoes() {
    var serial: SerialCancellation? = SerialCancellation()
    let token = serial!.renew()
    serial = nil
    #expect(token.isCancelled)
  }

  @Test("K13: exactly one token of concurrent renews stays pending; a cancel leaves none")
  func renewRace() {
    for round in 0..<Rounds.few {
      let serial = SerialCancellation()
      let tokens = Recorder<CancellationToken>()
      let renew: @Sendable () -> Void = { for _ in 0..<5 { tokens.note(serial.renew()) } }
      if round % 2 == 0 {
        raceOnThreads(renew, renew, renew)
      } else {
        raceOnThreads(renew, renew, { serial.cancel() })
      }
      #expect(tokens.events.filter { !$0.isCancelled }.count == (round % 2 == 0 ? 1 : 0))
    }
  }

  @Test("K13: all tokens before read cancelled when renew returns, also beside another renew")
  func renewedMeanwhile() {
    for _ in 0..<Rounds.few * 20 {
      let serial = SerialCancellation()
      let first = serial.renew()
      let areCancelled = Recorder<Bool>()
      let renew: @Sendable () -> Void = {
        _ = serial.renew()
        areCancelled.note(first.isCancelled)
      }
      raceOnThreads(renew, renew)
      #expect(areCancelled.events == [true, true])
    }
  }

  @Test("K13: a handler of the replaced token may renew")
  func renewInside() {
    let serial = SerialCancellation()
    let inner = Slot<CancellationToken>()
    serial.renew().onCancel { inner.value = serial.renew() }
    let outer = serial.renew()
    #expect(outer.isCancelled && inner.value?.isCompleted == false)
  }

  // MARK: CancellationGuard

  @Test("K13: a guard cancels when it goes out of scope, by a throw too, unless disarmed")
  func guardScope() {
    func run(disarms: Bool, throwing: Bool) -> CancellationToken {
      let source = CancellationTokenSource()
      do {
        let cancellation = CancellationGuard(source)
        #expect(cancellation.token == source.token && !cancellation.token.isCompleted)
        if throwing { throw Failure() }
        if disarms { cancellation.disarm() }
      } catch {}
      #expect(source.isCancelled != disarms)
      return source.token
    }
    #expect(run(disarms: false, throwing: false).isCancelled)
    #expect(run(disarms: false, throwing: true).isCancelled)
    #expect(!run(disarms: true, throwing: false).isCancelled)
  }

  @Test("K13: a guard as a stored property cancels with its owner")
  func guardProperty() {
    final class Screen {
      let cancellation = CancellationGuard(CancellationTokenSource())
    }
    var screen: Screen? = Screen()
    let token = screen!.cancellation.token
    #expect(!token.isCompleted)
    screen = nil
    #expect(token.isCancelled)
  }
}

/// Ends when the current task is cancelled.
private func untilCancelled() async {
  await withCancellationToken { token in _ = await token.waitUntilCancelled() }
}
