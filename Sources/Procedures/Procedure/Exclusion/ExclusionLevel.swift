internal import ProcedurePrimitives

/// The requests that hold a category side by side, and the requests that wait to be admitted there.
///
/// The outer level of a category is for requests that are inside no holder; a group that holds the
/// category has a level of its own, for the requests inside it. Guarded by the lock of the table.
///
/// The level of a rate has no holders: a start takes a place, which is free again when its time has
/// passed.
final class ExclusionLevel: @unchecked Sendable {
  struct Holder: Sendable {
    let request: ExclusionRequest
    /// The index of the limit with which the request is here.
    let index: Int
  }

  let category: ExclusionCategory
  /// A bound that no count of a holder exceeds: one inside another holder, which lends its own
  /// place.
  private let room: Int
  /// Only at the level of a rate.
  @safe @exclusivity(unchecked) private(set) var startTimes: StartTimes?
  @safe @exclusivity(unchecked) private(set) var holders: [Holder] = []
  /// Changes with each change of the holders.
  @safe @exclusivity(unchecked) private(set) var holdersVersion: UInt64 = 0
  /// The number of places that the holders have together.
  @safe @exclusivity(unchecked) private var takenByHolders = 0
  /// The counts that the holders have named, in ascending order, each with the number of its
  /// holders.
  @safe @exclusivity(unchecked) private var counts: [(count: Int, holders: Int)] = []
  @safe @exclusivity(unchecked) var lines = ExclusionOrder<ExclusionLine>()
  /// How many requests in a row were admitted that are younger than the oldest that waits here.
  @safe @exclusivity(unchecked) private var passing = 0
  /// After this number the oldest is next.
  static let patience = 100

  init(of category: ExclusionCategory, room: Int = .max, _ startTimes: StartTimes? = nil) {
    self.category = category
    self.room = room
    self.startTimes = startTimes
  }

  var isUnused: Bool {
    holders.isEmpty && lines.isEmpty
      && startTimes.map { $0.count == 0 && !$0.isPaused } ?? true
  }

  private var taken: Int { startTimes?.count ?? takenByHolders }

  /// Time has passed, or `clock` is another clock.
  func expire(on clock: @autoclosure () -> TimerClock) {
    guard let startTimes else { return }
    let clock = clock()
    // The clock of a simulation that has ended, for example, says nothing about later starts.
    if startTimes.clock.service !== clock.service {
      self.startTimes = StartTimes(of: category, on: clock, from: startTimes.nextNumber)
    } else {
      startTimes.expire()
    }
  }

  func add(_ line: ExclusionLine) {
    lines.insert(line)
    startTimes?.setTimer()
  }

  func remove(_ line: ExclusionLine) {
    lines.remove(line)
    if lines.isEmpty { startTimes?.cancelTimer() }
  }

  /// The number of places for the present holders and one more with that count.
  private func room(with count: Int) -> Int {
    min(room, count, counts.first?.count ?? .max)
  }

  /// Whether a request must wait here: there is no room for it, or an earlier one waits for room.
  func keepsOut(_ request: ExclusionRequest, _ index: Int) -> Bool {
    if let startTimes, startTimes.isPaused { return true }
    if bounded(request.limits[index].places) > room(with: request.limits[index].count) - taken {
      return true
    }
    return lines.firstTicket < request.ticket
  }

  /// How many of the holders have to leave before a waiting request can be admitted.
  ///
  /// It is the smallest number that makes enough room, and does not tell which holders.
  func countInTheWay(of request: ExclusionRequest, _ index: Int) -> Int {
    var (count, wanted) = (request.limits[index].count, bounded(request.limits[index].places))
    if let line = lines.first, line.ticket < request.ticket {
      let other = line.key.limits[line.index]
      count = min(count, other.count)
      wanted = min(count, max(wanted, bounded(other.places)))
    }
    var missing = wanted - (room(with: count) - taken)
    guard taken > holders.count else { return min(max(missing, 0), holders.count) }
    var leaving = 0
    for places in holders.map({ bounded($0.request.limits[$0.index].places) }).sorted(by: >)
    where missing > 0 {
      missing -= places
      leaving += 1
    }
    return leaving
  }

  /// How many requests with that limit have room side by side, given the counts of the present
  /// holders.
  func countAtOnce(of limit: ExclusionLimit) -> Int {
    max(1, room(with: limit.count) / bounded(limit.places))
  }

  /// One place is enough inside a holder, which lends its own.
  private func bounded(_ places: Int) -> Int { min(places, room) }

  /// Moves the oldest request to the front when too many have passed it: none waits forever.
  func promoteOldest() {
    guard passing >= Self.patience, let line = lines.oldest, let oldest = line.oldest
    else { return }
    oldest.promote()
    if line.update(oldest) { lines.update(line) }
  }

  func admit(_ request: ExclusionRequest, _ index: Int) -> ExclusionRequest.Holding {
    passing = lines.oldest.map { $0.age < request.age } ?? false ? passing + 1 : 0
    if let startTimes {
      let start = startTimes.note(bounded(request.limits[index].places))
      return ExclusionRequest.Holding(level: self, place: 0, start: start)
    }
    holdersVersion &+= 1
    holders.append(Holder(request: request, index: index))
    takenByHolders += bounded(request.limits[index].places)
    let count = request.limits[index].count
    let next = counts.firstIndex { $0.count >= count } ?? counts.endIndex
    if next < counts.endIndex, counts[next].count == count {
      counts[next].holders += 1
    } else {
      counts.insert((count, 1), at: next)
    }
    return ExclusionRequest.Holding(level: self, place: holders.count - 1)
  }

  /// - Parameter hasStarted: false if it was admitted, and did not start.
  func release(
    _ request: ExclusionRequest, _ index: Int, _ holding: ExclusionRequest.Holding,
    hasStarted: Bool
  ) {
    if let start = holding.start {
      if !hasStarted { startTimes?.takeBack(start, bounded(request.limits[index].places)) }
      return
    }
    guard holding.place < holders.count, holders[holding.place].request === request else {
      stopBecauseOfInconsistency(
        "Internal inconsistency: '\(category)' is released by another holder")
    }
    holdersVersion &+= 1
    takenByHolders -= bounded(request.limits[index].places)
    let last = holders.removeLast()
    if holding.place < holders.count {
      holders[holding.place] = last
      last.request.holdings[last.index].place = holding.place
    }
    let count = request.limits[index].count
    if let known = counts.firstIndex(where: { $0.count == count }) {
      counts[known].holders -= 1
      if counts[known].holders == 0 { counts.remove(at: known) }
    }
  }
}
