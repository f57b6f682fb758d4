internal import ProcedurePrimitives

/// The requests that hold categories of mutual exclusion, and the requests that wait for them.
/// Pure.
///
/// A request names all categories of one procedure. It is granted all of them, in one step, or
/// none; so no request holds one category while it waits for another. A request is made only by a
/// procedure that has a slot available, and an offer is declined by a procedure that has lost its
/// slot; so no request holds a category while its procedure waits for a slot.
///
/// | event       | idle                          | waiting       | held                       |
/// |-------------|-------------------------------|---------------|----------------------------|
/// | ask         | → held if all free, → waiting | inconsistency | inconsistency              |
/// | leave       | –¹                            | → idle¹       | → idle; others are offered |
/// | offer       | inconsistency                 | → held        | inconsistency              |
/// | decline     | –                             | –             | → idle; others are offered |
/// | withdraw    | –                             | → idle        | – (its offer is declined)  |
/// | setPriority | –                             | – or → held   | –                          |
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
/// Invariants:
/// 1. After each event, except between `withdraw` and `leave`, the first of each level's lines does
///    not find room there. It keeps out all others there.
/// 2. A ticket is drawn at the first `ask`, and kept; tickets of more urgent requests precede the
///    tickets of less urgent ones. A level admits requests in the order of their tickets; a request
///    that stands at another level keeps none out here.
/// 3. The oldest request at a level gets the first ticket of all when `ExclusionLevel.patience`
///    younger ones were admitted before it. So each waits for a bounded number of others, however
///    urgent these are.
struct ExclusionTable: Sendable {
  /// The one table of the process. Its lock is the innermost: acquired inside a list's.
  static let shared = Locked(ExclusionTable())

  /// The outer level of each category that is held or waited for.
  private var levels: [ExclusionCategory: ExclusionLevel] = [:]
  private var lines: [ExclusionLine.Key: ExclusionLine] = [:]
  private var lastAge: UInt64 = 0
  /// When this number of levels is reached, unused rates are removed.
  private var nextSweep = 64

  /// How many categories are held, or waited for.
  var count: Int { levels.count }

