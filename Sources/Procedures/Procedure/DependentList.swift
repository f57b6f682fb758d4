internal import Primitives

/// One procedure that waits for another.
struct Dependent: Sendable {
  let procedure: Procedure
  let demand: DependencyDemand
}

/// Who waits for a procedure, in order; no allocation for the first.
///
/// A key is good for one removal: whoever holds it forgets it then.
struct DependentList: Sendable {
  enum Key: Sendable {
    case first
    case other(SlabKey)
  }

  private var first: Dependent?
  private var others: Slab<Dependent>?
  private var otherList = SlabList()

  mutating func append(_ dependent: Dependent) -> Key {
    if first == nil, others == nil {
      first = dependent
      return .first
    }
    var slab = others.take() ?? Slab()
    defer { others = slab }
    return .other(slab.append(dependent, to: &otherList))
  }

  /// The one that left; nil if it had been told.
  mutating func remove(_ key: Key) -> Dependent? {
    switch key {
    case .first: first.take()
    case .other(let key): others?.remove(key, from: &otherList)
    }
  }

  mutating func popFirst() -> Dependent? {
    first.take() ?? others?.popFirst(from: &otherList)
  }
}
