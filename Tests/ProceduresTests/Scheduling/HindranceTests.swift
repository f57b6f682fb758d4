import Testing

@testable import Procedures

@Suite struct HindranceTests {
  private let parts: [WritableKeyPath<HindranceTimes, Int64>] = [
    \.group, \.suspension, \.slot, \.worker,
  ]

  @Test(
    "V1: no part of a wait is less than nothing, and the total remains", arguments: 0..<4, 0..<4)
  func settle(less: Int, more: Int) {
    guard less != more else { return }
    var times = HindranceTimes()
    times[keyPath: parts[less]] = -3
    times[keyPath: parts[more]] = 10
    times.settle()
    #expect(times[keyPath: parts[less]] == 0 && times[keyPath: parts[more]] == 7)
    #expect(times.total == 7)
  }

  @Test("what is missing is taken from several parts, if one is too short")
  func several() {
    var times = HindranceTimes(group: 2, suspension: -5, slot: 2, worker: 4)
    times.settle()
    #expect(times == HindranceTimes(group: 2, suspension: 0, slot: 0, worker: 1))
    times.settle()
    #expect(times.total == 3)
  }
}
