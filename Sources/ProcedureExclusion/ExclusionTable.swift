package import ProcedurePrimitives

/// The requests that hold categories of mutual exclusion, and the requests that wait for them.
/// Pure.
///
/// A request names all categories of one requester. It is granted all of them, in one step, or none;
/// so no request holds one category while it waits for another. A requester that also needs
/// something else, such as a slot, asks only when it has that, and declines an offer when it has
/// lost it; so no request holds a category while its requester waits for something else.
///
/// | event       | idle                          | waiting       | held                       |
/// |-------------|-------------------------------|---------------|----------------------------|
/// | ask         | → held if all free, → waiting | inconsistency | inconsistency              |
/// | leave       | –¹                            | → idle¹       | → idle; others are offered |
/// | offer       | inconsistency                 | → held        | inconsistency              |
/// | decline     | –                             | –             | → idle; others are offered |
/// | withdraw    | –                             | → idle        | – (its offer is declined)  |
/// | setRank     | –                             | – or → held   | –                          |
/// | time passes | –                             | → held²       | –                          |
///
/// ¹ If it was the first in line, the requests behind it may be admitted: they are offered their
/// categories when it leaves, or has left after a withdrawal. ² if a place of a rate is free then.
///
/// The holders of a category stand at levels: holders that are inside no other at the outer level,
/// holders inside a group that holds the category at the group's own level, where there is room for
/// one. A category is free for a request if there is room at the innermost level that the request
/// is inside of.
///
/// A rate is a category whose places are taken by starts, each for an interval. It has one level,
/// which also serves requests inside a group that has the same rate.
///
/// A request that must wait stands in line at one level that keeps it out, with the requests for
/// the same categories. An event at another level does not visit it; when there is room at its own
/// level, it is admitted, or moves to another level that keeps it out. So the cost of an event
/// grows with the categories of the requests that it admits, and of the lines that it moves.
///
/// The table makes no request, and acquires no lock. Its owner has a lock around it, and passes
/// offers on to the requesters when that lock is released.
///
/// Invariants:
/// 1. After each event, except between `withdraw` and `leave`, the first of each level's lines does
///    not find room there. It keeps out all others there.
/// 2. A ticket is drawn at the first `ask`, and kept; tickets of smaller ranks precede the
///    tickets of greater ones. A level admits requests in the order of their tickets; a request
///    that stands at another level keeps none out here.
/// 3. The oldest request at a level gets the first ticket of all when `ExclusionLevel.patience`
///    younger ones were admitted before it. So each waits for a bounded number of others, whatever
///    their ranks are.
package struct ExclusionTable: Sendable {
  /// The outer level of each category that is held or waited for.
  private var levels: [CategoryID: ExclusionLevel] = [:]
  private var lines: [ExclusionLine.Key: ExclusionLine] = [:]
  private var lastAge: UInt64 = 0
  /// When this number of levels is reached, unused rates are removed.
  private var nextSweep = 64
  private let timeIsUp: @Sendable (StartTimes) -> Void

  /// - Parameter timeIsUp: called on a timer's thread, without a lock, when places of a rate may be
  ///   free: the owner acquires its lock, and calls `timePasses(for:)`.
  package init(timeIsUp: @escaping @Sendable (StartTimes) -> Void) { self.timeIsUp = timeIsUp }

  /// How many categories are held, or waited for.
  package var count: Int { levels.count }

  // MARK: Events

  /// Grants the request if all of its categories are free; otherwise it waits in line.
  ///
  /// - Parameter outer: the request of the innermost holder around it that excludes others and has
  ///   begun.
  package mutating func ask(
    _ request: ExclusionRequest, inside outer: ExclusionRequest? = nil
  ) -> Bool {
    guard case .idle = request.state.status else {
      stopBecauseOfInconsistency("Internal inconsistency: a request that asks twice")
    }
    request.state.outer = outer
    if request.state.age == 0 {
      lastAge += 1
      request.draw(lastAge)
    }
    guard let obstacle = obstacle(to: request) else {
      hold(request)
      return true
    }
    wait(request, at: obstacle.level, obstacle.index)
    return false
  }

  /// The requester has finished, or no longer waits.
  ///
  /// - Parameter hasStarted: false if it was admitted, and did not start.
  /// - Returns: requests that now hold all of their categories, if their requesters can use them.
  package mutating func leave(
    _ request: ExclusionRequest, hasStarted: Bool = true
  ) -> ExclusionOffers {
    withdraw(request)
    // The last one first, and offered the other way round: in the order of the request's
    // categories.
    var vacated = SmallList<ExclusionLevel>()
    if case .held = request.state.status {
      request.state.status = .idle
      while let holding = request.state.holdings.popLast() {
        requireConsistency(
          holding.inside?.isUnused ?? true,
          "Internal inconsistency: a holder ends before those inside it")
        holding.level.release(
          request, request.state.holdings.count, holding, hasStarted: hasStarted)
        vacated.append(holding.level)
      }
    }
    var offered = ExclusionOffers()
    if let level = request.state.vacated.take() { offer(at: level, &offered) }
    while let level = vacated.popLast() { offer(at: level, &offered) }
    return offered
  }

  /// The requester was cancelled. If it holds its categories already, that offer is on its way to
  /// it, and will be declined.
  ///
  /// The room that this makes is not offered to others before it leaves.
  package mutating func withdraw(_ request: ExclusionRequest) {
    guard case .waiting(let line) = request.state.status else { return }
    if line.level.firstLine === line, line.first === request { request.state.vacated = line.level }
    leaveLine(request, line)
  }

  /// The rank of the requester has changed. A waiting request moves to the place of its new rank,
  /// behind earlier requests.
  ///
  /// - Returns: requests that now hold all of their categories: one that is no longer first may
  ///   have kept others out.
  package mutating func setRank(_ rank: UInt8, of request: ExclusionRequest) -> ExclusionOffers {
    request.setRank(rank)
    guard case .waiting(let line) = request.state.status else { return .none }
    if line.update(request) { line.level.update(line) }
    var offered = ExclusionOffers()
    offer(at: line.level, &offered)
    return offered
  }

  /// The requester cannot use an offer now. It may make its request again, with the same ticket.
  package mutating func decline(_ request: ExclusionRequest) -> ExclusionOffers {
    leave(request, hasStarted: false)
  }

  /// Starts that were long enough ago make room.
  package mutating func timePasses(for times: StartTimes) -> ExclusionOffers {
    times.noteTimerFired()
    guard let level = levels[times.category] else { return .none }
    level.startTimes?.expire()
    var offered = ExclusionOffers()
    offer(at: level, &offered)
    if level.hasLines { level.startTimes?.setTimer() }
    return offered
  }

  /// No requester with this rate starts before this duration has passed.
  ///
  /// - Parameter clock: nil for the one that the category has, or else the machine's.
  package mutating func pause(
    _ rate: CategoryID, for duration: Duration, on clock: (any TimerService)?
  ) {
    let level = levels[rate] ?? newLevel(rate, on: clock ?? DispatchTimers.shared)
    if let clock { level.expire(on: clock) }
    level.startTimes?.pause(for: duration)
  }

  // MARK: Obstacles

  /// Why a request is kept out of one category: the holders leave no room for it, or it stands in
  /// line behind a request for which they leave none.
  package struct Obstacle: Sendable {
    /// The request that keeps the requests behind it out, until it is admitted or leaves the line.
    package struct Front: Sendable {
      package let request: ExclusionRequest
      /// How many of the holders at the level have to leave before there is room for it.
      package let count: Int
    }

    package let limit: CategoryLimit
    package let level: ExclusionLevel
    /// When a rate may have room.
    package let time: StartTimes.NextStart?
    /// How many of the holders at the level have to leave before there is room for the request; 0
    /// if there is, and for a rate, where time makes room.
    package let count: Int
    /// The first in line, if it stands before the request and needs more holders to leave. Nil for
    /// a rate.
    package let front: Front?
  }

  /// The obstacles of a request, category by category.
  package func obstacles(to request: ExclusionRequest) -> [Obstacle] {
    guard case .waiting = request.state.status else { return [] }
    return request.limits.indices.compactMap { index in
      guard let level = level(of: request, index), level.keepsOut(request, index) else {
        return nil
      }
      let limit = request.limits[index]
      if let times = level.startTimes {
        return Obstacle(limit: limit, level: level, time: times.nextStart, count: 0, front: nil)
      }
      let count = level.countInTheWay(of: request, index)
      // With room for the request there is room for a first one that needs no more.
      let front = level.front(before: request).flatMap { $0.count > count ? $0 : nil }
      if count == 0, front == nil { return nil }
      return Obstacle(limit: limit, level: level, time: nil, count: count, front: front)
    }
  }

  /// The first level that keeps it out.
  private func obstacle(to request: ExclusionRequest) -> (level: ExclusionLevel, index: Int)? {
    for index in request.state.limits.indices {
      guard let level = level(of: request, index) else { continue }
      level.expire(on: request.clock)
      if level.keepsOut(request, index) { return (level, index) }
    }
    return nil
  }

  // MARK: Levels

  /// The innermost level that the request is inside of; nil if the category is not in use.
  private func level(of request: ExclusionRequest, _ index: Int) -> ExclusionLevel? {
    let category = request.state.limits[index].category
    guard let outermost = levels[category] else { return nil }
    if outermost.startTimes != nil { return outermost }
    var outer = request.state.outer
    while let holder = outer {
      if case .held = holder.state.status, let index = holder.state.limits.index(of: category) {
        return holder.level(inside: index)
      }
      outer = holder.state.outer
    }
    return outermost
  }

  /// - Parameter known: a level that it is inside of, with the index of the category.
  private mutating func hold(
    _ request: ExclusionRequest, at known: (level: ExclusionLevel, index: Int)? = nil
  ) {
    request.state.status = .held
    for index in request.state.limits.indices {
      let level =
        (known?.index == index ? known?.level : level(of: request, index))
        ?? newLevel(request.state.limits[index].category, on: request.clock)
      request.state.holdings.append(level.admit(request, index))
    }
  }

  /// - Parameter clock: evaluated for a rate only.
  private mutating func newLevel(
    _ category: CategoryID, on clock: @autoclosure () -> any TimerService
  ) -> ExclusionLevel {
    var times: StartTimes?
    if let interval = category.interval {
      if levels.count >= nextSweep { forgetUnusedRates() }
      times = StartTimes(of: category, in: interval, on: clock(), timeIsUp: timeIsUp)
    }
    let level = ExclusionLevel(of: category, times)
    levels[category] = level
    return level
  }

  /// Removes rates without taken places. Only time frees their places, and no timer is set unless a
  /// request waits. Amortised O(1).
  private mutating func forgetUnusedRates() {
    levels = levels.filter { _, level in
      level.startTimes?.expire()
      return level.startTimes == nil || !level.isUnused
    }
    nextSweep = max(64, levels.count * 2)
  }

  // MARK: Lines

  private mutating func wait(_ request: ExclusionRequest, at level: ExclusionLevel, _ index: Int) {
    // 1. Usually the first line of the level is that of its categories; there it is kept out, too.
    let key = ExclusionLine.Key(of: request)
    var known = level.firstLine
    if known?.key != key {
      // 2. A request with an earlier ticket may find room where the others do not.
      known = lines[key].flatMap { $0.level.keepsOut(request, $0.index) ? $0 : nil }
    }
    // 3. It joins the line, or begins one.
    let line = known ?? ExclusionLine(key, at: level, index: index)
    let isChanged = line.insert(request)
    request.state.status = .waiting(line)
    if known == nil {
      level.add(line)
      lines[key] = line
    } else if isChanged {
      line.level.update(line)
    }
  }

  private mutating func leaveLine(_ request: ExclusionRequest, _ line: ExclusionLine) {
    (request.state.status, request.state.lastIndex) = (.idle, Int32(truncatingIfNeeded: line.index))
    let isChanged = line.remove(request)
    if line.first == nil {
      line.level.remove(line)
      if lines[line.key] === line { lines[line.key] = nil }
    } else if isChanged {
      line.level.update(line)
    }
  }

  /// Admits requests in order, while there is room. Requests that another level keeps out move
  /// there.
  private mutating func offer(at level: ExclusionLevel, _ offered: inout ExclusionOffers) {
    while true {
      level.promoteOldest()
      guard let line = level.firstLine, let first = line.first, !level.keepsOut(first, line.index)
      else { break }
      // Of one category, that is all; the clock of a rate is the request's.
      let hasOthers = first.state.limits.count > 1 || level.startTimes != nil
      if hasOthers, let obstacle = obstacle(to: first) {
        level.remove(line)
        line.stand(at: obstacle.level, index: obstacle.index)
        obstacle.level.add(line)
      } else {
        let index = line.index
        leaveLine(first, line)
        hold(first, at: (level, index))
        offered.append(first)
      }
    }
    if level.isUnused, levels[level.category] === level { levels[level.category] = nil }
  }
}

extension ExclusionRequest {
  /// The level of the requests inside it, if it holds the category.
  fileprivate func level(inside index: Int) -> ExclusionLevel {
    if let level = state.holdings[index].inside { return level }
    let level = ExclusionLevel(of: state.limits[index].category, room: 1)
    state.holdings.update(at: index) { $0.inside = level }
    return level
  }
}
