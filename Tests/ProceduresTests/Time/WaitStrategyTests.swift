import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct WaitStrategyTests {
  private func seconds(_ strategy: WaitStrategy, _ count: Int = 6) -> [Int] {
    var iterator = strategy.makeIterator()
    return (0..<count).compactMap { _ in iterator.next() }.map { Int($0.components.seconds) }
  }

  @Test("the intervals of each strategy, in order, capped")
  func intervals() {
    #expect(seconds(.immediate, 3) == [0, 0, 0])
    #expect(seconds(.constant(.seconds(2)), 3) == [2, 2, 2])
    #expect(seconds(.incrementing(initial: .zero, increment: .seconds(3)), 4) == [0, 3, 6, 9])
    #expect(
      seconds(.incrementing(initial: .seconds(1), increment: .seconds(3), maximum: .seconds(5)))
        == [1, 4, 5, 5, 5, 5])
    #expect(
      seconds(.exponential(power: 2, period: .seconds(1), maximum: .seconds(20)), 7)
        == [1, 2, 4, 8, 16, 20, 20])
    #expect(
      seconds(.fibonacci(period: .seconds(1), maximum: .seconds(30)), 11)
        == [0, 1, 1, 2, 3, 5, 8, 13, 21, 30, 30])
    #expect(
      seconds(.iterator([Duration.seconds(4), .seconds(2)].makeIterator())) == [4, 2])
  }

  @Test("intervals are never negative, and never overflow")
  func bounds() {
    #expect(seconds(.constant(.seconds(-2)), 2) == [0, 0])
    #expect(seconds(.incrementing(initial: .seconds(3), increment: .seconds(-2)), 3) == [3, 1, 0])
    for strategy in [
      WaitStrategy.exponential(power: 1_000, period: .seconds(1)),
      .fibonacci(period: .seconds(1_000)),
      .incrementing(initial: .zero, increment: WaitStrategy.unlimited),
    ] {
      var iterator = strategy.makeIterator()
      var last = Duration.zero
      for _ in 0..<1_000 {
        let next = iterator.next() ?? .zero
        #expect(next >= last && next <= WaitStrategy.unlimited)
        last = next
      }
    }
  }

  @Test("random intervals and jitter stay within their bounds; a seed repeats them")
  func random() {
    let random = WaitStrategy.random(minimum: .seconds(1), maximum: .seconds(2))
    let jittered = WaitStrategy.constant(.seconds(10)).jittered(by: 0.2)
    var (first, second) = (random.makeIterator(), jittered.makeIterator())
    var drawn: Set<Duration> = []
    for _ in 0..<200 {
      let (wait, shortened) = (first.next()!, second.next()!)
      #expect(wait >= .seconds(1) && wait <= .seconds(2))
      #expect(shortened >= .seconds(8) && shortened <= .seconds(10))
      drawn.insert(wait)
    }
    #expect(drawn.count > 100)
    func seeded(_ seed: UInt64) -> [Duration] {
      var iterator = random.jittered().drawing(from: SimulationGenerator(seed: seed)).makeIterator()
      return (0..<20).map { _ in iterator.next()! }
    }
    #expect(seeded(7) == seeded(7) && seeded(7) != seeded(8))
  }
}
