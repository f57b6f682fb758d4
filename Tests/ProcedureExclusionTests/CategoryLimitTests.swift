import ProcedureTestSupport
import Testing

@testable import ProcedureExclusion

@Suite(.hangLimit) struct CategoryLimitTests {
  private func limit(_ name: String, _ count: Int = 1, taking places: Int = 1) -> CategoryLimit {
    CategoryLimit(CategoryID(named: name, in: nil), atMost: count, taking: places)
  }

  @Test("L2: each category is there once, with the lower count and the larger share of it")
  func once() {
    var limits = CategoryLimits()
    #expect(limits.isEmpty && limits.index(of: limit("a").category) == nil)
    for new in [limit("a", 8, taking: 4), limit("a", 5), limit("b"), limit("b", 3)] {
      limits.add(new)
    }
    #expect(Array(limits) == [limit("a", 5, taking: 4), limit("b")])
    limits.add(CategoryLimits([limit("c"), limit("a", 3)]))
    #expect(Array(limits) == [limit("a", 3, taking: 3), limit("b"), limit("c")])
  }

  @Test("each category is found at its index, whatever their number")
  func indices() {
    var limits = CategoryLimits()
    for number in 0..<20 {
      limits.add(limit("\(number)"))
      let found = limits.indices.map { limits.index(of: limits[$0].category) }
      #expect(found == limits.indices.map { $0 } && limits.count == number + 1)
      #expect(limits.index(of: limit("other").category) == nil)
    }
    #expect(limits == CategoryLimits(Array(limits)))
    #expect(limits.hashValue == CategoryLimits(Array(limits)).hashValue)
    #expect(limits != CategoryLimits([limit("0")]))
  }

  @Test("a condition with one limit needs no memory beside its box")
  func size() {
    #expect(MemoryLayout<CategoryID>.size == MemoryLayout<Int>.size)
    #expect(MemoryLayout<CategoryLimit>.size <= 3 * MemoryLayout<Int>.size)
    #expect(MemoryLayout<CategoryLimits>.size <= 3 * MemoryLayout<Int>.size + 1)
  }
}
