internal import ProcedurePrimitives

/// Looks through the procedures of a queue now and then, and reports which waits have lasted.
///
/// Nothing is noted where a wait begins. `arm(_:)` is called where one may have begun: after a turn that did not
/// finish its procedure, and after the few other events that begin a wait without a turn. It sets one timer, however
/// many procedures there are. A look writes into each procedure what that waits for, and since when; the next looks
/// compare. They end when nothing is left to be reported:
///
///     a wait begins     first look          second          third
///     |     ≤ 1 s       |   half a delay    |               |
///     +-----------------+-------------------+---------------+---------------> time
///                       since = now                         delay has passed since: reported
///
/// So a report comes after the delay, and at most half of it later. A look is bounded: it goes through the oldest
/// members of each line of a list, which have waited longest.
final class WaitLooks: Sendable {
  /// The kinds of reports, and their delays.
  struct Rules: Sendable {
    /// The delay of a wait; nil if waits are not reported.
    var waitDelay: Duration?
    /// The delay of a cancelled procedure; nil if those are not reported.
    var gracePeriod: Duration?
    /// Whether there is a handler, which receives all. Without one the two most frequent mistakes are reported.
    var hasHandler: Bool

    /// From one look to the next, at most.
    var period: Duration? {
      let delays = [waitDelay, hasHandler ? gracePeriod : nil].compactMap { $0 }
      return delays.min().map { max($0, .zero) / 2 }
    }

    func delay(of wait: LastingWait) -> Duration? {
      switch wait {
      case .end: hasHandler ? gracePeriod : nil
      case .finish, .missing: waitDelay
      case .event, .observer, .condition, .thread: hasHandler ? waitDelay : nil
      }
    }
  }

  private enum Armed: Sendable {
    case no
    /// With the timer, once that is known.
    case yes(SlabKey?)
  }

  /// The longest that a wait remains unseen.
  private static let firstLook = Duration.seconds(1)
  /// How many members of each line a look goes through, and how many procedures in all.
  private static let mostOfALine = 500
  private static let most = 4_000

  /// Whether `arm` would set a timer: read after each turn that does not finish its procedure.
  let note = LookNote()
  private let clock: TimerClock
  private let armed = Locked(Armed.no)

  init(clock: TimerClock) {
    self.clock = clock
  }

  /// The kinds of reports have changed.
  func rulesChanged(_ rules: Rules) {
    armed.withLock { armed in
      if case .no = armed { note.isWanted = rules.period != nil }
    }
  }

  /// A member of `list` may have begun to wait. Called with no lock held.
  func arm(_ list: ProcedureList, for diagnostics: QueueDiagnostics) {
    guard note.isWanted, let period = diagnostics.rules.period, let root = list.listOfQueue
    else { return }
    let instant = clock.now.saturatingAdvanced(by: min(period, Self.firstLook))
    arm(root, at: instant, for: diagnostics)
  }

  private func arm(
    _ root: ProcedureList, at instant: ContinuousClock.Instant, for diagnostics: QueueDiagnostics
  ) {
    let isFirst = armed.withLock { armed in
      guard case .no = armed else { return false }
      armed = .yes(nil)
      note.isWanted = false
      return true
    }
    guard isFirst else { return }
    // The timer owns the list, and through it all of this, until it fires.
    let key = clock.service.schedule(LookTimer(root, diagnostics, on: clock), at: instant)
    armed.withLock { armed in
      if case .yes = armed { armed = .yes(key) }
    }
  }

  /// The queue was released. If it is empty nothing is left to look at.
  func disarm() {
    let key: SlabKey? = armed.withLock { armed in
      guard case .yes(let key) = armed else { return nil }
      return key
    }
    if let key { clock.service.cancel(key) }
  }

  // MARK: Looking

  fileprivate func look(from root: ProcedureList, for diagnostics: QueueDiagnostics) {
    // Before the look: what begins to wait behind it sets another timer.
    let rules = diagnostics.rules
    armed.withLock { armed in
      armed = .no
      note.isWanted = rules.period != nil
    }
    guard let period = rules.period else { return }
    let now = clock.now
    // Where no worker may come, what has arrived is still in front of the list, and may wait for one.
    let mayLackWorkers = root.context.mayLackWorkers
    if mayLackWorkers { root.admit() }
    var next: ContinuousClock.Instant?
    var lists = [root]
    var count = 0
    while let list = lists.popLast(), count < Self.most {
      for sample in list.oldest(of: Self.mostOfALine) {
        count += 1
        if let children = sample.procedure.childList { lists.append(children) }
        guard let due = look(at: sample, mayLackWorkers, now, rules, diagnostics)
        else { continue }
        next = min(next ?? due, due)
      }
    }
    guard let next else { return }
    arm(root, at: min(next, now.saturatingAdvanced(by: period)), for: diagnostics)
  }

