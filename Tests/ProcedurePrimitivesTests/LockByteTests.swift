import Dispatch
import ProcedurePrimitives
import ProcedureTestSupport
import Synchronization
import Testing

/// The lock that is a bit of a published byte.
@Suite(.hangLimit)
struct LockByteTests {
  @Test("one thread at a time is inside, and sees what the one before wrote")
  func exclusion() async {
    let counter = Counter()
    let overlaps = Atomic(0)
    let rounds = Rounds.few * 100
    let count: @Sendable () -> Void = {
      for _ in 0..<rounds {
        let published = counter.byte.acquire()
        if counter.isInside { overlaps.wrappingAdd(1, ordering: .relaxed) }
        counter.isInside = true
        counter.count += 1
        // Long enough for others to fall asleep now and then.
        if counter.count % 1_024 == 0 { for _ in 0..<5_000 { counter.count ^= 0 } }
        counter.isInside = false
        counter.byte.release(publishing: (published + 1) & 0x7F)
      }
    }
    // More threads than cores, so that some lose the processor while they are inside.
    await withTaskGroup { group in
      for _ in 0..<6 { group.addTask { await onThreadOfItsOwn(count) } }
    }
    #expect(overlaps.load(ordering: .relaxed) == 0)
    #expect(counter.count == 6 * rounds)
    // Each added one to what it was given.
    #expect(counter.byte.load() == UInt8(6 * rounds & 0x7F))
  }

  @Test("a published value can be read while the lock is held, and remains after that")
  func publishing() {
    let byte = LockByte(3)
    #expect(byte.load() == 3)
    #expect(byte.acquire() == 3)
    byte.publish(5)
    #expect(byte.load() & 0x7F == 5)
    byte.release(publishing: 9)
    #expect(byte.load() == 9)
    #expect(byte.acquire() == 9)
    byte.release(publishing: 9)
  }

  #if DEBUG
    @Test("a thread that does not hold the lock fails the assertion in a debug build")
    func assertion() async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        let byte = LockByte(0)
        byte.release(publishing: byte.acquire())
        byte.assertHeld()
      }
      #expect(message(of: result).contains("does not hold the lock of a LockByte"))
    }

    @Test("a thread that acquires a second lock of that kind is stopped in a debug build")
    func twoAtATime() async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        let (first, second) = (Counter(), Counter())
        _ = first.byte.acquire()
        _ = second.byte.acquire()
      }
      #expect(message(of: result).contains("acquired two LockBytes at a time"))
    }

    @Test("a lock that another thread holds fails the assertion, and only there")
    func assertionOfAnotherThread() async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        let counter = Counter()
        _ = counter.byte.acquire()
        counter.byte.assertHeld()
        StandardError.write("the holder went on\n")
        await onThreadOfItsOwn { counter.byte.assertHeld() }
      }
      #expect(message(of: result).contains("the holder went on"))
      #expect(message(of: result).contains("does not hold the lock of a LockByte"))
    }
  #endif

  private final class Counter: @unchecked Sendable {
    let byte = LockByte(0)
    @safe @exclusivity(unchecked) var count = 0
    @safe @exclusivity(unchecked) var isInside = false
  }
}
