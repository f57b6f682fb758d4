internal import ProcedurePrimitives

/// The links that a token's state leaves when it ends: places on its parents, and the extras.
struct CancellationLinks: Sendable {
  /// A place that this state has on another: a linked source on its parent, a combined token on its
  /// operand. Keeps the other alive.
  struct Parent: Sendable {
    var state: CancellationState
    let place: Place
  }

  /// Which list the place is in.
  enum Place: Sendable {
    case handler(SlabKey)
    case dependent(SlabKey)
  }

  var parents = CancellationParents()
  var extras: CancellationExtras?

  /// Whether there is no source, and the state keeps itself alive as long as it has a handler.
  var ownsItselfWhileObserved: Bool { extras?.ownsItselfWhileObserved == true }

  mutating func take() -> CancellationLinks {
    var taken = CancellationLinks()
    swap(&taken, &self)
    return taken
  }

  mutating func takeParents() -> CancellationParents {
    var taken = CancellationParents()
    swap(&taken, &parents)
    return taken
  }

  /// The extras, allocated if these are the first.
  mutating func madeExtras() -> CancellationExtras {
    if let extras { return extras }
    let made = CancellationExtras()
    extras = made
    return made
  }
}
