internal import ProcedurePrimitives

/// What one procedure in a chain has: dependencies and dependents, and the values that go from one to the next.
final class Connections: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) private var storedDependencies = SmallList<Edge>()
  /// The finish that counts brought the output.
  @safe @exclusivity(unchecked) var isOutputFinal = false
  @safe @exclusivity(unchecked) var dependents = DependentList()
  /// The dependencies, while they are many and some are taken back.
  @safe @exclusivity(unchecked) private var indexed: IndexedDependencies?

  @safe @exclusivity(unchecked) var input: StoredValue?
  /// A value of the procedure's `Output`, or an error.
  @safe @exclusivity(unchecked) var output: StoredValue?

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
  func addDependency(on procedure: Procedure, by rule: EdgeRule) -> Int {
    let edge = Edge(other: procedure, rule: rule)
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

  /// Notes where the procedure waits for a dependency. False if that was removed.
  func setKey(_ key: DependentList.Key, of procedure: Procedure, near index: Int) -> Bool {
    if let indexed { return indexed.setKey(key, of: procedure) }
    func matches(_ edge: Edge) -> Bool {
      edge.other === procedure && edge.key == nil
    }
    let isThere = storedDependencies.indices.contains(index) && matches(storedDependencies[index])
    guard let index = isThere ? index : storedDependencies.firstIndex(where: matches) else {
      return false
    }
    storedDependencies.update(at: index) { $0.key = key }
    return true
  }

  // MARK: The end

  override var fate: Fate {
    if input == nil, output == nil { return .leaves }
    if dependencies.isEmpty, dependents.isUnused { return .stays }
    let remainder = Connections()
    (remainder.input, remainder.output) = (input, output)
    remainder.isOutputFinal = isOutputFinal
    return .leavesBehind(remainder)
  }

  /// The procedure has gone.
  deinit {
    putInRow()
    if !storedDependencies.isEmpty { releaseDependencies() }
  }

  /// Releases the dependencies without recursion: a chain may be 200,000 long.
  private func releaseDependencies() {
    var released = storedDependencies.map(\.other)
    storedDependencies = SmallList()
    while var procedure = released.popLast() {
      guard isKnownUniquelyReferenced(&procedure) else { continue }
      released += procedure.takeDependencies()
    }
  }
}
