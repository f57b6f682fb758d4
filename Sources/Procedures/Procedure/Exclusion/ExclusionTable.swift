internal import ProcedurePrimitives

/// Which request holds which category of mutual exclusion, and which waits for it. Pure.
///
/// A request names all categories of one procedure. It is granted all of them, in one step, or
/// none; so no request holds one category while it waits for another. A request is made only by a
/// procedure that has a slot at hand, and an offer is turned down by one that has lost it; so
/// no request holds a category while its procedure waits for a slot.
///
/// | event    | idle                          | waiting                  | held                       |
/// |----------|-------------------------------|--------------------------|----------------------------|
/// | ask      | → held if all free, → waiting | inconsistency            | inconsistency              |
/// | leave    | –¹                            | → idle¹                  | → idle; others are offered |
/// | offer    | inconsistency                 | → held                   | inconsistency              |
/// | decline  | –                             | –                        | → idle; others are offered |
/// | withdraw | –                             | → idle                   | – (its offer is declined)  |
/// | setPriority | –                          | – or → held              | –                          |
/// | time passes for a rate | –               | → held                   | –                          |
///
/// ¹ If it was the first in line, those behind it may be let in: they are offered when it leaves, or
/// left after it was withdrawn.
///
/// The holders of a category stand at levels: those outside all of them at one, those inside a group
/// that holds it at the group's own, where there is room for one. A category is free for a request if
/// there is room at the innermost level that the request is inside of.
///
/// A rate is a category whose places are taken by starts, each for an interval. It has one level, also for those
/// inside a group that has the same rate.
///
/// One that must wait stands in line at one level that keeps it out, with those that ask for the
/// same. An event at another level does not look at it; when there is room at its own, it is let
/// in, or goes to stand at another one that keeps it out. So the cost of an event grows with the
/// categories of the requests that it lets in, and of the lines that it moves on.
///
/// Invariants:
/// 1. After each event, except between `withdraw` and `leave`, the first of each level's lines does not
///    find room there. All others there are kept out by it.
/// 2. A ticket is drawn at the first `ask`, and kept; a more urgent request draws one of before all that are less
///    urgent. At a level those with earlier tickets are let in first; a request that stands at another level keeps
///    none out here.
/// 3. Of those that stand at a level the oldest gets the first ticket of all when `ExclusionLevel.patience` that asked
///    later were let in before it. So each waits for a bounded number of others, however urgent these are.
struct ExclusionTable: Sendable {
  /// The one table of the process. Its lock is the innermost: acquired inside a list's.
  static let shared = Locked(ExclusionTable())

  /// The outer level of each category that is held or waited for.
  private var levels: [ExclusionCategory: ExclusionLevel] = [:]
  private var lines: [ExclusionLine.Key: ExclusionLine] = [:]
  private var lastAge: UInt64 = 0
  /// With so many levels, those of rates are looked through.
  private var nextSweep = 64

  /// How many categories are held or waited for.
  var count: Int { levels.count }

  /// Grants the request if everything is free; otherwise it waits in line.
  ///
  /// - Parameter outer: the request of the innermost group around it that excludes others and has begun.
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
  /// - Parameter hasStarted: false if it was let in, and did not start.
  /// - Returns: requests that hold all they want from here on, if their procedures have a slot.
  mutating func leave(
    _ request: ExclusionRequest, hasStarted: Bool = true
  ) -> [ExclusionRequest] {
    withdraw(request)
    var holdings: [ExclusionRequest.Holding] = []
    if case .held = request.status {
      request.status = .idle
      swap(&holdings, &request.holdings)
      for (index, holding) in holdings.enumerated() {
        requireConsistency(
          holding.inside?.isUnused ?? true,
          "Internal inconsistency: a holder ends before those inside it")
        holding.level.letOut(request, index, holding, hasStarted: hasStarted)
      }
    }
    var offered: [ExclusionRequest] = []
    if let vacated = request.vacated.take() { offer(at: vacated, &offered) }
    for holding in holdings { offer(at: holding.level, &offered) }
    if request.recordID.exists {
      for offer in offered { offer.admittedBy = request.recordID }
    }
    return offered
  }

  /// The procedure was cancelled. What it holds is on its way to it as an offer, and is declined.
  ///
  /// Others are not offered what this makes room for before it leaves.
  mutating func withdraw(_ request: ExclusionRequest) {
    guard case .waiting(let line) = request.status else { return }
    if line.level.lines.first === line, line.first === request { request.vacated = line.level }
    leaveLine(request, line)
  }

