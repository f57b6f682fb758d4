internal import ProcedurePrimitives

/// The belongings that most procedures do not have. Guarded by the procedure's lock.
///
/// What one procedure in a chain has is here; what is rarer still is in `rarities`.
final class ProcedureExtras: @unchecked Sendable {
  @safe @exclusivity(unchecked) var name: String?
  @safe @exclusivity(unchecked) private var storedDependencies = SmallList<Edge>()
  @safe @exclusivity(unchecked) var dependents = DependentList()
  /// Input, output and progress.
  @safe @exclusivity(unchecked) var values: ProcedureValues?
  @safe @exclusivity(unchecked) private var storedRarities: ProcedureRarities?
  /// The group that the procedure was a child of, once it has ended without success.
  @safe @exclusivity(unchecked) var origin: GroupReference?

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
    if storedRarities != nil { putIndexedInRow() }
  }

  @inline(never)
  private func putIndexedInRow() {
    if let storedRarities, let indexed = storedRarities.requirements.indexedDependencies {
      storedRarities.requirements.indexedDependencies = nil
      storedDependencies = indexed.dependencies
    }
  }

  /// The procedure has gone, or finished.
  deinit {
    storedRarities?.links.leave()
    if !dependencies.isEmpty { releaseDependencies() }
  }

  /// The procedure has finished, perhaps without having waited for all of them.
  func leaveDependencies() {
    var left = SmallList<Edge>()
    swap(&left, &dependencies)
    switch consume left {
    case .none: break
    case .one(let edge): edge.leave()
    case .many(let edges): for edge in edges { edge.leave() }
    }
  }

  /// Looks at the rarer belongings, if there are any.
  var existingRarities: ProcedureRarities? { storedRarities }

  /// The rarer belongings, made if need be.
  var rarities: ProcedureRarities {
    if let storedRarities { return storedRarities }
    let rarities = ProcedureRarities()
    storedRarities = rarities
    return rarities
  }

  /// Whether there is nothing to be released when the procedure has finished, and nothing to be told.
  var remainsAsItIs: Bool {
    storedRarities == nil && storedDependencies.isEmpty && dependents.isUnused
  }

  /// What is left of it when the procedure has finished; nil if none of that was used.
  func remainder() -> ProcedureExtras? {
    let (token, cancelReason) = (storedRarities?.links.token, storedRarities?.links.cancelReason)
    let lateFinishes = storedRarities?.lateFinishes
    let ignoredCondition = storedRarities?.requirements.ignoredCondition
    guard
      name != nil || lateFinishes != nil || token != nil || cancelReason != nil || values != nil
        || origin != nil || ignoredCondition != nil
    else { return nil }
    let remainder = ProcedureExtras()
    remainder.name = name
    remainder.origin = origin
    remainder.values = values
    if ignoredCondition != nil {
      remainder.rarities.requirements.ignoredCondition = ignoredCondition
    }
    if lateFinishes != nil { remainder.rarities.lateFinishes = lateFinishes }
    if token != nil || cancelReason != nil {
      remainder.rarities.links.token = token
      remainder.rarities.links.cancelReason = cancelReason
    }
    return remainder
  }

  /// Releases the dependencies without recursion: a chain may be 200,000 long.
  private func releaseDependencies() {
    var released = dependencies.map(\.other)
    dependencies = SmallList()
    while var procedure = released.popLast() {
      guard isKnownUniquelyReferenced(&procedure) else { continue }
      released += procedure.takeDependencies()
    }
  }
}
