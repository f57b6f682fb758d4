import ProcedurePrimitives
import Procedures
import Synchronization

/// Something that any thread sets, once.
final class Flag: Sendable {
  private let value: Atomic<Bool>

  init(_ value: Bool = false) {
    self.value = Atomic(value)
  }

  var isSet: Bool { value.load(ordering: .acquiring) }
  func set() { value.store(true, ordering: .releasing) }
  func clear() { value.store(false, ordering: .releasing) }
  func exchange(_ new: Bool) -> Bool { value.exchange(new, ordering: .acquiringAndReleasing) }
}

/// Counts down, from any thread.
final class Counting: Sendable {
  private let count: Atomic<Int>

  init(_ count: Int) {
    self.count = Atomic(count)
  }

  var isLeft: Bool { count.load(ordering: .acquiring) > 0 }
  func subtract() { count.subtract(1, ordering: .acquiringAndReleasing) }
}

/// Counts the objects of a round that are alive: each procedure, and its closures, have one.
final class Tracer: Sendable {
  private let round: StormRound

  init(_ round: StormRound) {
    self.round = round
    round.aliveCount.add(1, ordering: .relaxed)
  }

  deinit { round.aliveCount.subtract(1, ordering: .relaxed) }
}

/// The highest limit that there ever was, and how many run.
final class HighestLimit: Sendable {
  private struct State {
    var highest: Int
    var running = 0
    var isBarrierRunning = false
  }

  private let state: Locked<State>

  init(_ limit: Int) {
    state = Locked(State(highest: limit))
  }

  /// Called before the limit is raised.
  func allow(_ limit: Int) { state.withLock { $0.highest = max($0.highest, limit) } }

  /// - Returns: what is wrong.
  func begin(isBarrier: Bool) -> String? {
    state.withLock { state in
      state.running += 1
      let others = state.running - 1
      let wasBarrierRunning = state.isBarrierRunning
      if isBarrier { state.isBarrierRunning = true }
      if wasBarrierRunning { return "began beside a barrier" }
      if isBarrier, others > 0 { return "is a barrier, and began beside \(others)" }
      return state.running > state.highest ? "Q2: is one too many of \(state.highest)" : nil
    }
  }

  func end(isBarrier: Bool) {
    state.withLock { state in
      state.running -= 1
      if isBarrier { state.isBarrierRunning = false }
    }
  }
}

/// One category that a node excludes others from, and those with which it competes for it.
struct StormExclusion: Hashable, Sendable {
  enum Name: Hashable, Sendable { case red, green, pair }

  let name: Name
  /// The round that it is of; 0 for the process.
  let domain: UInt64
  /// The nearest group around it that holds the same category, inside of which it competes.
  let holder: Int?

  var limit: Int { name == .pair ? 2 : 1 }

  private static let holders = Locked<[StormExclusion: Int]>([:])

  /// - Returns: whether there are no more than allowed.
  func begin() -> Bool {
    Self.holders.withLock { holders in
      holders[self, default: 0] += 1
      return holders[self, default: 0] <= limit
    }
  }

  func end() {
    Self.holders.withLock { holders in
      let count = holders[self, default: 0] - 1
      holders[self] = count == 0 ? nil : count
    }
  }
}

/// A queue of a round, until a thread lets go of it.
final class StormQueue: Sendable {
  let slot: Locked<ProcedureQueue?>
  let running: HighestLimit
  /// Set before the queue is resumed for the first time.
  let mayRun: Flag
  /// Set before `cancelAll`, or before it is closed.
  let mayCancel = Flag()
  let isFixed: Bool

  init(_ queue: ProcedureQueue, limit: Int, isFixed: Bool) {
    slot = Locked(queue)
    running = HighestLimit(limit)
    mayRun = Flag(!queue.isSuspended)
    self.isFixed = isFixed
  }

  var queue: ProcedureQueue? { slot.withLock { $0 } }

  func resume() {
    mayRun.set()
    queue?.isSuspended = false
  }
}
