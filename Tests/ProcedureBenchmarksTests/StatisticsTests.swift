import Testing

@testable import ProcedureBenchmarks

@Suite struct StatisticsTests {
  @Test("median and quartiles, between two samples where need be")
  func summary() {
    let odd = Summary([5, 1, 3, 2, 4])
    #expect(odd.median == 3 && odd.minimum == 1)
    #expect(odd.lowerQuartile == 2 && odd.upperQuartile == 4)
    #expect(odd.spread == 2 / 3.0)
    #expect(Summary([1, 2]).median == 1.5)
    #expect(Summary([7]).spread == 0)
    #expect(Summary([]).median == 0)
  }

  @Test("each entry is at each place, and after each other, equally often", arguments: 1...7)
  func order(count: Int) {
    let rounds = count % 2 == 0 ? count : 2 * count
    var places: [[Int]: Int] = [:]
    var neighbours: [[Int]: Int] = [:]
    for round in 0..<rounds {
      let order = BalancedOrder.order(of: count, round: round)
      #expect(order.sorted() == Array(0..<count))
      for (place, entry) in order.enumerated() { places[[place, entry], default: 0] += 1 }
      for pair in zip(order, order.dropFirst()) { neighbours[[pair.0, pair.1], default: 0] += 1 }
    }
    #expect(places.count == count * count)
    #expect(Set(places.values) == [rounds / count])
    #expect(neighbours.count == count * (count - 1))
    #expect(Set(neighbours.values).count <= 1)
  }

  @Test("numbers are short")
  func numbers() {
    #expect(
      [0, 0.004, 0.5, 9.99, 12.34, 99.94, 99.96, 1_234_567].map(\.short) == [
        "0.00", "0.00", "0.50", "9.99", "12.3", "99.9", "100", "1,234,567",
      ])
    #expect((-1.25).fixed(1) == "-1.3")
    #expect((-0.001).fixed(2) == "0.00")
    #expect(0.153.percent == "15 %")
    #expect((-1_000).grouped == "-1,000")
  }

  @Test("the median decides; with noise both quartiles must be on its side, or nothing is decided")
  func verdict() {
    let ceiling = Ceiling("it", .value(RowName("a", "b")), .times, 1, aim: 0.5)
    func verdict(_ samples: [Double], _ noise: Noise?) -> Cost.Verdict {
      Cost(ceiling, Summary(samples), noise: noise).verdict
    }
    #expect(verdict([0.8, 0.9, 1.2], nil) == .met)
    #expect(verdict([0.8, 0.9, 1.2], .rows) == .tooNoisy)
    #expect(verdict([0.7, 0.8, 0.9], .rows) == .met)
    #expect(verdict([0.8, 1.1, 1.2], nil) == .notMet)
    #expect(verdict([0.8, 1.1, 1.2], .rows) == .tooNoisy)
    #expect(verdict([1.1, 1.2, 1.3], .rows) == .notMet)
    #expect(verdict([0.5, 0.5, 0.5], .machine) == .tooNoisy)
    #expect(Cost(ceiling, Summary([0.5]), noise: nil).reachesAim)
  }
}
