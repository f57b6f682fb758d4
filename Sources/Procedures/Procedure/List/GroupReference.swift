internal import ProcedurePrimitives

/// The reference of a children's list to its group. Set once, before it is shared.
///
/// It is not a weak reference, which would make each retain and release of the group several times
/// as slow. The group's memory is there until its `deinit` has called `forgetGroup()`.
final class GroupReference: @unchecked Sendable {
  /// Written once, before the list is shared.
  @safe @exclusivity(unchecked) private var keptGroup: Member?

  private struct Place: Sendable {
    var isForgotten = false
    var parent: GroupReference?
    /// Whether a group was ever added to this group.
    var hasGroups = false
  }

  private let place = Locked(Place())

  func refer(to group: GroupProcedure) {
    keptGroup = .unowned(group)
  }

  /// The group; nil once it is being deallocated.
  var group: GroupProcedure? {
    place.withLock { place in
      if place.isForgotten { return nil }
      schedulingPoint()
      // Retain it first: if its deallocation has not begun by then, it cannot begin while the
      // result exists.
      guard let group = keptGroup?.procedure.group else { return nil }
      return isBeingReleased(group) ? nil : group
    }
  }

  /// Called in the group's `deinit`.
  func forgetGroup() { place.withLock { $0.isForgotten = true } }

  /// Like `group`, without a lock and a retain for each child.
  ///
  /// - Parameter isKept: whether the group is on a queue and a child of it has not finished: then
  ///   the list around the group owns a reference to it, or the worker that runs its turn does.
  @inline(__always)
  func withGroup<Result>(isKept: Bool, _ body: (GroupProcedure) -> Result) -> Result? {
    guard isKept, let keptGroup else { return group.map(body) }
    return keptGroup.with { body($0.group) }
  }

  /// The reference of the group that this group is a child of; nil before that.
  var parent: GroupReference? { place.withLock { $0.parent } }

  /// Makes this group a child of `parent`.
  ///
  /// Several threads may close a cycle together. Each thread records its part before it searches,
  /// so the last one finds the parts of all others. The search costs the depth of `parent` if there
  /// are groups in this one, otherwise nothing.
  ///
  /// - Returns: false if this group is `parent`, or contains it: they would wait for each other.
  func join(_ parent: GroupReference) -> Bool {
    if parent === self { return false }
    // 1. Record this part of a cycle.
    place.withLock { $0.parent = parent }
    parent.place.withLock { $0.hasGroups = true }
    // 2. Then search for the others, and only if there is something below this group.
    let hasGroups = place.withLock { $0.hasGroups }
    return !hasGroups || !parent.isInside(self)
  }

  /// Iterative: groups may be nested thousands deep.
  deinit {
    var next = takeParent()
    while var reference = next.take(), isKnownUniquelyReferenced(&reference) {
      next = reference.takeParent()
    }
  }

  private func takeParent() -> GroupReference? { place.withLock { $0.parent.take() } }

  /// Whether it is `group`, or below it. Costs the depth.
  func isInside(_ group: GroupReference) -> Bool {
    var next: GroupReference? = self
    while let reference = next {
      if reference === group { return true }
      next = reference.parent
    }
    return false
  }
}

extension Procedure {
  /// The procedure that a reference to a group refers to.
  @inline(__always)
  fileprivate final var group: GroupProcedure {
    unsafe unsafeDowncast(self, to: GroupProcedure.self)
  }
}
