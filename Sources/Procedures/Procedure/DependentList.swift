internal import Primitives

/// Who waits for a procedure, in order; no allocation for the first.
///
/// A key is good for one removal: whoever holds it forgets it then.
struct DependentList: Sendable {
  enum Key: Sendable {
    case first
    case other(SlabKey)
  }

  private var first: Procedure?
  private var others: Slab<Procedure>?
  private var otherList = SlabList()

  mutating func append(_ procedure: Procedure) -> Key {
    if first == nil, others == nil {
      first = procedure
      return .first
    }
    var slab = others.take() ?? Slab()
    defer { others = slab }
    return .other(slab.append(procedure, to: &otherList))
  }

  /// The procedure that left; nil if it had been told.
  mutating func remove(_ key: Key) -> Procedure? {
    switch key {
    case .first: first.take()
    case .other(let key): others?.remove(key, from: &otherList)
    }
  }

  mutating func popFirst() -> Procedure? {
    first.take() ?? others?.popFirst(from: &otherList)
  }
}
