/// A queue of elements, first in, first out, in a ring of memory that grows by doubling.
public struct Fifo<Element> {
  @usableFromInline var ring: ContiguousArray<Element?> = []
  @usableFromInline var head = 0

  @usableFromInline var storedCount = 0

  /// How many elements wait.
  @inlinable
  public var count: Int { storedCount }

  /// An emptied ring larger than this releases its memory.
  @inlinable static var retainedCapacity: Int { 64 }

  /// Makes an empty queue. Allocates nothing.
  @inlinable
  public init() {}

  /// Whether nothing waits.
  @inlinable
  public var isEmpty: Bool { count == 0 }

  /// The only element; nil if there are none or several.
  @inlinable
  public var only: Element? { count == 1 ? ring[head] : nil }

  /// The first element, which stays.
  @inlinable
  public var first: Element? { isEmpty ? nil : ring[head] }

  /// All elements, in order. O(count).
  public var elements: [Element] {
    (0..<count).compactMap { ring[(head + $0) & (ring.count - 1)] }
  }

  /// Puts `element` at the end. Amortised O(1).
  @inlinable
  public mutating func append(_ element: consuming Element) {
    if count == ring.count { grow() }
    ring[(head + count) & (ring.count - 1)] = element
    storedCount += 1
  }

  /// Takes the first element; nil if there is none.
  @inlinable
  public mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = ring[head].take()
    head = (head + 1) & (ring.count - 1)
    storedCount -= 1
    if count == 0, ring.count > Self.retainedCapacity {
      ring = []
      head = 0
    }
    return element
  }

  @inlinable
  mutating func grow() {
    if head > 0 { ring = ContiguousArray(ring[head...] + ring[..<head]) }
    head = 0
    ring.append(contentsOf: repeatElement(nil, count: max(8, ring.count)))
  }
}

extension Fifo: Sendable where Element: Sendable {}