  /// - Returns: when something is due to be reported that has not lasted long enough.
  private func look(
    at sample: ListSample, _ mayLackWorkers: Bool, _ now: ContinuousClock.Instant,
    _ rules: Rules, _ diagnostics: QueueDiagnostics
  ) -> ContinuousClock.Instant? {
    let procedure = sample.procedure
    let (waits, obstacle) = procedure.lastingWaits(inList: mayLackWorkers)
    var next: ContinuousClock.Instant?
    for seen in procedure.note(waits, at: now) where !seen.isDecided {
      guard let delay = rules.delay(of: seen.wait) else { continue }
      let due = seen.since.saturatingAdvanced(by: delay)
      let isHopeless = seen.wait == .finish && sample.isReferencedByListOnly
      if due > now, !isHopeless {
        next = min(next ?? due, due)
        continue
      }
      guard procedure.decide(seen.wait) else { continue }
      diagnostics.report(
        seen.wait, of: procedure, obstacle, age: now - seen.since, isHopeless: isHopeless)
    }
    return next
  }
}

/// Fires once, and looks where it delays no other timer.
private final class LookTimer: QuietTarget {
  private let root: ProcedureList
  private let diagnostics: QueueDiagnostics
  private let clock: TimerClock

  init(_ root: ProcedureList, _ diagnostics: QueueDiagnostics, on clock: TimerClock) {
    self.root = root
    self.diagnostics = diagnostics
    self.clock = clock
  }

  func timerFired() {
    clock.service.deliver { [root, diagnostics] in
      diagnostics.looks.look(from: root, for: diagnostics)
    }
  }
}

/// A member as a look finds it.
struct ListSample: Sendable {
  let procedure: Procedure
  /// Whether nothing but the list referred to it, however weakly.
  let isReferencedByListOnly: Bool
}

extension ProcedureList {
  /// Lets in what has arrived.
  fileprivate func admit() { locked { _ in } }

  /// The oldest members of each line. Holds the lock for some microseconds: what has arrived stays where it is.
  fileprivate func oldest(of limit: Int) -> [ListSample] {
    storage.withLock { storage in
      var samples: [ListSample] = []
      storage.machine.lines.forEach(ofFirst: limit) { member in
        let isReferencedByListOnly = member.isReferencedByListOnly
        samples.append(
          ListSample(procedure: member.procedure, isReferencedByListOnly: isReferencedByListOnly))
      }
      return samples
    }
  }
}

extension Procedure {
  /// The wait that is reported if it lasts, and its text in a snapshot.
  ///
  /// - Parameter asksList: whether its list is asked, too, which only says more where workers may not come.
  fileprivate final func lastingWaits(inList asksList: Bool) -> (waits: [LastingWait], Obstacle) {
    let obstacle = asksList ? self.obstacle : ownObstacle
    var waits: [LastingWait] = isCancelled && !isFinished ? [.end] : []
    switch obstacle {
    case .pendingEvent(let event): waits.append(.event(event))
    case .observer(let call): waits.append(.observer(ObjectIdentifier(call.entry), call.event))
    case .condition(_, let serial): waits.append(.condition(serial: serial))
    case .dependencies(let others), .prerequisites(_, let others):
      if let missing = others.first(where: \.isOnNoQueue) {
        waits.append(.missing(ObjectIdentifier(missing)))
      }
    // A cancelled one is reported as that.
    case .finish: if !isCancelled { waits.append(.finish) }
    case .thread: waits.append(.thread)
    case .nothing, .call, .answer, .notEnqueued, .barrier, .exclusion, .slot, .suspension,
      .groupStart, .groupSlot, .children:
      break
    }
    return (waits, obstacle)
  }

  /// Writes down its wait, for the next look.
  ///
  /// - Returns: the same, with since when.
  fileprivate final func note(
    _ waits: [LastingWait], at now: ContinuousClock.Instant
  ) -> [SeenWait] {
    read { core in
      guard !core.life.isRetired else { return [] }
      if waits.isEmpty, core.links == nil { return [] }
      return core.attachments.with(TokensAndTimers.self) { links in
        let before = links.seenWaits
        links.seenWaits = waits.map { wait in
          before.first { $0.wait == wait } ?? SeenWait(wait: wait, since: now)
        }
        return links.seenWaits
      }
    }
  }

  /// Notes that no later look is to report that wait. False if one has.
  fileprivate final func decide(_ wait: LastingWait) -> Bool {
    read { core in
      guard let links = core.links,
        let index = links.seenWaits.firstIndex(where: { $0.wait == wait && !$0.isDecided })
      else { return false }
      links.seenWaits[index].isDecided = true
      return true
    }
  }

  /// Whether something shows that its work goes on, although `execute()` has returned.
  final var showsWork: Bool {
    if _getWeakRetainCount(self) > 1 || _getUnownedRetainCount(self) > 1 { return true }
    return read { $0.attachments.showWork }
  }
}
