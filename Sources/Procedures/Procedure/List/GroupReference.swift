internal import ProcedurePrimitives

/// How children's list refers to the group: set once, before it is shared.
///
/// No weak reference, which would make each count of the group's references several times as slow. The memory of the
/// group is there until its `deinit` has called `forgetGroup()`.
final class GroupReference: @unchecked Sendable {
  @safe @exclusivity(unchecked) private var keptGroup: Member?

  private struct Place: Sendable {
    var isForgotten = false
    var parent: GroupReference?
    /// Whether a group was ever added to this one.
    var hasGroups = false
  }

  private let place = Locked(Place())

  func refer(to group: Procedure) {
    keptGroup = .unowned(group)
  }

  /// The group; nil once it is being released.
  var group: Procedure? {
    place.withLock { place in
      if place.isForgotten { return nil }
      schedulingPoint()
      // Retained first: if its release has not begun by then, it does not begin as long as the result is there.
      guard let group = keptGroup?.procedure else { return nil }
      return isBeingReleased(group) ? nil : group
    }
  }

  /// The group goes: called in its `deinit`.
  func forgetGroup() { place.withLock { $0.isForgotten = true } }

  /// As `group`, without a lock and a count for each child.
  ///
  /// - Parameter isKept: whether the group is on a queue, and a child of it has not finished: then the
  ///   list that it is in owns a reference to it, or the worker that runs its turn does.
  @inline(__always)
  func withGroup<Result>(isKept: Bool, _ body: (Procedure) -> Result) -> Result? {
    guard isKept, let keptGroup else { return group.map(body) }
    return keptGroup.with(body)
  }

  /// The group that this one is a child of, once it is.
  var parent: GroupReference? { place.withLock { $0.parent } }

  /// This group becomes a child of `parent`.
  ///
  /// Several threads may close a circle together. The last to note its part finds the parts of all others:
  /// each notes before it looks. Costs the depth of `parent` if there are groups in this one, otherwise nothing.
  ///
  /// - Returns: false if it is around `parent`, or the same: they would wait for each other.
  func join(_ parent: GroupReference) -> Bool {
    if parent === self { return false }
    place.withLock { $0.parent = parent }
    parent.place.withLock { $0.hasGroups = true }
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

  /// Whether it is `group` or below. Costs the depth.
  func isInside(_ group: GroupReference) -> Bool {
    var next: GroupReference? = self
    while let reference = next {
      if reference === group { return true }
      next = reference.parent
    }
    return false
  }
}
