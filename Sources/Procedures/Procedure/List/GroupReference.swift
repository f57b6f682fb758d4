internal import ProcedurePrimitives

/// How children's list refers to the group: set once, before it is shared.
@safe final class GroupReference: @unchecked Sendable {
  weak var group: Procedure?
  private var keptGroup: Unmanaged<Procedure>?
  private let storedParent = Locked<GroupReference?>(nil)

  func refer(to group: Procedure) {
    self.group = group
    unsafe keptGroup = .passUnretained(group)
  }

  /// Without counting a weak reference, which is slow, for each child.
  ///
  /// - Parameter isKept: whether the group is on a queue, and a child of it has not finished: then the
  ///   list that it is in owns a reference to it, or the worker that runs its turn does.
  @inline(__always)
  func withGroup<Result>(isKept: Bool, _ body: (Procedure) -> Result) -> Result? {
    guard isKept, let keptGroup = unsafe keptGroup else { return group.map(body) }
    return unsafe keptGroup._withUnsafeGuaranteedRef(body)
  }

  /// The group that this one is a child of, once it is.
  var parent: GroupReference? {
    get { storedParent.withLock { $0 } }
    set { storedParent.withLock { $0 = newValue } }
  }

  /// Iterative: groups may be nested thousands deep.
  deinit {
    var next = takeParent()
    while var reference = next.take(), isKnownUniquelyReferenced(&reference) {
      next = reference.takeParent()
    }
  }

  private func takeParent() -> GroupReference? { storedParent.withLock { $0.take() } }

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