  /// Grants the request if all of its categories are free; otherwise it waits in line.
  ///
  /// - Parameter outer: the request of the innermost group around it that excludes others and has
  ///   begun.
  mutating func ask(_ request: ExclusionRequest, inside outer: ExclusionRequest? = nil) -> Bool {
    guard case .idle = request.status else {
      stopBecauseOfInconsistency("Internal inconsistency: a request that asks twice")
    }
    request.outer = outer
    if request.age == 0 {
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

  /// The procedure has finished, or no longer waits.
  ///
  /// - Parameter hasStarted: false if it was admitted, and did not start.
  /// - Returns: requests that now hold all of their categories, if their procedures have a slot.
  mutating func leave(
    _ request: ExclusionRequest, hasStarted: Bool = true
  ) -> ExclusionOffers {
    withdraw(request)
    // The last one first, and offered the other way round: in the order of the request's
    // categories.
    var vacated = SmallList<ExclusionLevel>()
    if case .held = request.status {
      request.status = .idle
      while let holding = request.holdings.popLast() {
        requireConsistency(
          holding.inside?.isUnused ?? true,
          "Internal inconsistency: a holder ends before those inside it")
        holding.level.release(request, request.holdings.count, holding, hasStarted: hasStarted)
        vacated.append(holding.level)
      }
    }
    var offered = ExclusionOffers()
    if let level = request.vacated.take() { offer(at: level, &offered) }
    while let level = vacated.popLast() { offer(at: level, &offered) }
    if request.recordID.exists {
      for offer in offered { offer.admittedBy = request.recordID }
    }
    return offered
  }

  /// The procedure was cancelled. If it holds its categories already, that offer is on its way to
  /// it, and will be declined.
  ///
  /// The room that this makes is not offered to others before it leaves.
  mutating func withdraw(_ request: ExclusionRequest) {
    guard case .waiting(let line) = request.status else { return }
    if line.level.lines.first === line, line.first === request { request.vacated = line.level }
    leaveLine(request, line)
  }

  /// The priority of the procedure has changed. A waiting request moves to the place of its new
  /// priority, behind earlier requests.
  ///
  /// - Returns: requests that now hold all of their categories: one that is no longer first may
  ///   have kept others out.
  mutating func setPriority(
    _ priority: ProcedurePriority, of request: ExclusionRequest
  ) -> ExclusionOffers {
    request.setPriority(priority)
    guard case .waiting(let line) = request.status else { return .none }
    if line.update(request) { line.level.lines.update(line) }
    var offered = ExclusionOffers()
    offer(at: line.level, &offered)
    for offer in offered { offer.admittedBy = .none }
    return offered
  }

  /// The procedure cannot use an offer now. It may make its request again, with the same ticket.
  mutating func decline(_ request: ExclusionRequest) -> ExclusionOffers {
    let offered = leave(request, hasStarted: false)
    // It never held them for long: the procedure that admitted it made the room.
    if request.recordID.exists { for offer in offered { offer.admittedBy = request.admittedBy } }
    return offered
  }

  /// Starts that were long enough ago make room.
  mutating func timePasses(for rate: ExclusionCategory) -> ExclusionOffers {
    guard let level = levels[rate] else { return .none }
    level.startTimes?.expire()
    var offered = ExclusionOffers()
    offer(at: level, &offered)
    for offer in offered { offer.admittedBy = .none }
    if !level.lines.isEmpty { level.startTimes?.setTimer() }
    return offered
  }

  /// No procedure with this rate starts before this duration has passed.
  ///
  /// - Parameter clock: used if the category is not in use, and has no clock yet.
  mutating func pause(_ rate: ExclusionCategory, for duration: Duration, on clock: TimerClock?) {
    let level = levels[rate] ?? newLevel(rate, on: clock ?? .continuous)
    if let clock { level.expire(on: clock) }
    level.startTimes?.pause(for: duration)
  }

  /// The obstacles of a request, category by category.
  func obstacles(
    to request: ExclusionRequest, in reading: inout WaitReading
  ) -> [ExclusionObstacle] {
    guard case .waiting = request.status else { return [] }
    return request.limits.indices.compactMap { index in
      guard let level = level(of: request, index), level.keepsOut(request, index) else {
        return nil
      }
      if level.startTimes != nil {
        return ExclusionObstacle(
          limit: request.limits[index], holders: SharedHolders([]),
          time: level.startTimes?.nextStart, count: 0)
      }
      let count = level.countInTheWay(of: request, index)
      guard count > 0 else { return nil }
      return ExclusionObstacle(
        limit: request.limits[index], holders: reading.holders(at: level), count: count)
    }
  }

  // MARK: Levels

  /// The innermost level that the request is inside of; nil if the category is not in use.
  private func level(of request: ExclusionRequest, _ index: Int) -> ExclusionLevel? {
    let category = request.limits[index].category
    guard let outermost = levels[category] else { return nil }
    if category.interval != nil { return outermost }
    var outer = request.outer
    while let group = outer {
      if case .held = group.status, let index = group.index(of: category) {
        return group.level(inside: index)
      }
      outer = group.outer
    }
    return outermost
  }

  /// The first level that keeps it out.
  private func obstacle(
    to request: ExclusionRequest
  ) -> (level: ExclusionLevel, index: Int)? {
    for index in request.limits.indices {
      guard let level = level(of: request, index) else { continue }
      level.expire(on: request.list.context.clock)
      if level.keepsOut(request, index) { return (level, index) }
    }
    return nil
  }

  /// - Parameter known: a level that it is inside of, with the index of the category.
  private mutating func hold(
    _ request: ExclusionRequest, at known: (level: ExclusionLevel, index: Int)? = nil
  ) {
    request.status = .held
    for index in request.limits.indices {
      let level =
        (known?.index == index ? known?.level : level(of: request, index))
        ?? newLevel(request.limits[index].category, on: request.list.context.clock)
      request.holdings.append(level.admit(request, index))
    }
  }

  /// - Parameter clock: evaluated for a rate only.
  private mutating func newLevel(
    _ category: ExclusionCategory, on clock: @autoclosure () -> TimerClock
  ) -> ExclusionLevel {
    let times = StartTimes(of: category, on: clock())
    if times != nil, levels.count >= nextSweep { forgetUnusedRates() }
    let level = ExclusionLevel(of: category, times)
    levels[category] = level
    return level
  }

  /// Removes rates without taken places. Only time frees their places, and no timer is set unless a
  /// procedure waits. Amortised O(1).
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
    var known = level.lines.first
    if known?.key != key {
      // 2. A request with an earlier ticket may find room where the others do not.
      known = lines[key].flatMap { $0.level.keepsOut(request, $0.index) ? $0 : nil }
    }
    // 3. It joins the line, or begins one.
    let line = known ?? ExclusionLine(key, at: level, index: index)
    let isChanged = line.insert(request)
    request.status = .waiting(line)
    if known == nil {
      level.add(line)
      lines[key] = line
    } else if isChanged {
      line.level.lines.update(line)
    }
  }

  private mutating func leaveLine(_ request: ExclusionRequest, _ line: ExclusionLine) {
    request.status = .idle
    let isChanged = line.remove(request)
    if line.first == nil {
      line.level.remove(line)
      if lines[line.key] === line { lines[line.key] = nil }
    } else if isChanged {
      line.level.lines.update(line)
    }
  }

  /// Admits requests in order, while there is room. Requests that another level keeps out move
  /// there.
  private mutating func offer(at level: ExclusionLevel, _ offered: inout ExclusionOffers) {
    while true {
      level.promoteOldest()
      guard let line = level.lines.first, let first = line.first,
        !level.keepsOut(first, line.index)
      else { break }
      // Of one category, that is all; the clock of a rate is the request's.
      let hasOthers = first.limits.count > 1 || level.startTimes != nil
      if hasOthers, let obstacle = obstacle(to: first) {
        level.remove(line)
        (line.level, line.index) = obstacle
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
    if let level = holdings[index].inside { return level }
    let level = ExclusionLevel(of: limits[index].category, room: 1)
    holdings[index].inside = level
    return level
  }
}
