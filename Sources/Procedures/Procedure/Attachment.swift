internal import ProcedurePrimitives

/// A part of a procedure that only some procedures have: one subclass for each feature, at most one object of each
/// in a procedure. Guarded by the procedure's lock.
///
/// A procedure that has none pays one word. A feature hangs on the procedure by its attachment, and overrides the
/// calls that it wants; the core need not know the feature.
class Attachment: @unchecked Sendable {
  /// The next one of the same procedure.
  @safe @exclusivity(unchecked) final var next: Attachment?

  required init() {}

  /// Its replacement once the procedure has finished: itself, less, or nothing. Called under the lock.
  var remainder: Attachment? { nil }

  /// Whether it shows that the work of the procedure goes on, although `execute()` has returned. Called under the lock.
  var showsWork: Bool { false }

  /// The life of the procedure has changed. Called under the lock of the procedure, if the core says that it is
  /// watched; if the procedure was ready, or is now, under that of its list, too.
  ///
  /// - Parameter missesDependency: whether it waited for dependencies, and goes on without one of them.
  func lifeDidChange(to life: RecordedLife, missesDependency: Bool) {}

  /// The procedure has finished, and does not have this any more. Called on its worker, before dependents are
  /// notified; no lock is held.
  func procedureDidLeave() {}
}

/// The attachments of one procedure, in a row.
struct Attachments: Sendable {
  private var first: Attachment?

  var isEmpty: Bool { @inline(__always) get { first == nil } }

  /// The one of that type, if there is one.
  @inline(__always)
  func existing<A: Attachment>(_ type: A.Type = A.self) -> A? {
    var next = first
    while let attachment = next {
      // Subclasses are final, so this is what `as?` finds out in ten times the instructions.
      if Swift.type(of: attachment) == type { return unsafe unsafeDowncast(attachment, to: type) }
      next = attachment.next
    }
    return nil
  }

  /// Calls with the one of that type, made if need be.
  @inline(__always)
  mutating func with<A: Attachment, Result>(_ type: A.Type, _ body: (A) -> Result) -> Result {
    if let found = existing(type) { return body(found) }
    let new = A()
    prepend(new)
    return body(new)
  }

  @inline(__always)
  mutating func prepend(_ attachment: Attachment) {
    attachment.next = first.take()
    first = attachment
  }

  /// Takes out the one of that type, if there is one.
  mutating func remove<A: Attachment>(_ type: A.Type) -> A? {
    guard let found = existing(type) else { return nil }
    if first === found {
      first = found.next
    } else {
      var before = first
      while let attachment = before, attachment.next !== found { before = attachment.next }
      before?.next = found.next
    }
    found.next = nil
    return found
  }

  /// The procedure has finished: keeps what remains.
  ///
  /// - Returns: the others, to be released without the lock: a user's value may go with them.
  @inline(never)
  mutating func takeLeaving() -> Attachments {
    var leaving: Attachment?
    var rest = first
    first = nil
    while let attachment = rest {
      rest = attachment.next
      let remainder = attachment.remainder
      if let remainder {
        remainder.next = first
        first = remainder
      }
      if remainder !== attachment {
        attachment.next = leaving
        leaving = attachment
      }
    }
    return Attachments(first: leaving)
  }

  /// Whether one of them shows that the procedure's work goes on.
  var showWork: Bool {
    var next = first
    while let attachment = next {
      if attachment.showsWork { return true }
      next = attachment.next
    }
    return false
  }

  /// Whether that is the only one.
  @inline(__always)
  func are(only attachment: Attachment) -> Bool { first === attachment && attachment.next == nil }

  @inline(__always)
  func forEach(_ body: (Attachment) -> Void) {
    var next = first
    while let attachment = next {
      body(attachment)
      next = attachment.next
    }
  }
}

