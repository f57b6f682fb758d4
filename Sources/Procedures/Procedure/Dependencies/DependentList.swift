internal import ProcedurePrimitives

/// The procedures that wait for one, in order; no allocation for the first of them.
///
/// Mostly there is only one, which is kept in the procedure itself.
///
/// A key is good for one removal: its holder forgets it then. No dependent is added any more once
/// they are notified, so a key whose dependent has been notified finds nothing.
struct DependentList: Sendable {
  enum Key: Sendable, Equatable {
    /// In the procedure itself, not in its list.
    case near
    case first
    case other(place: UInt32)
  }

  /// Those after the first. Guarded by the lock of the procedure that they wait for.
  private final class Others: @unchecked Sendable {
    @safe @exclusivity(unchecked) var dependents = Slab<Edge>()
    @safe @exclusivity(unchecked) var order = SlabList()
  }

  /// Without the room for a key, which no dependent has.
  private var first: (dependent: Procedure, rule: EdgeRule)?
  private var others: Others?

  /// Whether there are none, and never were two.
  var isUnused: Bool { first == nil && others == nil }

  mutating func append(_ dependent: Procedure, by rule: EdgeRule) -> Key {
    if first == nil, others == nil {
      first = (dependent, rule)
      return .first
    }
    let others = self.others ?? Others()
    self.others = others
    let edge = Edge(other: dependent, rule: rule)
    return .other(place: others.dependents.append(edge, to: &others.order).place)
  }

  /// The one that left; nil if it had been notified.
  mutating func remove(_ key: Key) -> Edge? {
    switch key {
    case .near:
      return nil
    case .first:
      return takeFirst()
    case .other(let place):
      guard let others, others.dependents.isOccupied(place) else { return nil }
      return others.dependents.remove(at: place, from: &others.order)
    }
  }

  mutating func popFirst() -> Edge? {
    if let edge = takeFirst() { return edge }
    guard let others else { return nil }
    return others.dependents.popFirst(from: &others.order)
  }

  @inline(__always)
  private mutating func takeFirst() -> Edge? {
    var taken: (dependent: Procedure, rule: EdgeRule)?
    swap(&taken, &first)
    switch consume taken {
    case (let dependent, let rule)?: return Edge(other: dependent, rule: rule)
    case nil: return nil
    }
  }
}
