import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct TicketHeapTests {
  private final class Element: Ticketed {
    var ticket: UInt64
    var heapPlace = -1
    init(_ ticket: UInt64) { self.ticket = ticket }
  }

  @Test("the first of a heap has the least ticket, whatever is removed, or changed, in the middle")
  func random() {
    var generator = SimulationGenerator(seed: 11)
    var heap = TicketHeap<Element>()
    var elements: [Element] = []
    for _ in 0..<1_500 {
      switch Int.random(in: 0..<5, using: &generator) {
      case 0, 1, 2:
        let element = Element(.random(in: 0..<1_000_000, using: &generator))
        elements.append(element)
        heap.insert(element)
      case 3:
        guard let index = elements.indices.randomElement(using: &generator) else { continue }
        heap.remove(elements.remove(at: index))
      default:
        guard let element = elements.randomElement(using: &generator) else { continue }
        element.ticket = .random(in: 0..<1_000_000, using: &generator)
        heap.update(element)
      }
      #expect(heap.count == elements.count && heap.first?.ticket == elements.map(\.ticket).min())
    }
    var order: [UInt64] = []
    while let first = heap.first {
      order.append(first.ticket)
      heap.remove(first)
    }
    #expect(order == elements.map(\.ticket).sorted() && heap.isEmpty)
  }
}
