internal import ProcedurePrimitives

/// The looks through the procedures of a queue, now and then, which report the waits that have lasted.
///
/// Nothing is noted where a wait begins. `lookSoon(from:)` is called where one may have begun: after a turn that did not
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
extension QueueDiagnostics {
  /// The longest that a wait remains unseen.
  private static let firstLook = Duration.seconds(1)
  /// How many members of each line a look goes through, and how many procedures in all.
  private static let mostOfALine = 500
  private static let most = 4_000

  /// A member of `list` may have begun to wait. Called with no lock held.
  func lookSoon(from list: ProcedureList) {
    guard wantsLooks, let period = state.withLock({ $0.settings.lookPeriod }),
      let root = list.listOfQueue
    else { return }
    arm(root, at: clock.now.saturatingAdvanced(by: min(period, Self.firstLook)))
  }

  private func arm(_ root: ProcedureList, at instant: ContinuousClock.Instant) {
    let isFirst = state.withLock { state in
      if state.isArmed { return false }
      state.isArmed = true
      wantsLooks = false
      return true
    }
    guard isFirst else { return }
    // The timer owns the list, and through it all of this, until it fires.
    let key = clock.service.schedule(LookTimer(root, self), at: instant)
    state.withLock { state in
      if state.isArmed { state.lookTimer = key }
    }
  }

  /// Changes what is reported, or when. The waits of present members of `list` count, too.
  func change(lookingFrom list: ProcedureList, _ body: (inout Settings) -> Void) {
    change(body)
    let key = state.withLock { state in
      let key = state.lookTimer.take()
      state.isArmed = false
      wantsLooks = state.settings.lookPeriod != nil
      return key
    }
    if let key { clock.service.cancel(key) }
    if list.count > 0 { lookSoon(from: list) }
  }

  /// The queue was released. If it is empty nothing is left to look at.
  func disarm() {
    if let key = state.withLock({ $0.lookTimer }) { clock.service.cancel(key) }
  }

  // MARK: Looking

  fileprivate func look(from root: ProcedureList) {
    // Before the look: what begins to wait behind it sets another timer.
    let settings = state.withLock { state in
      (state.isArmed, state.lookTimer) = (false, nil)
      wantsLooks = state.settings.lookPeriod != nil
      return state.settings
    }
    guard let period = settings.lookPeriod else { return }
    let now = clock.now
    // Where no worker may come, what has arrived is still in front of the list, and may wait for one.
    let mayLackWorkers = root.context.mayLackWorkers || root.context.scheduler.isStalled
    if mayLackWorkers { root.admit() }
    let later = now.saturatingAdvanced(by: period)
    var next: ContinuousClock.Instant?
    var lists = [root]
    var count = 0
    var errandsWithoutThread = Set<Bool>()
    while let list = lists.popLast(), count < Self.most {
      let (members, head) = list.oldest(of: Self.mostOfALine)
      // Of one list: it refers to holders, which may be looked at next.
      var reading = WaitReading()
      for (procedure, isReferencedByListOnly) in members {
        count += 1
        if let children = procedure.childList { lists.append(children) }
        let (wait, identities) = procedure.reportedWait(
          inList: mayLackWorkers, behind: head.map { .unowned($0) }, in: &reading)
        let (lasting, due) = procedure.note(
          identities, at: now, isHopeless: isReferencedByListOnly, settings)
        for seen in lasting {
          if case .thread(let errand) = wait, seen.wait != .end {
            // All that wait for a thread at a look wait for the same.
            guard errandsWithoutThread.insert(errand == .mainActor).inserted else { continue }
          }
          report(
            seen.wait, of: procedure, wait, age: now - seen.since,
            isHopeless: seen.wait == .finish && isReferencedByListOnly)
        }
        if let due { next = min(next ?? due, due) }
        // The calls of its body begin and end without a turn.
        if settings.reportsCalls, procedure.bodyTask != nil { next = min(next ?? later, later) }
      }
    }
    guard let next else { return }
    arm(root, at: min(next, later))
  }
}

/// The handler receives all. Without one the two most frequent mistakes are reported.
extension QueueDiagnostics.Settings {
  /// From one look to the next, at most.
  var lookPeriod: Duration? {
    let delays = [waitReportDelay, handler == nil ? nil : gracePeriod].compactMap { $0 }
    return delays.min().map { max($0, .zero) / 2 }
  }

