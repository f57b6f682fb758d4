import Dispatch
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct LockedTests {
  struct Failure: Error {}

  @Test("one thread at a time is inside")
  func exclusion() {
    let lock = Locked(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<1_000 { lock.withLock { $0 += 1 } }
    }
    #expect(lock.withLock { $0 } == 8_000)
  }

  @Test("a thrown error comes out with its type and leaves the lock free")
  func throwing() {
    let lock = Locked(1)
    do throws(Failure) {
      try lock.withLock { (value: inout Int) throws(Failure) in
        value = 2
        throw Failure()
      }
      Issue.record("did not throw")
    } catch {}
    #expect(lock.withLock { $0 } == 2)
  }

  @Test("an atomic byte is exchanged by one thread only")
  func atomicByte() {
    let winners = Locked(0)
    let byte = AtomicByte(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      if byte.compareExchange(0, 1) { winners.withLock { $0 += 1 } }
    }
    #expect(winners.withLock { $0 } == 1)
    #expect(byte.load() == 1 && byte.exchange(2) == 1)
    byte.store(3)
    #expect(byte.load() == 3 && !byte.compareExchange(2, 4))
  }
}
