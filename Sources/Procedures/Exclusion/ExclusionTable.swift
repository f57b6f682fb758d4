internal import ProcedurePrimitives

/// Who holds which category of mutual exclusion, and who waits for it. Pure.
///
/// A request names all categories of one procedure. It is granted all of them, in one step, or
/// none; so nobody holds one category while waiting for another. A request is made only by a
/// procedure that has a slot at hand, and an offer is turned down by one that has lost it; so
/// nobody holds a category while waiting for a slot.
///
/// | event   | idle                          | waiting                  | held                          |
/// |---------|-------------------------------|--------------------------|-------------------------------|
/// | ask     | → held if all free, → waiting | inconsistency            | inconsistency                 |
/// | leave   | –                             | → idle                   | → idle; others are offered    |
/// | offer   | inconsistency                 | → held                   | inconsistency                 |
/// | decline | –                             | –                        | → idle, first; others offered |
/// | withdraw | –                            | → idle                   | – (the offer on its way is declined) |
///
/// A category is free for a procedure if nobody holds it, or a group that the procedure is in, and
/// nobody inside that group does. Holders of one category therefore stand in levels, each inside the
/// one below it, and each level has a line of its own: of those who wait inside that holder.
///
/// Invariants:
/// 1. After each event, no request waits whose categories are all free: those have been offered.
/// 2. Lines are first in, first out, among those who could be granted all they want. Those who
///    were offered it before, and had no slot, stand in a line that goes before the other.
struct ExclusionTable: Sendable {
  private struct Level: Sendable {
    /// Nil for the level of those outside all holders.
    let holder: ExclusionRequest?
    var line = SlabList()
    /// Of those who declined an offer, and ask again.
    var returnedLine = SlabList()

    var isEmpty: Bool { line.isEmpty && returnedLine.isEmpty }
  }

  private struct Row: Sendable {
    var waiters = Slab<ExclusionRequest>()
    var levels = [Level(holder: nil)]

    var isUnused: Bool { levels.count == 1 && waiters.count == 0 }

    /// The innermost level that the procedure is inside of.
    func level(of request: ExclusionRequest) -> Int {
      let inside = levels.lastIndex { level in
        level.holder.map { request.lineage.contains(ObjectIdentifier($0.procedure)) } ?? true
      }
      return inside ?? 0
    }

    func isFree(for request: ExclusionRequest) -> Bool { level(of: request) == levels.count - 1 }
  }

  private var rows: [ExclusionCategory: Row] = [:]

  /// How many categories are held or waited for.
  var count: Int { rows.count }

  /// Grants the request if everything is free; otherwise it waits in line.
  mutating func ask(_ request: ExclusionRequest) -> Bool {
    guard case .idle = request.status else {
      preconditionFailure("Internal inconsistency: a request that asks twice")
    }
    if isFree(for: request) {
      hold(request)
      return true
    }
    let places = request.categories.map { category in
      var row = rows.removeValue(forKey: category) ?? Row()
      defer { rows[category] = row }
      let level = row.level(of: request)
      let line = request.goesFirst ? \Level.returnedLine : \Level.line
      let key = row.waiters.append(request, to: &row.levels[level][keyPath: line])
      return ExclusionRequest.Place(level: level, isReturned: request.goesFirst, key: key)
    }
    request.status = .waiting(places)
    return false
  }

  /// The procedure has finished, or no longer waits.
  ///
  /// - Returns: requests that hold all they want from here on, if their procedures have a slot.
  mutating func leave(_ request: ExclusionRequest) -> [ExclusionRequest] {
    switch request.status {
    case .idle:
      return []
    case .waiting(let places):
      leaveLines(request, places)
      return []
    case .held:
      request.status = .idle
      for category in request.categories { release(category, from: request) }
      return request.categories.compactMap { offer($0) }
    }
  }

  /// The procedure was cancelled. What it holds is on its way to it as an offer, and is declined.
  mutating func withdraw(_ request: ExclusionRequest) {
    if case .waiting(let places) = request.status { leaveLines(request, places) }
  }

  /// An offer comes at a bad time. The request may ask again, before others.
  mutating func decline(_ request: ExclusionRequest) -> [ExclusionRequest] {
    request.goesFirst = true
    return leave(request)
  }

  /// Who stands in the way of a request.
  func holders(
    before request: ExclusionRequest
  ) -> [(category: ExclusionCategory, holder: Procedure)] {
    guard case .waiting = request.status else { return [] }
    return request.categories.compactMap { category in
      guard let row = rows[category], !row.isFree(for: request),
        let holder = row.levels.last?.holder
      else { return nil }
      return (category, holder.procedure)
    }
  }

  private func isFree(for request: ExclusionRequest) -> Bool {
    request.categories.allSatisfy { rows[$0]?.isFree(for: request) ?? true }
  }

  private mutating func hold(_ request: ExclusionRequest) {
    request.status = .held
    request.goesFirst = false
    for category in request.categories {
      rows[category, default: Row()].levels.append(Level(holder: request))
    }
  }

  private mutating func release(_ category: ExclusionCategory, from request: ExclusionRequest) {
    guard let level = rows[category]?.levels.last, level.holder === request else {
      preconditionFailure("Internal inconsistency: '\(category)' is released by another holder")
    }
    precondition(level.isEmpty, "Internal inconsistency: a holder ends before those inside it")
    rows[category]?.levels.removeLast()
  }

  /// Gives a category that was freed to the first who can be granted all it wants.
  private mutating func offer(_ category: ExclusionCategory) -> ExclusionRequest? {
    guard let next = firstGrantable(in: category), case .waiting(let places) = next.status else {
      if rows[category]?.isUnused == true { rows[category] = nil }
      return nil
    }
    leaveLines(next, places)
    hold(next)
    return next
  }

  private func firstGrantable(in category: ExclusionCategory) -> ExclusionRequest? {
    guard let row = rows[category], let level = row.levels.last else { return nil }
    for line in [level.returnedLine, level.line] where !line.isEmpty {
      var place = row.waiters.firstPlace(of: line)
      while place != Slab<ExclusionRequest>.nowhere {
        if isFree(for: row.waiters[place]) { return row.waiters[place] }
        place = row.waiters.place(after: place)
      }
    }
    return nil
  }

  private mutating func leaveLines(
    _ request: ExclusionRequest, _ places: [ExclusionRequest.Place]
  ) {
    for (category, place) in zip(request.categories, places) {
      guard var row = rows.removeValue(forKey: category) else { continue }
      let line = place.isReturned ? \Level.returnedLine : \Level.line
      _ = row.waiters.remove(place.key, from: &row.levels[place.level][keyPath: line])
      if !row.isUnused { rows[category] = row }
    }
    request.status = .idle
  }
}

extension ExclusionTable {
  /// The one table of the process. Its lock is the innermost: taken inside that of a list.
  static let shared = Locked(ExclusionTable())
}
