import ProcedureTestSupport
import Testing

@testable import ProcedureBenchmarks

/// A contest with given costs, instead of ones that are measured.
private func finding(
  unit: Contest.Unit = .nanoseconds, ceiling: Double? = 1, aim: Double? = nil,
  _ ours: [Double], beside theirs: Double = 10
) -> Finding {
  let side = Side(measuring: "side") { _ in 0 }
  return Finding(
    contest: Contest(
      name: "contest", unit: unit, ceiling: ceiling, aim: aim, ours: side, theirs: side),
    ours: ours, theirs: ours.map { _ in theirs })
}

@Suite(.hangLimit) struct FindingTests {
  @Test("an answer is the ratio of the two costs of a round; of bytes it is the first")
  func answers() {
    #expect(finding([5, 20]).answers == [0.5, 2])
    #expect(finding(unit: .bytes, [5, 20]).answers == [5, 20])
  }

  @Test("the rounds vote, and noise is what leaves them undecided")
  func verdict() {
    let (below, above) = ([Double](repeating: 9, count: 12), [Double](repeating: 11, count: 12))
    #expect(finding(below + above.prefix(3)).verdict == .met)
    #expect(finding(above + below.prefix(3)).verdict == .notMet)
    #expect(finding(below + above).verdict == .tooNoisy)
    // However far off the few are.
    #expect(finding(below + [900, 900, 900]).verdict == .met)
    #expect(finding(aim: 0.9, below).verdict == .aimReached)
    #expect(finding(aim: 0.8, below).verdict == .met)
    #expect(finding(ceiling: nil, below).verdict == .none)
  }

  @Test("a vote is clear where chance would give it in fewer than one of 20 runs")
  func votes() {
    // As tables of the sign test have it, for 5 % on two sides.
    for (count, majority) in [(6, 6), (9, 8), (15, 12), (21, 16), (45, 30), (3_000, 1_555)] {
      #expect(Finding.isClear(majority, of: count) && Finding.isClear(count - majority, of: count))
      #expect(!Finding.isClear(majority - 1, of: count), "\(majority - 1) of \(count)")
    }
    #expect(!Finding.isClear(5, of: 5) && !Finding.isClear(0, of: 0))
  }

  @Test("median and quartiles, between two values where need be")
  func quantiles() {
    let values = [5.0, 1, 3, 2, 4]
    #expect([0.25, 0.5, 0.75].map { values.quantile($0) } == [2, 3, 4])
    #expect([1.0, 2].quantile(0.5) == 1.5)
    #expect([7.0].quantile(0.75) == 7 && [].quantile(0.5) == 0)
  }
}
