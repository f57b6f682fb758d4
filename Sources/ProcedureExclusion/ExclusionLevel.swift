internal import ProcedurePrimitives

/// The requests that hold a category side by side, and the requests that wait to be admitted there.
///
/// The outer level of a category is for requests that are inside no holder; a request that holds
/// the category has a level of its own, for the requests inside it.
///
/// The level of a rate has no holders: a start takes a place, which is free again when its time has
/// passed.
///
/// Unchecked: only the table changes its levels, and the table is behind its lock.
package final class ExclusionLevel: @unchecked Sendable {
  private struct Holder: Sendable {
    let request: ExclusionRequest
    /// The index of the limit with which the request is here.
    let index: Int
  }

  private struct State: Sendable {
    /// Only at the level of a rate.
    var startTimes: StartTimes?
    var holders = SmallList<Holder>()
    var holdersVersion: UInt64 = 0
    /// The number of places that the holders have together.
    var takenByHolders = 0
    var counts = HolderCounts()
    var lines = ExclusionOrder<ExclusionLine>()
    /// How many requests in a row were admitted that are younger than the oldest that waits here.
    var passing = 0
  }

  let category: CategoryID
  /// A bound that no count of a holder exceeds: one inside another holder, which lends its own
  /// place.
  private let room: Int
  @safe @exclusivity(unchecked) private var state: State
  /// After this number the oldest is next.
  static let patience = 100

  init(of category: CategoryID, room: Int = .max, _ startTimes: StartTimes? = nil) {
    self.category = category
    self.room = room
    state = State(startTimes: startTimes)
  }

  var startTimes: StartTimes? { state.startTimes }

  /// Changes with each change of the holders.
  package var holdersVersion: UInt64 { state.holdersVersion }

  /// The requests of the holders, in the order in which they first asked.
  package var holders: [ExclusionRequest] {
    state.holders.map(\.request).sorted { $0.age < $1.age }
  }

  var isUnused: Bool {
    state.holders.isEmpty && state.lines.isEmpty
      && state.startTimes.map { $0.count == 0 && !$0.isPaused } ?? true
  }

  private var taken: Int { state.startTimes?.count ?? state.takenByHolders }

  /// Time has passed, or `clock` is another clock.
  func expire(on clock: @autoclosure () -> any TimerService) {
    guard let startTimes = state.startTimes else { return }
    let clock = clock()
    // The clock of a simulation that has ended, for example, says nothing about later starts.
    if startTimes.clock !== clock {
      state.startTimes = startTimes.moved(to: clock)
    } else {
      startTimes.expire()
    }
  }

  // MARK: Lines

  /// The line whose turn it is.
  var firstLine: ExclusionLine? { state.lines.first }

  var hasLines: Bool { !state.lines.isEmpty }

  func add(_ line: ExclusionLine) {
    state.lines.insert(line)
    state.startTimes?.setTimer()
  }

  func remove(_ line: ExclusionLine) {
    state.lines.remove(line)
    if state.lines.isEmpty { state.startTimes?.cancelTimer() }
  }

  /// The ticket and the age of the line may have changed.
  func update(_ line: ExclusionLine) { state.lines.update(line) }

  /// Moves the oldest request to the front when too many have passed it: none waits forever.
  func promoteOldest() {
    guard state.passing >= Self.patience, let line = state.lines.oldest, let oldest = line.oldest
    else { return }
    oldest.promote()
    if line.update(oldest) { state.lines.update(line) }
  }

  // MARK: Room

  /// The number of places for the present holders and one more with that count.
  private func room(with count: Int) -> Int {
    min(room, count, state.counts.lowest)
  }

  /// Whether a request must wait here: there is no room for it, or an earlier one waits for room.
  func keepsOut(_ request: ExclusionRequest, _ index: Int) -> Bool {
    if let startTimes = state.startTimes, startTimes.isPaused { return true }
    let limit = request.state.limits.numbers(at: index)
    if bounded(limit.places) > room(with: limit.count) - taken { return true }
    return state.lines.firstTicket < request.ticket
  }

  /// How many of the holders have to leave before there is room for a waiting request; 0 if there
  /// is.
  ///
  /// It is the smallest number that makes enough room, and does not tell which holders.
  func countInTheWay(of request: ExclusionRequest, _ index: Int) -> Int {
    countInTheWay(of: request.state.limits.numbers(at: index))
  }

  /// The first in line, if `request` stands behind it, and how many of the holders have to leave
  /// before there is room for that first one.
  func front(before request: ExclusionRequest) -> ExclusionTable.Obstacle.Front? {
    guard let line = state.lines.first, line.ticket < request.ticket, let first = line.first
    else { return nil }
    return .init(
      request: first, count: countInTheWay(of: line.key.limits.numbers(at: line.index)))
  }

  private func countInTheWay(of limit: (count: Int, places: Int)) -> Int {
    let holders = state.holders
    let (wanted, most) = (bounded(limit.places), min(room, limit.count))
    // 1. All holders leave, or those with counts below one of the others', and as many more as are
    //    still in the way.
    var (least, below) = (holders.count, 0)
    let byPlaces =
      taken == holders.count ? nil : holders.map(numbers).sorted { $0.places > $1.places }
    for (lowest, number) in state.counts {
      let missing = wanted + taken - min(most, lowest)
      if let byPlaces {
        least = min(least, Self.count(of: byPlaces, below: lowest, making: missing))
      } else {
        least = min(least, max(below, missing))
      }
      // 2. The other counts permit no more than this one.
      if lowest >= most { break }
      below += number
    }
    return least
  }

  /// How many have to leave: all with a count below `lowest`, and others until `missing` places are
  /// free.
  private static func count(
    of holders: [(count: Int, places: Int)], below lowest: Int, making missing: Int
  ) -> Int {
    var (missing, leaving) = (missing, 0)
    for holder in holders where holder.count < lowest {
      missing -= holder.places
      leaving += 1
    }
    for holder in holders where holder.count >= lowest && missing > 0 {
      missing -= holder.places
      leaving += 1
    }
    return leaving
  }

  /// The count of a holder, and the places that it has here.
  private func numbers(_ holder: Holder) -> (count: Int, places: Int) {
    let limit = holder.request.state.limits.numbers(at: holder.index)
    return (limit.count, bounded(limit.places))
  }

  /// How many requests with that limit have room side by side, given the counts of the present
  /// holders.
  func countAtOnce(of limit: CategoryLimit) -> Int {
    max(1, room(with: limit.count) / bounded(limit.places))
  }

  /// One place is enough inside a holder, which lends its own.
  private func bounded(_ places: Int) -> Int { min(places, room) }

  // MARK: Holders

  func admit(_ request: ExclusionRequest, _ index: Int) -> ExclusionRequest.Holding {
    state.passing =
      state.lines.oldest.map { $0.age < request.age } ?? false ? state.passing + 1 : 0
    let limit = request.state.limits.numbers(at: index)
    let places = bounded(limit.places)
    if let startTimes = state.startTimes {
      return ExclusionRequest.Holding(level: self, place: startTimes.note(places))
    }
    state.holdersVersion &+= 1
    state.holders.append(Holder(request: request, index: index))
    state.takenByHolders += places
    state.counts.add(limit.count)
    return ExclusionRequest.Holding(level: self, place: state.holders.count - 1)
  }

  /// - Parameter hasStarted: false if it was admitted, and did not start.
  func release(
    _ request: ExclusionRequest, _ index: Int, _ holding: ExclusionRequest.Holding,
    hasStarted: Bool
  ) {
    let limit = request.state.limits.numbers(at: index)
    let places = bounded(limit.places)
    if let startTimes = state.startTimes {
      if !hasStarted { startTimes.takeBack(holding.place, places) }
      return
    }
    guard holding.place < state.holders.count, state.holders[holding.place].request === request,
      let last = state.holders.popLast()
    else {
      stopBecauseOfInconsistency(
        "Internal inconsistency: '\(category)' is released by another holder")
    }
    state.holdersVersion &+= 1
    state.takenByHolders -= places
    if holding.place < state.holders.count {
      state.holders[holding.place] = last
      last.request.state.holdings.update(at: last.index) { $0.place = holding.place }
    }
    state.counts.remove(limit.count)
  }
}

/// The counts that the holders at a level have named. There are few different ones.
private struct HolderCounts: Sequence, Sendable {
  /// In ascending order, each with the number of its holders.
  private var counts = SmallList<(count: Int, holders: Int)>()

  var lowest: Int { counts.first?.count ?? .max }

  func makeIterator() -> SmallList<(count: Int, holders: Int)>.Iterator { counts.makeIterator() }

  mutating func add(_ count: Int) {
    if let known = counts.firstIndex(where: { $0.count == count }) {
      return counts.update(at: known) { $0.holders += 1 }
    }
    counts.append((count, 1))
    var index = counts.count - 1
    while index > 0, counts[index - 1].count > count {
      counts.swapAt(index - 1, index)
      index -= 1
    }
  }

  mutating func remove(_ count: Int) {
    guard let known = counts.firstIndex(where: { $0.count == count }) else { return }
    if counts[known].holders > 1 {
      counts.update(at: known) { $0.holders -= 1 }
    } else {
      _ = counts.remove(at: known)
    }
  }
}
