/// A list whose first element needs no allocation, for lists that usually have none or one.
///
/// It takes nine bytes if the element is a class.
public enum SmallList<Element> {
  case none
  case one(Element)
  case many(ContiguousArray<Element>)

  /// Makes an empty list. Allocates nothing.
  @inlinable
  public init() { self = .none }

  /// Puts `element` at the end.
  @inlinable
  public mutating func append(_ element: consuming Element) {
    switch consume self {
    case .none:
      self = .one(element)
    case .one(let first):
      self = .many([first, element])
    case .many(var elements):
      elements.append(element)
      self = .many(elements)
    }
  }

  /// Puts `elements` at the end, in their order.
  @inlinable
  public mutating func append(contentsOf elements: SmallList) {
    for element in elements { append(element) }
  }

  /// Takes out the last element; nil if there is none.
  @inlinable
  public mutating func popLast() -> Element? {
    switch consume self {
    case .none:
      self = .none
      return nil
    case .one(let element):
      self = .none
      return element
    case .many(var elements):
      let element = elements.popLast()
      self = .many(elements)
      return element
    }
  }

  /// Takes out the element at `index`.
  @inlinable
  public mutating func remove(at index: Int) -> Element {
    guard index == 0, case .one(let element) = self else {
      return changeMany { $0.remove(at: index) }
    }
    self = .none
    return element
  }

  /// The elements for which `isKept` returns true, in order.
  @inlinable
  public func keeping(_ isKept: (Element) -> Bool) -> SmallList {
    var kept = SmallList()
    for element in self where isKept(element) { kept.append(element) }
    return kept
  }

  /// Calls `body` with the element at `index`. The only element is not retained for that.
  @inlinable @inline(__always)
  public func withElement<Result>(at index: Int, _ body: (Element) -> Result) -> Result {
    switch self {
    case .none:
      stopBecauseOfInconsistency("Internal inconsistency: index \(index) of an empty list")
    case .one(let element):
      return body(element)
    case .many(let elements):
      return body(elements[index])
    }
  }

  /// Changes the array in place: a second reference to it would cause a copy.
  @inlinable @inline(__always)
  mutating func changeMany<Result>(
    _ change: (inout ContiguousArray<Element>) -> Result
  ) -> Result {
    guard case .many(var elements) = self else {
      stopBecauseOfInconsistency("Internal inconsistency: no such index in a list of \(count)")
    }
    self = .none
    let result = change(&elements)
    self = .many(elements)
    return result
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

  /// The number of elements, without the generic code that counts from index to index.
  @inlinable
  public var count: Int { endIndex }

  /// The element at `index`.
  @inlinable
  public subscript(index: Int) -> Element {
    get {
      switch self {
      case .none:
        stopBecauseOfInconsistency("Internal inconsistency: index \(index) of an empty list")
      case .one(let element):
        requireConsistency(index == 0, "Internal inconsistency: index \(index) of a list of one")
        return element
      case .many(let elements):
        return elements[index]
      }
    }
    set { update(at: index) { $0 = newValue } }
  }

  /// Changes the element at `index` in place.
  @inlinable @inline(__always)
  public mutating func update(at index: Int, _ change: (inout Element) -> Void) {
    guard index == 0, case .one(var element) = self else {
      return changeMany { change(&$0[index]) }
    }
    self = .none
    change(&element)
    self = .one(element)
  }
}

extension SmallList: Sendable where Element: Sendable {}