  /// The procedure has another priority. In line, it has the place of that, behind those that asked before.
  ///
  /// - Returns: requests that hold all they want from here on: one that is no longer first may have kept others out.
  mutating func setPriority(
    _ priority: ProcedurePriority, of request: ExclusionRequest
  ) -> [ExclusionRequest] {
    request.setPriority(priority)
    guard case .waiting(let line) = request.status else { return [] }
    line.waiters.update(request)
    line.level.lines.update(line)
    var offered: [ExclusionRequest] = []
    offer(at: line.level, &offered)
    for offer in offered { offer.admittedBy = .none }
    return offered
  }

  /// An offer comes at a bad time. The request may ask again, with the ticket that it has.
  mutating func decline(_ request: ExclusionRequest) -> [ExclusionRequest] {
    let offered = leave(request, hasStarted: false)
    // It never held it for long: the one before made the room.
    if request.recordID.exists { for offer in offered { offer.admittedBy = request.admittedBy } }
    return offered
  }

  /// Starts that were long enough ago make room.
  mutating func timePasses(for rate: ExclusionCategory) -> [ExclusionRequest] {
    guard let level = levels[rate] else { return [] }
    level.startTimes?.expire()
    var offered: [ExclusionRequest] = []
    offer(at: level, &offered)
    for offer in offered { offer.admittedBy = .none }
    if !level.lines.isEmpty { level.startTimes?.setTimer() }
    return offered
  }

  /// No procedure with this rate starts before so much time has passed.
  ///
  /// - Parameter clock: if the category is not in use, and has no clock yet.
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

  /// The innermost level that the request is inside of; nil if that category is not in use.
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

  private mutating func hold(_ request: ExclusionRequest) {
    request.status = .held
    request.holdings.reserveCapacity(request.limits.count)
    for index in request.limits.indices {
      let level =
        level(of: request, index)
        ?? newLevel(request.limits[index].category, on: request.list.context.clock)
      request.holdings.append(level.letIn(request, index))
    }
  }

  /// - Parameter clock: of a rate. Only then is it asked for.
  private mutating func newLevel(
    _ category: ExclusionCategory, on clock: @autoclosure () -> TimerClock
  ) -> ExclusionLevel {
    let times = StartTimes(of: category, on: clock())
    if times != nil, levels.count >= nextSweep { forgetUnusedRates() }
    let level = ExclusionLevel(of: category, times)
    levels[category] = level
    return level
  }

  /// Time alone frees their places, and where no procedure waits, no timer is set for it. Amortised O(1).
  private mutating func forgetUnusedRates() {
    levels = levels.filter { _, level in
      level.startTimes?.expire()
      return level.startTimes == nil || !level.isUnused
    }
    nextSweep = max(64, levels.count * 2)
  }

  // MARK: Lines

  private mutating func wait(_ request: ExclusionRequest, at level: ExclusionLevel, _ index: Int) {
    let key = ExclusionLine.Key(of: request)
    // One with an earlier ticket may find room where the others do not.
    let known = lines[key].flatMap { $0.level.keepsOut(request, $0.index) ? $0 : nil }
    let line = known ?? ExclusionLine(key, at: level, index: index)
    line.waiters.insert(request)
    request.status = .waiting(line)
    if known != nil {
      line.level.lines.update(line)
    } else {
      level.add(line)
      lines[key] = line
    }
  }

  private mutating func leaveLine(_ request: ExclusionRequest, _ line: ExclusionLine) {
    request.status = .idle
    line.waiters.remove(request)
    if line.waiters.isEmpty {
      line.level.remove(line)
      if lines[line.key] === line { lines[line.key] = nil }
    } else {
      line.level.lines.update(line)
    }
  }

  /// Lets in requests while there is room, in order. Those that another level keeps out wait there.
  private mutating func offer(at level: ExclusionLevel, _ offered: inout [ExclusionRequest]) {
    while true {
      level.hurryOldest()
      guard let line = level.lines.first, let first = line.first,
        !level.keepsOut(first, line.index)
      else { break }
      if let obstacle = obstacle(to: first) {
        level.remove(line)
        (line.level, line.index) = obstacle
        obstacle.level.add(line)
      } else {
        leaveLine(first, line)
        hold(first)
        offered.append(first)
      }
    }
    if level.isUnused, levels[level.category] === level { levels[level.category] = nil }
  }
}

extension ExclusionRequest {
  /// The level of the requests inside it, if it holds that category.
  fileprivate func level(inside index: Int) -> ExclusionLevel {
    if let level = holdings[index].inside { return level }
    let level = ExclusionLevel(of: limits[index].category, room: 1)
    holdings[index].inside = level
    return level
  }
}
