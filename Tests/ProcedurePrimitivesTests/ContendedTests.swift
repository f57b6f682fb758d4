import Dispatch
import ProcedurePrimitives
import Synchronization
import ProcedureTestSupport
import Testing

/// The lock that is not handed over.
@Suite(.timeLimit(.minutes(15)))
struct ContendedTests {
  @Test("no two threads are inside at once, and none sleeps for ever")
  func exclusion() async {
    let overlaps = Atomic(0)
    let counter = Counter()
    let rounds = Rounds.few * 100
    let count: @Sendable () -> Void = {
      for _ in 0..<rounds {
        counter.lock.withLock { state in
          if state.isInside { overlaps.wrappingAdd(1, ordering: .relaxed) }
          state.isInside = true
          state.count += 1
          // Long enough for others to fall asleep now and then.
          if state.count % 1_024 == 0 { for _ in 0..<5_000 { state.count ^= 0 } }
          state.isInside = false
        }
      }
    }
    // More threads than cores, so that some lose the processor while they are inside.
    await withTaskGroup { group in
      for _ in 0..<6 { group.addTask { await onThreadOfItsOwn(count) } }
    }
    #expect(overlaps.load(ordering: .relaxed) == 0)
    #expect(counter.lock.withLock { $0.count } == 6 * rounds)
  }

  @Test("what is inside is released with the lock; errors come out with their type")
  func value() {
    weak var weakObject: Object?
    do {
      let object = Object()
      weakObject = object
      let lock = Contended(object)
      #expect(throws: Failure()) { try lock.withLock { _ in throw Failure() } }
      #expect(lock.withLock { $0 === object })
    }
    #expect(weakObject == nil)
  }

  private struct Failure: Error, Equatable {}
  private final class Object: Sendable {}
  private final class Counter: Sendable {
    let lock = Contended((count: 0, isInside: false))
  }
}
