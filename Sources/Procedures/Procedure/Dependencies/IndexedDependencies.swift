internal import ProcedurePrimitives

/// Many dependencies, from which some are taken back: found, and removed, in O(1).
///
/// Made when the first of many is removed; most procedures have few, and keep them all.
final class IndexedDependencies: @unchecked Sendable {
  /// In order, with gaps where there were others.
  private var entries: ContiguousArray<Edge?>
  private var places: [ObjectIdentifier: SmallList<Int>] = [:]
  private var count: Int

  init(_ dependencies: SmallList<Edge>) {
    entries = ContiguousArray(dependencies.map(Optional.some))
    count = entries.count
    indexAll()
  }

  var dependencies: SmallList<Edge> {
    var dependencies = SmallList<Edge>()
    for case let entry? in entries { dependencies.append(entry) }
    return dependencies
  }

  /// - Returns: its place, until others are removed.
  func append(_ edge: Edge) -> Int {
    entries.append(edge)
    count += 1
    places[ObjectIdentifier(edge.other), default: SmallList()].append(entries.count - 1)
    return entries.count - 1
  }

  /// All that there are on one procedure.
  func remove(_ procedure: Procedure) -> [Edge] {
    let removed = (places.removeValue(forKey: ObjectIdentifier(procedure)) ?? SmallList())
      .compactMap { entries[$0].take() }
    count -= removed.count
    closeGaps()
    return removed
  }

  /// The first on one procedure of which `isRemoved` is true.
  func removeFirst(on procedure: Procedure, where isRemoved: (Edge) -> Bool) -> Edge? {
    let id = ObjectIdentifier(procedure)
    guard var all = places[id],
      let index = all.firstIndex(where: { entries[$0].map(isRemoved) ?? false })
    else { return nil }
    let removed = entries[all.remove(at: index)].take()
    places[id] = all.isEmpty ? nil : all
    count -= 1
    closeGaps()
    return removed
  }

  private func closeGaps() {
    guard entries.count > 2 * count + 32 else { return }
    entries = ContiguousArray(entries.compactMap(\.self))
    places = [:]
    indexAll()
  }

  /// Notes where the procedure waits for that one. False if there is none for which it is not known.
  func setKey(_ key: DependentList.Key, of procedure: Procedure, by rule: EdgeRule) -> Bool {
    let place = places[ObjectIdentifier(procedure)]?.first {
      entries[$0]?.isUnnoted(to: procedure, by: rule) ?? false
    }
    guard let place else { return false }
    entries[place]?.key = key
    return true
  }

  private func indexAll() {
    for place in entries.indices {
      guard let procedure = entries[place]?.other else { continue }
      places[ObjectIdentifier(procedure), default: SmallList()].append(place)
    }
  }
}
