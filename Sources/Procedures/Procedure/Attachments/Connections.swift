internal import ProcedurePrimitives

/// The dependencies and dependents of a procedure, if they are more than fit into its own words.
final class Connections: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) private var storedDependencies = SmallList<Edge>()
  @safe @exclusivity(unchecked) var dependents = DependentList()
  /// Dependencies that were taken back while a thread was about to enter them at the other end: what they ask for
  /// does not count, though they are notified.
  @safe @exclusivity(unchecked) var revoked: [Edge] = []
  /// The dependencies, while they are many and some are taken back.
  @safe @exclusivity(unchecked) private var indexed: IndexedDependencies?

  /// In the order in which they were added, accessed where they are.
  ///
  /// Those that are indexed, since some were taken back, are put in a row again.
  var dependencies: SmallList<Edge> {
    _read {
      putInRow()
      yield storedDependencies
    }
    _modify {
      putInRow()
      yield &storedDependencies
    }
  }

  var hasDependencies: Bool {
    if case .none = storedDependencies { indexed != nil } else { true }
  }

  @inline(__always)
  private func putInRow() {
    if indexed != nil { putIndexedInRow() }
  }

  @inline(never)
  private func putIndexedInRow() {
    guard let indexed = indexed.take() else { return }
    storedDependencies = indexed.dependencies
  }

  // MARK: Dependencies

  /// Fewer are searched.
  private static let fewest = 32

  /// - Returns: where it is, unless others are removed.
  @discardableResult
  func addDependency(_ edge: consuming Edge) -> Int {
    if let indexed { return indexed.append(edge) }
    storedDependencies.append(edge)
    return storedDependencies.count - 1
  }

  /// Takes back all dependencies on one procedure.
  func removeDependencies(on procedure: Procedure) -> [Edge] {
    if let indexed { return indexed.remove(procedure) }
    if storedDependencies.count > Self.fewest {
      let indexed = IndexedDependencies(storedDependencies)
      storedDependencies = SmallList()
      self.indexed = indexed
      return indexed.remove(procedure)
    }
    var removed: [Edge] = []
    while let index = storedDependencies.firstIndex(where: { $0.other === procedure }) {
      removed.append(storedDependencies.remove(at: index))
    }
    return removed
  }

  /// Takes out a dependency that is done.
  ///
  /// Of many, so as not to search a long list for each, all that are done leave with the last, unless they are indexed.
  func forget(
    _ dependency: Procedure, isLast: Bool, where isDone: (Edge) -> Bool
  ) -> SmallList<Edge> {
    if let indexed {
      return indexed.removeFirst(on: dependency, where: isDone).map { .one($0) } ?? .none
    }
    if storedDependencies.count <= 2 * Self.fewest {
      let index = storedDependencies.firstIndex { $0.other === dependency && isDone($0) }
      return index.map { .one(storedDependencies.remove(at: $0)) } ?? .none
    }
    guard isLast else { return .none }
    defer { storedDependencies = storedDependencies.keeping { !isDone($0) } }
    return storedDependencies
  }

  /// Notes where the procedure waits for a dependency. False if that was removed.
  func setKey(
    _ key: DependentList.Key, of procedure: Procedure, by rule: EdgeRule, near index: Int
  ) -> Bool {
    if let indexed { return indexed.setKey(key, of: procedure, by: rule) }
    func matches(_ edge: Edge) -> Bool { edge.isUnnoted(to: procedure, by: rule) }
    let isThere = storedDependencies.indices.contains(index) && matches(storedDependencies[index])
    guard let index = isThere ? index : storedDependencies.firstIndex(where: matches) else {
      return false
    }
    storedDependencies.update(at: index) { $0.key = key }
    return true
  }
}
