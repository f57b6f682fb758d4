internal import ProcedurePrimitives

/// The dependencies and dependents of a procedure, wherever they are kept: the only dependency and the first
/// dependent in one word each, all others in `Connections`.
///
/// Invariant: if there is an only dependency, `Connections` has none.
extension ProcedureCore {
  // MARK: Dependencies

  /// False for most procedures, which need not be asked for their dependencies.
  var mayHaveDependencies: Bool {
    @inline(__always) get { !onlyDependency.isEmpty || !attachments.isEmpty }
  }

  /// In the order in which they were added.
  var dependencies: SmallList<Edge> {
    if let only = onlyDependency.dependency { return .one(only) }
    return connections?.dependencies ?? SmallList()
  }

  /// - Returns: where it is, unless others are removed.
  mutating func addDependency(on dependency: Procedure, by rule: EdgeRule) -> Int {
    let first = onlyDependency.takeDependency()
    if first == nil, !hasConnectedDependencies,
      let only = PlainEdge(toDependency: dependency, by: rule)
    {
      onlyDependency = only
      return 0
    }
    return attachments.with(Connections.self) { connections in
      if let first { connections.addDependency(first) }
      return connections.addDependency(Edge(other: dependency, rule: rule))
    }
  }

  private var hasConnectedDependencies: Bool {
    @inline(__always) get {
      attachments.withExisting(Connections.self) { $0.hasDependencies } ?? false
    }
  }

  /// Takes back all dependencies on one procedure.
  mutating func removeDependencies(on procedure: Procedure) -> [Edge] {
    let removed = takeDependencies(on: procedure)
    if machine.state == .pending {
      let revoked = removed.filter { $0.key == nil && $0.rule != .requirement(.any) }
      if !revoked.isEmpty { attachments.with(Connections.self) { $0.revoked += revoked } }
    }
    return removed
  }

  /// Whether such a dependency was taken back before it was known at the other end. Once for each that was.
  mutating func takeRevoked(_ dependency: Procedure, _ rule: EdgeRule) -> Edge? {
    attachments.withExisting(Connections.self) { connections in
      connections.revoked.firstIndex { $0.other === dependency && $0.rule == rule }
        .map { connections.revoked.remove(at: $0) }
    } ?? nil
  }

  private mutating func takeDependencies(on procedure: Procedure) -> [Edge] {
    if let only = onlyDependency.dependency {
      guard only.other === procedure else { return [] }
      _ = onlyDependency.takeDependency()
      return [only]
    }
    return connections?.removeDependencies(on: procedure) ?? []
  }

  /// Notes where the procedure waits for a dependency. False if that was removed.
  ///
  /// - Parameter index: where the dependency is, unless others were removed.
  @inline(__always)
  mutating func setKey(
    _ key: DependentList.Key, of dependency: Procedure, by rule: EdgeRule, near index: Int
  ) -> Bool {
    guard !onlyDependency.isEmpty else {
      return attachments.withExisting(Connections.self) {
        $0.setKey(key, of: dependency, by: rule, near: index)
      } ?? false
    }
    guard onlyDependency.isUnnoted(to: dependency, by: rule) else { return false }
    if case .near = key {
      onlyDependency.note()
    } else if var only = onlyDependency.takeDependency() {
      only.key = key
      attachments.with(Connections.self) { _ = $0.addDependency(only) }
    }
    return true
  }

  /// Leaves none.
  mutating func takeDependencies() -> SmallList<Edge> {
    if let only = onlyDependency.takeDependency() { return .one(only) }
    var taken = SmallList<Edge>()
    _ = attachments.withExisting(Connections.self) { swap(&$0.dependencies, &taken) }
    return taken
  }

  /// The procedure goes: releases what it depended on, and with each that goes what that depended on, without
  /// recursion: a chain may be 200,000 long.
  mutating func releaseDependencies() {
    var released = takeDependencies().map(\.other)
    while var procedure = released.popLast() {
      guard isKnownUniquelyReferenced(&procedure) else { continue }
      // Released without the lock: a closure that hands something over may keep the user's values.
      released += procedure.read { $0.takeDependencies() }.map(\.other)
    }
  }

  // MARK: Dependents

  @inline(__always)
  mutating func appendDependent(
    _ dependent: Procedure, by rule: EdgeRule
  ) -> DependentList.Key {
    let isFirst =
      firstDependent.isEmpty
      && attachments.withExisting(Connections.self) { $0.dependents.isUnused } ?? true
    if isFirst, let first = PlainEdge(toDependent: dependent, by: rule) {
      firstDependent = first
      return .near
    }
    return attachments.with(Connections.self) { $0.dependents.append(dependent, by: rule) }
  }

  /// The one that left; nil if it had been notified.
  mutating func removeDependent(_ key: DependentList.Key) -> Edge? {
    if case .near = key { return firstDependent.takeDependent() }
    return attachments.withExisting(Connections.self) { $0.dependents.remove(key) } ?? nil
  }
}
