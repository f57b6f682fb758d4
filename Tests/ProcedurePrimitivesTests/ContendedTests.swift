import Dispatch
import ProcedurePrimitives
import Synchronization
import ProcedureTestSupport
import Testing

/// The lock that is not handed over.
@Suite(.hangLimit)
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

  // A waiting thread lends its priority to the thread that holds the lock: the system sees the
  // latter hold something.
  //
  //     waits, and holds the user's lock        had the lock
  //     looks: the other one holds it
  //                                             releases it, and sees no loan
  //     lends, and sleeps
  //                                             wants the user's lock: a deadlock, says the system
  //
  // Then `Mutex` stops the program. Rare: with STRESS it came once a minute.
  @Test("a thread that has just released it may want a lock that a waiting thread holds")
  func userLock() async {
    let (ours, users) = (Counter(), Counter())
    let rounds = Rounds.size(5_000_000, otherwise: 20_000)
    await withTaskGroup { group in
      group.addTask {
        await onThreadOfItsOwn {
          for round in 0..<rounds {
            users.mutex.withLock { _ in ours.lock.withLock { $0.count += 1 } }
            compute(round * 7_919 % 3_000)
          }
        }
      }
      group.addTask {
        await onThreadOfItsOwn {
          for round in 0..<rounds {
            ours.lock.withLock { _ in compute(round * 104_729 % 4_000) }
            users.mutex.withLock { $0 += 1 }
          }
        }
      }
    }
    #expect(ours.lock.withLock { $0.count } == rounds && users.mutex.withLock { $0 } == rounds)
  }

  #if DEBUG
    @Test("a thread that does not hold the lock fails the assertion in a debug build")
    func assertion() async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        let lock = Contended(0)
        lock.withLock { _ in lock.assertHeld() }
        StandardError.write("the holder went on\n")
        lock.assertHeld()
      }
      #expect(message(of: result).contains("the holder went on"))
      #expect(message(of: result).contains("does not hold the lock of an OwnedLock"))
    }
  #endif

  @Test("the value is released with the lock; errors come out with their type")
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
    let mutex = Locked(0)
    let lock = Contended((count: 0, isInside: false))
  }
}

/// Keeps the processor busy for some nanoseconds each.
@inline(never)
private func compute(_ steps: Int) {
  var state: UInt64 = 1
  for step in 0..<steps { state = state &* 6_364_136_223_846_793_005 &+ UInt64(step) }
  precondition(state != 0 || steps == 0)
}
