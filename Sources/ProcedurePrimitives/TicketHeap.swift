/// An element of a `TicketHeap`.
public protocol Ticketed {
  /// Elements with smaller tickets come first.
  var ticket: UInt64 { get }
  /// The index, which the heap updates.
  var heapPlace: Int { get nonmutating set }
}

/// A binary heap by ticket: reading the first element is O(1), all changes are O(log n), even in
/// the middle.
public struct TicketHeap<Element: Ticketed> {
  @usableFromInline var elements: ContiguousArray<Element> = []

  /// Makes an empty heap. Allocates nothing.
  @inlinable
  public init() {}

  /// Whether it has no element.
  @inlinable
  public var isEmpty: Bool { elements.isEmpty }

  /// The number of elements.
  @inlinable
  public var count: Int { elements.count }

  /// The element with the smallest ticket.
  @inlinable
  public var first: Element? { elements.first }

  /// The ticket of the first; greater than any other if there is none.
  @inlinable
  public var firstTicket: UInt64 { elements.isEmpty ? .max : elements[0].ticket }

  /// Inserts an element, and sets its place.
  @inlinable
  public mutating func insert(_ element: Element) {
    elements.append(element)
    rise(from: elements.count - 1)
  }

  /// Removes the element at the place that it has.
  @inlinable
  public mutating func remove(_ element: Element) {
    let place = element.heapPlace
    let last = elements.removeLast()
    guard place < elements.count else { return }
    elements[place] = last
    last.heapPlace = place
    settle(at: place)
  }

  /// Restores the order after a change of the element's ticket.
  @inlinable
  public mutating func update(_ element: Element) {
    settle(at: element.heapPlace)
  }

  @inlinable
  mutating func settle(at place: Int) {
    if place > 0, elements[place].ticket < elements[(place - 1) / 2].ticket {
      rise(from: place)
    } else {
      sink(from: place)
    }
  }

  @inlinable
  mutating func rise(from start: Int) {
    var place = start
    let element = elements[place]
    while place > 0 {
      let parent = (place - 1) / 2
      guard element.ticket < elements[parent].ticket else { break }
      elements[place] = elements[parent]
      elements[place].heapPlace = place
      place = parent
    }
    elements[place] = element
    element.heapPlace = place
  }

  @inlinable
  mutating func sink(from start: Int) {
    var place = start
    let element = elements[place]
    while true {
      var child = 2 * place + 1
      guard child < elements.count else { break }
      if child + 1 < elements.count, elements[child + 1].ticket < elements[child].ticket {
        child += 1
      }
      guard elements[child].ticket < element.ticket else { break }
      elements[place] = elements[child]
      elements[place].heapPlace = place
      place = child
    }
    elements[place] = element
    element.heapPlace = place
  }
}

extension TicketHeap: Sendable where Element: Sendable {}
