#if os(Linux)
  import Dispatch
  import Foundation
  import ProcedurePrimitives
  import ProcedureTestSupport
  import Synchronization
  import Testing

  /// A thread that must not wait stands behind one that hardly ever runs.
  ///
  /// ```
  /// nice 19    acquires, and has used up its share ··································· releases
  /// ordinary                                        keeps the processor ······················
  /// real time                                         wants the lock ·········· has it
  /// ```
  @Suite(.serialized, .hangLimit)
  struct PriorityTests {
    enum Kind: CaseIterable { case owned, contended, mutex }

    @Test(
      "a thread that waits for a lock lends its priority to the thread that holds it",
      .enabled(if: SchedulingOfThreads.canBeSet, "needs the right to set priorities"),
      arguments: Kind.allCases)
    func lending(kind: Kind) async {
      // Some 60 µs. Where nothing is lent it is 100 ms and more, because the holder must wait for
      // its share. The machine may stop for longer now and then, and not in most tries.
      #expect(await medianWait(kind) < .milliseconds(50))
    }

    @Test(
      "threads that wait for one lock at once lend to each that holds it, and get it",
      .enabled(if: SchedulingOfThreads.canBeSet, "needs the right to set priorities"))
    func manyLend() async {
      let counter = Counter()
      let rounds = Rounds.few * 10
      await withTaskGroup { group in
        for index in 0..<6 {
          group.addTask {
            await onNewThread {
              SchedulingOfThreads.pinToOneCore()
              if index < 2 { SchedulingOfThreads.becomeRealTime() }
              for _ in 0..<rounds {
                counter.lock.acquire()
                counter.count += 1
                // Others lose the processor to it, or it to others, while it is inside.
                if counter.count % 64 == 0 { for _ in 0..<2_000 { counter.count ^= 0 } }
                counter.lock.release()
                if index < 2 { usleep(20) }
              }
            }
          }
        }
      }
      #expect(counter.count == 6 * rounds)
    }

    private func medianWait(_ kind: Kind) async -> Duration {
      switch kind {
      case .owned:
        let counter = Counter()
        return await medianWait { body in
          counter.lock.acquire()
          body()
          counter.lock.release()
        }
      case .contended:
        let list = List()
        return await medianWait { body in list.lock.withLock { _ in body() } }
      case .mutex:
        let lock = Excluding()
        return await medianWait { body in lock.lock.withLock { _ in body() } }
      }
    }

    private func medianWait(
      _ locked: @escaping @Sendable (_ body: () -> Void) -> Void
    ) async -> Duration {
      var waits: [Duration] = []
      for _ in 0..<5 {
        let (isHeld, isWanted, isOver) = (Flag(), Flag(), Flag())
        async let holder: Void = onNewThread {
          SchedulingOfThreads.pinToOneCore()
          SchedulingOfThreads.becomeNice()
          locked {
            let start = ContinuousClock.now
            while start.duration(to: .now) < .milliseconds(5) {}
            isHeld.set()
            while !isWanted.isSet {}
          }
        }
        async let hog: Void = onNewThread {
          SchedulingOfThreads.pinToOneCore()
          while !isHeld.isSet { usleep(100) }
          while !isOver.isSet {}
        }
        let wait = Locked(Duration.zero)
        await onNewThread {
          SchedulingOfThreads.pinToOneCore()
          SchedulingOfThreads.becomeRealTime()
          while !isHeld.isSet { usleep(100) }
          // The hog has begun by then.
          usleep(2_000)
          isWanted.set()
          let start = ContinuousClock.now
          locked {}
          let end = ContinuousClock.now
          wait.withLock { $0 = start.duration(to: end) }
          isOver.set()
        }
        _ = await (holder, hog)
        waits.append(wait.withLock { $0 })
      }
      return waits.sorted()[2]
    }

    private final class Flag: Sendable {
      private let value = Atomic(false)

      var isSet: Bool { value.load(ordering: .acquiring) }
      func set() { value.store(true, ordering: .releasing) }
    }

    private final class Counter: @unchecked Sendable {
      let lock = OwnedLock()
      @safe @exclusivity(unchecked) var count = 0
    }

    private final class List: Sendable {
      let lock = Contended(())
    }

    private final class Excluding: Sendable {
      let lock = Locked(())
    }
  }

  /// Not one of Dispatch's, which others would get with the priority that it was given here.
  private func onNewThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      Thread {
        body()
        continuation.resume()
      }.start()
    }
  }

  /// Of the calling thread only.
  private enum SchedulingOfThreads {
    static let canBeSet: Bool = {
      let answer = Locked(false)
      let thread = Thread { answer.withLock { $0 = becomeRealTime() } }
      thread.start()
      while !thread.isFinished { usleep(100) }
      return answer.withLock { $0 }
    }()

    @discardableResult
    static func becomeRealTime() -> Bool {
      var parameters = sched_param()
      parameters.sched_priority = 10
      return unsafe sched_setscheduler(0, SCHED_FIFO, &parameters) == 0
    }

    static func becomeNice() { setpriority(Int32(PRIO_PROCESS.rawValue), 0, 19) }

    static func pinToOneCore() {
      var allowed = [UInt64](repeating: 0, count: 16)
      _ = unsafe getAffinity(0, 128, &allowed)
      guard let word = allowed.firstIndex(where: { $0 != 0 }) else { return }
      var one = [UInt64](repeating: 0, count: 16)
      one[word] = 1 << UInt64(allowed[word].trailingZeroBitCount)
      _ = unsafe setAffinity(0, 128, &one)
    }

    // Glibc's headers hide them from Swift.
    @_silgen_name("sched_getaffinity")
    private static func getAffinity(
      _ thread: Int32, _ size: Int, _ cores: UnsafeMutablePointer<UInt64>
    ) -> Int32
    @_silgen_name("sched_setaffinity")
    private static func setAffinity(
      _ thread: Int32, _ size: Int, _ cores: UnsafePointer<UInt64>
    ) -> Int32
  }
#endif
