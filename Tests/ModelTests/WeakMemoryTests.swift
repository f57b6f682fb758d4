#if MODEL
  import ProcedurePrimitives
  import ProcedureTestSupport
  import Testing

  /// What two threads may see of each other, by each of the primitives: the orders that the library
  /// rests on hold, and those that no processor promises are found broken.
  @Suite(.serialized, .hangLimit) struct WeakMemoryTests {
    /// Two of each kind, and a number without an order of its own.
    private final class Shared: Sendable {
      let first = AtomicByte(0)
      let second = AtomicByte(0)
      let firstWord = AtomicWord(0)
      let secondWord = AtomicWord(0)
      let lockByte = LockByte(0)
      let contended = Contended(0)
      let locked = Locked(0)
      let data = UseCount(of: "the data of a test")
    }

    /// Explores threads that share something, each schedule anew.
    ///
    /// - Parameter isBroken: called when they have ended, with what they have noted.
    @discardableResult
    private func explore(
      staleReads: Int = 1, _ threads: [@Sendable (Shared, PlainLog<Int>) -> Void],
      isBroken: @escaping ([Int]) -> Bool = { _ in false }
    ) throws -> Explorer.Exploration {
      try Explorer(staleReads: staleReads).explore {
        let (shared, log) = (Shared(), PlainLog<Int>())
        return .init(threads: threads.map { thread in { thread(shared, log) } }) {
          try require(!isBroken(log.events), "\(log.events)")
        }
      }
    }

    @Test("a thread that reads a byte sees the writes before its store")
    func messageByByte() throws {
      try explore(
        staleReads: 2,
        [
          { shared, _ in
            shared.data.note()
            shared.first.store(1)
            shared.second.store(1)
          },
          { shared, log in
            guard shared.second.load() == 1 else { return }
            log.events.append(Int(shared.first.load()))
            shared.data.note()
          },
        ]
      ) { $0 == [0] }
    }

    @Test("a thread that reads a word sees the writes of each thread that changed it")
    func messageByWord() throws {
      try explore(
        staleReads: 2,
        [
          { shared, _ in
            shared.first.store(1)
            shared.firstWord.insert(1)
          },
          { shared, _ in
            shared.second.store(1)
            let found = shared.firstWord.load()
            if shared.firstWord.replace(found, with: found | 2).isDone { return }
            shared.firstWord.insert(2)
          },
          { shared, log in
            guard shared.firstWord.load() == 3 else { return }
            log.events = [Int(shared.first.load()), Int(shared.second.load())]
          },
        ]
      ) { $0.contains(0) }
    }

    @Test("a thread that reads the byte of a lock sees the writes before its publication")
    func messageByLockByte() throws {
      try explore(
        staleReads: 2,
        [
          { shared, _ in
            shared.first.store(1)
            let byte = shared.lockByte.acquire()
            shared.lockByte.publish(byte | 1)
            shared.second.store(1)
            shared.lockByte.release(publishing: byte | 3)
          },
          { shared, log in
            let byte = shared.lockByte.load() & 3
            if byte & 1 != 0 { log.events.append(Int(shared.first.load())) }
            if byte & 2 != 0 { log.events.append(Int(shared.second.load())) }
          },
        ]
      ) { $0.contains(0) }
    }

    @Test("a thread that acquires a lock sees the writes under it")
    func locks() throws {
      try explore(
        staleReads: 2,
        Array(
          repeating: { shared, log in
            shared.contended.withLock { value in
              value += 1
              shared.first.store(UInt8(value))
            }
            shared.contended.withLock { log.events.append(Int(shared.first.load()) - $0) }
            shared.locked.withLock { value in
              value += 1
              shared.second.store(UInt8(value))
            }
            shared.locked.withLock { log.events.append(Int(shared.second.load()) - $0) }
          }, count: 2)
      ) { $0.contains { $0 != 0 } }
    }

    @Test("a thread that reads an object that is set once sees all of it")
    func setOnce() throws {
      final class Object: Sendable {
        let data = UseCount(of: "the object")
        let byte = AtomicByte(0)
      }
      try Explorer(staleReads: 2).explore {
        let (place, log) = (Place<Object>(), PlainLog<UInt8>())
        return .init(threads: [
          {
            let object = Object()
            object.data.note()
            object.byte.store(1)
            place.object.set(object)
          },
          {
            guard let object = place.object.object else { return }
            object.data.note()
            log.events.append(object.byte.load())
          },
        ]) { try require(log.events != [0], "\(log.events)") }
      }
    }

    private final class Place<Object: AnyObject & Sendable>: Sendable {
      let object = SetOnce<Object>()
    }

    @Test("two threads that store a byte each may both read the other's old one: found")
    func storeBuffering() throws {
      let threads: [@Sendable (Shared, PlainLog<Int>) -> Void] = [
        { shared, log in
          shared.first.store(1)
          log.events.append(Int(shared.second.load()))
        },
        { shared, log in
          shared.second.store(1)
          log.events.append(Int(shared.first.load()))
        },
      ]
      #expect(throws: Explorer.Failure.self) { try explore(threads) { $0 == [0, 0] } }
      // Not by a memory that is sequentially consistent.
      try explore(staleReads: 0, threads) { $0 == [0, 0] }
    }

    @Test("two threads that change a word each may both read the other's old one: found")
    func changesAndLoads() throws {
      #expect(throws: Explorer.Failure.self) {
        try explore([
          { shared, log in
            shared.firstWord.insert(1)
            log.events.append(Int(shared.secondWord.load()))
          },
          { shared, log in
            shared.secondWord.insert(1)
            log.events.append(Int(shared.firstWord.load()))
          },
        ]) { $0 == [0, 0] }
      }
    }

    @Test("two threads that store a byte and then change one word cannot both read the old one")
    func storesAroundAChange() throws {
      try explore(
        staleReads: 2,
        [
          { shared, log in
            shared.first.store(1)
            shared.firstWord.order()
            log.events.append(Int(shared.second.load()))
          },
          { shared, log in
            shared.second.store(1)
            _ = shared.firstWord.keep(0)
            log.events.append(Int(shared.first.load()))
          },
        ]
      ) { $0 == [0, 0] }
    }

    @Test("the explorer finds a data race in the first schedule")
    func race() throws {
      let threads = [@Sendable (Shared, PlainLog<Int>) -> Void](
        repeating: { shared, _ in
          // Orders nothing: neither reads what the other has stored.
          shared.first.store(1)
          shared.data.note()
        }, count: 2)
      #expect(throws: Explorer.Failure.self) { try explore(staleReads: 0, threads) }
    }
  }
#endif