extension ProcedureCore {
  var requirements: StartRequirements? { @inline(__always) get { attachments.existing() } }
  var pending: TurnWork? { @inline(__always) get { attachments.existing() } }
  var links: TokensAndTimers? { @inline(__always) get { attachments.existing() } }
  var waiters: FinishWaiters? { @inline(__always) get { attachments.existing() } }
  var ending: EndDetails? { @inline(__always) get { attachments.existing() } }
  var givenName: String? { attachments.existing(GivenName.self)?.name }
}

/// A name that was set.
final class GivenName: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var name: String?

  override var remainder: Attachment? { self }
}

/// Requirements before the start, besides plain dependencies.
final class StartRequirements: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var conditions: (any PendingConditions)?
  /// Procedures that conditions brought. Waited for like dependencies; to the user they are none.
  @safe @exclusivity(unchecked) var prerequisites: [Prerequisite] = []
  @safe @exclusivity(unchecked) var exclusion: ExclusionClaim?
  /// Dependencies that are settled, and have something to hand over in the next turn.
  @safe @exclusivity(unchecked) var handOvers = Fifo<Dependency>()
  /// Whether a condition of another procedure adds it to a queue.
  @safe @exclusivity(unchecked) var isClaimed = false

  override func procedureDidLeave() {
    for prerequisite in prerequisites { prerequisite.link.leave() }
  }
}

/// Further work of the procedure's turn.
final class TurnWork: Attachment, @unchecked Sendable {
  /// An event whose delivery waits for another Dispatch queue.
  @safe @exclusivity(unchecked) var suspendedDelivery: ObserverDelivery?
  @safe @exclusivity(unchecked) var produced = Fifo<Production>()
  /// Children that wait to be heard.
  @safe @exclusivity(unchecked) var unheard = Fifo<Procedure>()
}

/// The procedure's ties to tokens and clocks.
final class TokensAndTimers: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var source: CancellationTokenSource?
  @safe @exclusivity(unchecked) var token: CancellationToken?
  @safe @exclusivity(unchecked) var followed: [FollowerPlace] = []
  /// Whether a worker has marked the procedure, which one of those tokens is about to cancel.
  @safe @exclusivity(unchecked) var isMarkedAhead = false
  @safe @exclusivity(unchecked) var timers: [(clock: TimerClock, key: SlabKey)] = []
  /// The wait that the last look found.
  @safe @exclusivity(unchecked) var seenWaits: [SeenWait] = []
  /// Whether one of the timers is to report that it is waited for and on no queue, or has.
  @safe @exclusivity(unchecked) var isAwaitedOutside = false

  override var remainder: Attachment? {
    guard let token else { return nil }
    let remainder = TokensAndTimers()
    remainder.token = token
    return remainder
  }

  override var showsWork: Bool { source != nil || token != nil || !timers.isEmpty }

  override func procedureDidLeave() { leave() }

  deinit { leave() }

  /// The place on a token that is about to cancel the procedure.
  var cancelledPlace: FollowerPlace? {
    for place in followed where place.reason != nil { return place }
    return nil
  }

  private func leave() {
    source?.complete()
    for place in followed { place.leave() }
    for timer in timers { timer.clock.service.cancel(timer.key) }
    (source, followed, timers) = (nil, [], [])
  }
}

/// Keeps a procedure that its queue or group refused until it has finished, and the list on whose workers it does:
/// no list keeps it.
final class Refusal: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var list: ProcedureList?
  @safe @exclusivity(unchecked) var procedure: Procedure?
}

/// Answers for questions after the end.
final class EndDetails: Attachment, @unchecked Sendable {
  /// The group that the procedure was a child of, once it has ended without success.
  @safe @exclusivity(unchecked) var origin: GroupReference?
  /// Why it was cancelled, if its errors do not say so.
  @safe @exclusivity(unchecked) var cancelReason: CancellationReason?
  /// The name of the condition that was ignored, and so ended the procedure.
  @safe @exclusivity(unchecked) var ignoredCondition: String?
  /// Where a `finish` is reported that comes after it has ended by itself.
  @safe @exclusivity(unchecked) var lateFinishes: QueueSupervisor.Reference?

  override var remainder: Attachment? { self }
}
