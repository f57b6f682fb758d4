import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct SmallListTests {
  @Test("random changes agree with an array")
  func againstArray() {
    for seed in 0..<50 as Range<UInt64> {
      var random = SimulationGenerator(seed: seed)
      var (list, expected) = (SmallList<Int>(), [Int]())
      for step in 0..<100 {
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1:
          list.append(step)
          expected.append(step)
        case 2 where !expected.isEmpty:
          let index = expected.indices.randomElement(using: &random) ?? 0
          #expect(list.remove(at: index) == expected.remove(at: index))
        case 3 where !expected.isEmpty:
          let index = expected.indices.randomElement(using: &random) ?? 0
          list[index] = step
          expected[index] = step
        case 4:
          #expect(list.popLast() == expected.popLast())
        default:
          break
        }
        #expect(Array(list) == expected && list.isEmpty == expected.isEmpty)
        if expected.count > 4 { (list, expected) = (SmallList(), []) }
      }
    }
  }

  @Test("a copy keeps what it had")
  func copies() {
    for count in 1...3 {
      var list = SmallList<Int>()
      for number in 0..<count { list.append(number) }
      let copy = list
      _ = list.popLast()
      list.append(count - 1)
      list.append(count)
      list[0] = -1
      #expect(Array(copy) == Array(0..<count) && list.count == count + 1)
    }
  }

  @Test("an element that was taken out is not kept")
  func release() {
    for count in 1...3 {
      let released = Counter()
      var list = SmallList<Tracker>()
      for _ in 0..<count { list.append(Tracker { released.increment() }) }
      for taken in 1...count {
        _ = taken == 2 ? list.popLast() : list.remove(at: 0)
        #expect(released.value == taken)
      }
    }
  }
}
