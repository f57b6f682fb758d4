/// A list whose first element needs no allocation: for what is mostly none or one.
///
/// Of a class it takes one word.
public enum SmallList<Element> {
  case none
  case one(Element)
  case many(ContiguousArray<Element>)

  /// Makes an empty list. Allocates nothing.
  @inlinable
  public init() { self = .none }

  /// Puts `element` at the end.
  @inlinable
  public mutating func append(_ element: Element) {
    switch self {
    case .none:
      self = .one(element)
    case .one(let first):
      self = .many([first, element])
    case .many(var elements):
      // The only reference to them, or appending would copy.
      self = .none
      elements.append(element)
      self = .many(elements)
    }
  }

  /// Takes out the element at `index`.
  @inlinable
  public mutating func remove(at index: Int) -> Element {
    switch self {
    case .none:
      preconditionFailure("Internal inconsistency: removed from an empty list")
    case .one(let element):
      precondition(index == 0, "Internal inconsistency: index \(index) of a list of one")
      self = .none
      return element
    case .many(var elements):
      self = .none
      let element = elements.remove(at: index)
      self = .many(elements)
      return element
    }
  }
}

extension SmallList: RandomAccessCollection, MutableCollection {
  /// Zero.
  @inlinable
  public var startIndex: Int { 0 }

  /// The number of elements.
  @inlinable
  public var endIndex: Int {
    switch self {
    case .none: 0
    case .one: 1
    case .many(let elements): elements.count
    }
  }

  /// The element at `index`.
  @inlinable
  public subscript(index: Int) -> Element {
    get {
      switch self {
      case .none:
        preconditionFailure("Internal inconsistency: index \(index) of an empty list")
      case .one(let element):
        precondition(index == 0, "Internal inconsistency: index \(index) of a list of one")
        return element
      case .many(let elements):
        return elements[index]
      }
    }
    set {
      switch self {
      case .none:
        preconditionFailure("Internal inconsistency: index \(index) of an empty list")
      case .one:
        precondition(index == 0, "Internal inconsistency: index \(index) of a list of one")
        self = .one(newValue)
      case .many(var elements):
        self = .none
        elements[index] = newValue
        self = .many(elements)
      }
    }
  }
}

extension SmallList: Sendable where Element: Sendable {}