  fileprivate func delay(of wait: Wait.Identity) -> Duration? {
    if wait == .end { return handler == nil ? nil : gracePeriod }
    return wait.isFrequentMistake || handler != nil ? waitReportDelay : nil
  }

  /// Whether the calls in which bodies wait are reported.
  fileprivate var reportsCalls: Bool { handler != nil && waitReportDelay != nil }
}

/// Fires once, and looks where it delays no other timer.
private final class LookTimer: QuietTarget {
  private let root: ProcedureList
  private let diagnostics: QueueDiagnostics

  init(_ root: ProcedureList, _ diagnostics: QueueDiagnostics) {
    self.root = root
    self.diagnostics = diagnostics
  }

  func timerFired() {
    diagnostics.clock.service.deliver { [root, diagnostics] in diagnostics.look(from: root) }
  }
}

extension ProcedureList {
  /// Lets in what has arrived.
  fileprivate func admit() { locked { _ in } }

  /// The oldest members of each line, and whether nothing but the list refers to each, however weakly; and the first that a
  /// thread would take, if one may start.
  ///
  /// Holds the lock for some microseconds: what has arrived stays where it is.
  fileprivate func oldest(
    of limit: Int
  ) -> (members: [(Procedure, isReferencedByListOnly: Bool)], head: Procedure?) {
    storage.withLock { storage in
      var members: [(Procedure, isReferencedByListOnly: Bool)] = []
      storage.machine.buckets.forEach(ofFirst: limit) { member in
        // Before this refers to it.
        let isReferencedByListOnly = member.isReferencedByListOnly
        members.append((member.procedure, isReferencedByListOnly))
      }
      return (members, storage.machine.buckets.first?.procedure)
    }
  }
}

extension Procedure {
  /// Its present wait, and what is reported of it if it lasts.
  ///
  /// - Parameters:
  ///   - asksList: whether its list is asked, too, which only says more where workers may not come.
  ///   - head: the first of its list that a thread would take.
  ///   - reading: that of the members of its list.
  fileprivate final func reportedWait(
    inList asksList: Bool, behind head: Member?, in reading: inout WaitReading
  ) -> (wait: Wait, identities: [Wait.Identity]) {
    let wait = numberedWait(inList: asksList, in: &reading).wait
    var identities: [Wait.Identity] = isCancelled && !isFinished ? [.end] : []
    switch wait {
    // Of a cancelled one it is reported as that.
    case .finish where isCancelled: break
    // Where no workers are missing, a thread of Dispatch's comes soon.
    case .thread(.start): if asksList { identities.append(.thread(.start, behind: head)) }
    case .thread(let errand) where errand != .mainActor && !asksList: break
    case .call(let call, _) where !call.isReported(of: self): break
    default: if let identity = wait.reportedIdentity { identities.append(identity) }
    }
    return (wait, identities)
  }

  /// Writes down its waits, for the next look.
  ///
  /// - Parameter isHopeless: whether nothing is left that could call `finish()`, so that this need not last.
  /// - Returns: those that have lasted, which no later look returns; and when the next one will have.
  fileprivate final func note(
    _ waits: [Wait.Identity], at now: ContinuousClock.Instant, isHopeless: Bool,
    _ settings: QueueDiagnostics.Settings
  ) -> (lasting: [SeenWait], next: ContinuousClock.Instant?) {
    withCore { core in
      if core.life.isRetired || waits.isEmpty && core.registrations == nil { return ([], nil) }
      return core.attachments.with(TokensAndTimers.self) { registrations in
        let before = registrations.seenWaits
        var lasting: [SeenWait] = []
        var next: ContinuousClock.Instant?
        registrations.seenWaits = waits.map { wait in
          var seen = before.first { $0.wait == wait } ?? SeenWait(wait: wait, since: now)
          guard !seen.isDecided, let delay = settings.delay(of: wait) else { return seen }
          let due = seen.since.saturatingAdvanced(by: delay)
          if due <= now || isHopeless && wait == .finish {
            seen.isDecided = true
            lasting.append(seen)
          } else {
            next = min(next ?? due, due)
          }
          return seen
        }
        return (lasting, next)
      }
    }
  }

  /// Whether something shows that its work goes on, although `execute()` has returned.
  final var indicatesOngoingWork: Bool {
    if _getWeakRetainCount(self) > 1 || _getUnownedRetainCount(self) > 1 { return true }
    return peek { $0.attachments.indicateOngoingWork }
  }
}
