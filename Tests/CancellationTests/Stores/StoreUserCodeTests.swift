import Cancellation
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

/// K7, K13: ids are the user's; what they do when they are compared, hashed or released may use the
/// store that they are in.
@Suite(.hangLimit) struct StoreUserCodeTests {
  /// Runs something in `==`, in `hash(into:)` and in its `deinit`.
  final class BusyID: Hashable, Sendable {
    let name: Int
    let action: @Sendable () -> Void

    init(_ name: Int, _ action: @escaping @Sendable () -> Void) {
      self.name = name
      self.action = action
    }

    deinit { action() }

    static func == (left: BusyID, right: BusyID) -> Bool {
      left.action()
      return left.name == right.name
    }

    func hash(into hasher: inout Hasher) {
      action()
      hasher.combine(0)  // All in one place.
    }
  }

  @Test("K7, K13: ids may use their store in ==, hash(into:) and deinit")
  func busyIDs() async throws {
    let store = TaskStore<BusyID>()
    let calls = Counter()
    let isInside = Locked(false)
    let use: @Sendable () -> Void = { [weak store] in
      // Once: using it compares again.
      let isFirst = isInside.withLock { isInside in
        defer { isInside = true }
        return !isInside
      }
      guard isFirst else { return }
      calls.increment()
      _ = store?.count(BusyID(99) {})
      store?.addTask(id: BusyID(98) {}) {}
      store?.cancel(BusyID(98) {})
      isInside.withLock { $0 = false }
    }
    let gate = Gate()
    var tasks: [Task<Void, any Error>] = []
    for index in 0..<20 {
      let policy: TaskStore<BusyID>.Policy =
        index % 3 == 0 ? .cancelPrevious : index % 3 == 1 ? .concurrent : .skipIfRunning
      tasks.append(store.addTask(id: BusyID(index % 5, use), policy: policy) { await gate.wait() })
    }
    #expect((0..<5).allSatisfy { store.count(BusyID($0, use)) > 0 })
    store.cancel(BusyID(3, use))
    #expect(store.count(BusyID(3, use)) == 0 && store.count(BusyID(4, use)) > 0)
    gate.open()
    for task in tasks { try? await task.value }
    for index in 0..<5 { #expect(store.count(BusyID(index, use)) == 0) }
    store.addTask(id: BusyID(7, use)) { await gate.wait() }
    store.cancelAll()
    #expect(store.count(BusyID(7, use)) == 0)
    #expect(calls.value > 0)
  }

  @Test("K13: no task is lost whose id has the hash of all others, whatever several threads do")
  func collidingIDs() async throws {
    struct Colliding: Hashable {
      let name: Int
      func hash(into hasher: inout Hasher) { hasher.combine(1) }
    }
    for _ in 0..<Rounds.few / 10 {
      let store = TaskStore<Colliding>()
      let (gate, tasks) = (Gate(), Recorder<Task<Void, any Error>>())
      let add: @Sendable () -> Void = {
        for name in 0..<4 {
          tasks.note(store.addTask(id: Colliding(name: name)) { await gate.wait() })
        }
      }
      raceOnThreads(add, add, add)
      #expect((0..<4).allSatisfy { store.count(Colliding(name: $0)) == 3 })
      raceOnThreads({ store.cancel(Colliding(name: 0)) }, { gate.open() }, add)
      for task in tasks.events { try await task.value }
      #expect((0..<4).allSatisfy { store.count(Colliding(name: $0)) == 0 })
    }
  }

  @Test(
    "K13: nothing is kept of a task that has ended, however it did",
    arguments: ["ended", "replaced", "cancelled", "store gone"])
  func keepsNothing(end: String) async throws {
    let (isReleased, isResultReleased) = (Gate(), Gate())
    do {
      var store: TaskStore<Int>? = TaskStore<Int>()
      let capture = Tracker { isReleased.open() }
      let mayEnd = Gate()
      let task = store?.addTask(id: 1) {
        await mayEnd.wait()
        return withExtendedLifetime(capture) { Tracker { isResultReleased.open() } }
      }
      switch end {
      case "replaced": store?.addTask(id: 1, policy: .cancelPrevious) {}
      case "cancelled": store?.cancel(1)
      case "store gone": store = nil
      default: break
      }
      mayEnd.open()
      _ = try await task?.value
      if end == "ended" { withExtendedLifetime(store) {} }
    }
    #expect(await eventually { isReleased.isOpen && isResultReleased.isOpen })
  }

  @Test("K13: an id is released when its last task has ended, not with the store")
  func released() async throws {
    let store = TaskStore<BusyID>()
    let released = Counter()
    try await store.addTask(id: BusyID(1) {}) {}.value
    for round in 0..<100 {
      let task = store.addTask(id: BusyID(round) {}) {}
      store.cancel(BusyID(round) { released.increment() })
      try? await task.value
    }
    #expect(released.value > 0 && store.count(BusyID(1) {}) == 0)
  }
}
