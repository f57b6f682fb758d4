/// A list whose first element needs no allocation: for what is mostly none or one.
public struct SmallList<Element> {
  @usableFromInline var first: Element?
  @usableFromInline var others: [Element] = []

  /// Makes an empty list. Allocates nothing.
  @inlinable
  public init() {}

  /// Puts `element` at the end.
  @inlinable
  public mutating func append(_ element: Element) {
    if first == nil { first = element } else { others.append(element) }
  }

  /// Takes out the element at `index`.
  @inlinable
  public mutating func remove(at index: Int) -> Element {
    guard index == 0, let element = first else { return others.remove(at: index - 1) }
    first = others.isEmpty ? nil : others.removeFirst()
    return element
  }
}

extension SmallList: RandomAccessCollection, MutableCollection {
  /// Zero.
  @inlinable
  public var startIndex: Int { 0 }

  /// The number of elements.
  @inlinable
  public var endIndex: Int { first == nil ? 0 : others.count + 1 }

  /// The element at `index`.
  @inlinable
  public subscript(index: Int) -> Element {
    get {
      guard index == 0, let first else { return others[index - 1] }
      return first
    }
    set {
      if index == 0 { first = newValue } else { others[index - 1] = newValue }
    }
  }
}

extension SmallList: Sendable where Element: Sendable {}
