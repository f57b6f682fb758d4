internal import ProcedurePrimitives

/// The belongings that most procedures do not have. Guarded by the procedure's lock.
///
/// What one procedure in a chain has is here; what is rarer still is in `rarities`. The order leaves no gap.
final class ProcedureExtras: @unchecked Sendable {
  @safe @exclusivity(unchecked) var name: String?
  @safe @exclusivity(unchecked) private var storedDependencies = SmallList<Edge>()
  /// The finish that counts brought the output.
  @safe @exclusivity(unchecked) var isOutputFinal = false
  @safe @exclusivity(unchecked) var dependents = DependentList()
  @safe @exclusivity(unchecked) var input: StoredValue?
  /// A value of the procedure's `Output`, or an error.
  @safe @exclusivity(unchecked) var output: StoredValue?
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

  /// The procedure has gone.
  deinit {
    if let storedRarities {
      putInRow()
      storedRarities.links.leave()
    }
    if !storedDependencies.isEmpty { releaseDependencies() }
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

  /// Whether there is nothing here.
  var isEmpty: Bool {
    remainsAsItIs && name == nil && input == nil && output == nil && origin == nil
  }

  /// The procedure has finished. What is known of it later remains here.
  func depart() -> Departure {
    putInRow()
    var departure = Departure()
    swap(&departure.dependencies, &storedDependencies)
    swap(&departure.dependents, &dependents)
    if let rarities = storedRarities {
      storedRarities = rarities.remainder()
      departure.rarities = rarities
    }
    return departure
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

/// What a procedure that has finished gives up: told and released when nothing is locked.
struct Departure: Sendable {
  var dependencies = SmallList<Edge>()
  var dependents = DependentList()
  var rarities: ProcedureRarities?
}
