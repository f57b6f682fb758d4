#if MODEL
  import ProcedurePrimitives
  import ProcedureTestSupport
  import Testing

  /// The explorer finds what is there to be found; otherwise its silence would mean nothing.
  @Suite(.serialized, .hangLimit) struct ExplorerTests {
    @Test("a check that is not part of the act is found")
    func checkThenAct() {
      #expect(throws: Explorer.Failure.self) {
        try Explorer(preemptions: 1).explore {
          let value = Locked<Int?>(nil)
          let wins = PlainCounter()
          let set: @Sendable () -> Void = {
            if value.withLock({ $0 }) == nil {
              value.withLock { $0 = 1 }
              wins.value += 1
            }
          }
          return .init(threads: [set, set]) { try require(wins.value == 1, "both won") }
        }
      }
    }

    @Test("two locks taken in two orders are found to deadlock")
    func deadlock() {
      #expect(throws: Explorer.Failure.self) {
        try Explorer(preemptions: 1).explore {
          let locks = Pair()
          return .init(
            threads: [
              { locks.first.withLock { _ in locks.second.withLock { _ in } } },
              { locks.second.withLock { _ in locks.first.withLock { _ in } } },
            ], check: {})
        }
      }
    }

    @Test("a lock around check and act is found correct, under more than one schedule")
    func correct() throws {
      let result = try Explorer().explore {
        let value = Locked(0)
        let add: @Sendable () -> Void = { value.withLock { $0 += 1 } }
        return .init(threads: [add, add, add]) {
          try require(value.withLock { $0 } == 3, "an addition was lost")
        }
      }
      #expect(result.schedules > 1)
    }

    private final class Pair: Sendable {
      let first = Locked(0)
      let second = Locked(0)
    }
  }
#endif
