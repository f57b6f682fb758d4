import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct FifoTests {
  @Test("the first element in is the first out")
  func order() {
    var fifo = Fifo<Int>()
    #expect(fifo.isEmpty && fifo.popFirst() == nil)
    for number in 0..<1_000 { fifo.append(number) }
    #expect(fifo.count == 1_000)
    for number in 0..<1_000 { #expect(fifo.popFirst() == number) }
    #expect(fifo.isEmpty && fifo.popFirst() == nil)
    fifo.append(1)
    #expect(fifo.popFirst() == 1)
  }

  @Test("random insertions and removals agree with an array")
  func againstArray() {
    for seed in 0..<20 as Range<UInt64> {
      var random = SimulationGenerator(seed: seed)
      var (fifo, expected) = (Fifo<Int>(), [Int]())
      for step in 0..<2_000 {
        if Int.random(in: 0..<10, using: &random) < (step < 1_000 ? 6 : 4) {
          fifo.append(step)
          expected.append(step)
        } else {
          #expect(fifo.popFirst() == (expected.isEmpty ? nil : expected.removeFirst()))
        }
        #expect(fifo.count == expected.count)
      }
    }
  }

  @Test("an element that was taken is not kept")
  func release() {
    final class Element {}
    var fifo = Fifo<Element>()
    weak var weakElement: Element?
    do {
      let element = Element()
      weakElement = element
      fifo.append(element)
    }
    #expect(weakElement != nil)
    _ = fifo.popFirst()
    #expect(weakElement == nil)
  }
}
