internal import ProcedurePrimitives

/// Periodic looks through a queue's procedures report the waits that have lasted.
///
/// The beginning of a wait is not recorded. `lookSoon(from:)` is called where a wait may have
/// begun: after a turn that did not finish its procedure, and after the few other events that begin
/// a wait without a turn. It sets one timer for any number of procedures. A look stores in each
/// procedure its wait and the time; later looks compare. The looks end when nothing is left to
/// report:
///
///     a wait begins     first look          second          third
///     |     ≤ 1 s       |   half a delay    |               |
///     +-----------------+-------------------+---------------+---------------> time
///                       since = now                         delay has passed since: reported
///
/// A report comes at most half a delay late. A look visits only the oldest members of each line,
/// which have waited longest.
extension QueueDiagnostics {
  private static let firstLook = Duration.seconds(1)
  /// The most members of a line, and the most in all, that a look visits.
  private static let mostOfALine = 500
  private static let most = 4_000

  /// Called, with no lock held, when a member of `list` may have begun to wait.
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
    // The timer retains the list and the diagnostics until it fires.
    let key = clock.service.schedule(LookTimer(root, self), at: instant)
    state.withLock { state in
      if state.isArmed { state.lookTimer = key }
    }
  }

  /// Changes the settings of the reports. They apply to the waits of present members of `list`,
  /// too.
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

  /// Cancels the timer when the queue is released empty.
  func disarm() {
    if let key = state.withLock({ $0.lookTimer }) { clock.service.cancel(key) }
  }

  // MARK: Looking

  fileprivate func look(from root: ProcedureList) {
    // 1. Disarm first, so that a wait that begins during the look sets another timer.
    let settings = state.withLock { state in
      (state.isArmed, state.lookTimer) = (false, nil)
      wantsLooks = state.settings.lookPeriod != nil
      return state.settings
    }
    guard let period = settings.lookPeriod else { return }
    let now = clock.now
    // 2. If no worker may come, admit arrived procedures, since the look visits members only.
    let mayLackWorkers = root.context.mayLackWorkers || root.context.scheduler.isStalled
    if mayLackWorkers { root.admit() }
    // 3. Report the waits that have lasted.
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
        // A body's calls begin and end without a turn, so look again.
        if settings.reportsCalls, procedure.asyncBody?.bodyTask != nil {
          next = min(next ?? later, later)
        }
      }
    }
    // 4. Schedule the next look, if a wait is left to report.
    guard let next else { return }
    arm(root, at: min(next, later))
  }
}

/// A handler receives all reports. Without one only the two most frequent mistakes are reported.
extension QueueDiagnostics.Settings {
  var lookPeriod: Duration? {
    let delays = [waitReportDelay, handler == nil ? nil : gracePeriod].compactMap { $0 }
    return delays.min().map { max($0, .zero) / 2 }
  }

  fileprivate func delay(of wait: Wait.Identity) -> Duration? {
    if wait == .end { return handler == nil ? nil : gracePeriod }
    return wait.isFrequentMistake || handler != nil ? waitReportDelay : nil
  }

  fileprivate var reportsCalls: Bool { handler != nil && waitReportDelay != nil }
}

/// Runs the look off the timer thread, where it would delay other timers.
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
  /// Taking the lock makes arrived procedures members.
  fileprivate func admit() { locked { _ in } }

  /// The oldest members of each line, and whether nothing but the list refers to each, however
  /// weakly; and the first that a thread would take, if one may start.
  ///
  /// Holds the lock for some microseconds: what has arrived stays where it is.
  fileprivate func oldest(
    of limit: Int
  ) -> (members: [(Procedure, isReferencedByListOnly: Bool)], head: Procedure?) {
    storage.withLock { storage in
      var members: [(Procedure, isReferencedByListOnly: Bool)] = []
      storage.machine.buckets.forEach(ofFirst: limit) { member in
        // Before this refers to it.
        let isReferencedByListOnly = member.isReferencedByListOnly(storage.machine.buckets.held)
        members.append((member.procedure, isReferencedByListOnly))
      }
      return (members, storage.machine.buckets.first?.procedure)
    }
  }
}

extension Procedure {
  /// Its present wait, and the identities under which it is reported.
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
    // A cancelled procedure is reported as `.end` instead.
    case .finish where isCancelled: break
    // Where no workers are missing, a thread of Dispatch's comes soon.
    case .thread(.start): if asksList { identities.append(.thread(.start, behind: head)) }
    case .thread(let errand) where errand != .mainActor && !asksList: break
    case .call(let call, _) where call.missing == nil && !call.isReported(of: self): break
    default: if let identity = wait.reportedIdentity { identities.append(identity) }
    }
    return (wait, identities)
  }

  /// Stores its waits for the next look.
  ///
  /// - Parameter isHopeless: whether nothing can call `finish()` any more, which is reported
  ///   without a delay.
  /// - Returns: the waits that have lasted, each only once, and the time at which the next one will
  ///   have.
  fileprivate final func note(
    _ waits: [Wait.Identity], at now: ContinuousClock.Instant, isHopeless: Bool,
    _ settings: QueueDiagnostics.Settings
  ) -> (lasting: [SeenWait], next: ContinuousClock.Instant?) {
    withCore { core in
      if core.life.isRetired || waits.isEmpty && core.registrations == nil { return ([], nil) }
      return core.attachments.with(TokensAndTimers.self) { registrations in
        let before = registrations.value.seenWaits
        var lasting: [SeenWait] = []
        var next: ContinuousClock.Instant?
        registrations.value.seenWaits = waits.map { wait in
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
