import Primitives
import Testing

@Suite struct SlabTests {
  @Test("elements keep the order of insertion, also after removals and reuse of places")
  func order() {
    var slab = Slab<Int>()
    var list = SlabList()
    let keys = (0..<5).map { slab.append($0, to: &list) }
    #expect(slab.remove(keys[1], from: &list) == 1)
    #expect(slab.remove(keys[1], from: &list) == nil)
    _ = slab.append(5, to: &list)
    #expect(slab.elements(of: list) == [0, 2, 3, 4, 5])
    #expect(slab.popFirst(from: &list) == 0)
    #expect(slab.count == 4)
  }
}
