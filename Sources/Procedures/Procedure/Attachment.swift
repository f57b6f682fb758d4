internal import ProcedurePrimitives

/// A part of a procedure that only some procedures have: one subclass for each feature, and at most
/// one object of each subclass in a procedure. Guarded by the procedure's lock.
///
/// A procedure without attachments pays one word. A feature attaches itself to the procedure, and
/// overrides the calls that it wants; the core need not know the feature.
class Attachment: @unchecked Sendable {
  /// The next attachment of the same procedure.
  @safe @exclusivity(unchecked) final var next: Attachment?

  required init() {}

  /// Its replacement once the procedure has finished: itself, a smaller object, or nil. Called
  /// under the lock.
  var afterFinish: Attachment? { nil }

  /// Whether it indicates that the procedure's work goes on, although `execute()` has returned.
  /// Called under the lock.
  var indicatesOngoingWork: Bool { false }

  /// The life of the procedure has changed. Called under the procedure's lock, if the core says
  /// that it is watched; if the procedure was ready, or is now, the list's lock is held as well.
  ///
  /// - Parameter missesDependency: whether it waited for dependencies, and goes on without one of
  ///   them.
  func lifeDidChange(to life: RecordedLife, missesDependency: Bool) {}

  /// The procedure has finished, and no longer has this attachment. Called on its worker, before
  /// dependents are notified; no lock is held.
  func procedureDidLeave() {}
}

/// The attachments of one procedure, as a linked list.
struct Attachments: Sendable {
  private var first: Attachment?

  var isEmpty: Bool { @inline(__always) get { first == nil } }

  /// The attachment of that type, if there is one.
  @inline(__always)
  func existing<A: Attachment>(_ type: A.Type = A.self) -> A? {
    var next = first
    while let attachment = next {
      // Subclasses are final, so this finds the same as `as?`, which takes ten times the
      // instructions.
      if Swift.type(of: attachment) == type { return unsafe unsafeDowncast(attachment, to: type) }
      next = attachment.next
    }
    return nil
  }

  /// Calls `body` with the attachment of that type, which is made if necessary.
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

  /// Removes the attachment of that type, if there is one.
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

  /// The procedure has finished: keeps the remainders.
  ///
  /// - Returns: the others, to be released without the lock: a user's value may be released with
  ///   them.
  @inline(never)
  mutating func takeLeaving() -> Attachments {
    var leaving: Attachment?
    var rest = first
    first = nil
    while let attachment = rest {
      // An attachment may be its own remainder, or leave a smaller one: only what stays is linked
      // here again, and all others leave in a list of their own.
      rest = attachment.next
      let remainder = attachment.afterFinish
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

  /// Whether one of them indicates that the procedure's work goes on.
  var indicateOngoingWork: Bool {
    var next = first
    while let attachment = next {
      if attachment.indicatesOngoingWork { return true }
      next = attachment.next
    }
    return false
  }

  /// Whether `attachment` is the only one.
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
  var deferred: TurnWork? { @inline(__always) get { attachments.existing() } }
  var registrations: TokensAndTimers? { @inline(__always) get { attachments.existing() } }
  var waiters: FinishWaiters? { @inline(__always) get { attachments.existing() } }
  var ending: EndDetails? { @inline(__always) get { attachments.existing() } }
  var givenName: String? { attachments.existing(GivenName.self)?.name }
}

/// A name that the user has set.
final class GivenName: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var name: String?

  override var afterFinish: Attachment? { self }
}

/// Requirements before the start, besides plain dependencies.
final class StartRequirements: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var conditions: (any PendingConditions)?
  /// Procedures that conditions brought. They are waited for like dependencies, but the user does
  /// not see them as such.
  @safe @exclusivity(unchecked) var prerequisites: [Prerequisite] = []
  @safe @exclusivity(unchecked) var exclusion: ExclusionClaim?
  /// Settled dependencies that have something to hand over in the next turn.
  @safe @exclusivity(unchecked) var handOvers = Fifo<Dependency>()
  /// Whether a condition of another procedure adds it to a queue.
  @safe @exclusivity(unchecked) var isClaimed = false

  override func procedureDidLeave() {
    for prerequisite in prerequisites { prerequisite.link.leave() }
  }
}

/// Further work for the procedure's turn.
final class TurnWork: Attachment, @unchecked Sendable {
  /// An event whose delivery waits for another Dispatch queue.
  @safe @exclusivity(unchecked) var suspendedDelivery: ObserverDelivery?
  @safe @exclusivity(unchecked) var additions = Fifo<PendingAddition>()
  /// Children that wait for the group's decision.
  @safe @exclusivity(unchecked) var undecidedChildren = Fifo<Procedure>()
}

/// The procedure's registrations with tokens and clocks.
final class TokensAndTimers: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var source: CancellationTokenSource?
  @safe @exclusivity(unchecked) var token: CancellationToken?
  @safe @exclusivity(unchecked) var followed: [FollowerPlace] = []
  /// Whether a worker has marked the procedure ahead of one of those tokens.
  @safe @exclusivity(unchecked) var isMarkedAhead = false
  @safe @exclusivity(unchecked) var timers: [(clock: TimerClock, key: SlabKey)] = []
  /// The waits that the last look found.
  @safe @exclusivity(unchecked) var seenWaits: [SeenWait] = []
  /// Whether one of the timers will report that the procedure is waited for and on no queue, or
  /// has.
  @safe @exclusivity(unchecked) var isAwaitedOutside = false

  override var afterFinish: Attachment? {
    guard let token else { return nil }
    let remainder = TokensAndTimers()
    remainder.token = token
    return remainder
  }

  override var indicatesOngoingWork: Bool { source != nil || token != nil || !timers.isEmpty }

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

/// Keeps a procedure that its queue or group refused until it has finished, and the list on whose
/// workers it finishes: no list keeps the procedure.
final class Refusal: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var list: ProcedureList?
  @safe @exclusivity(unchecked) var procedure: Procedure?
}

/// Details that are read after the end.
final class EndDetails: Attachment, @unchecked Sendable {
  /// The group that the procedure was a child of, once it has ended without success.
  @safe @exclusivity(unchecked) var origin: GroupReference?
  /// Why it was cancelled, if its errors do not say so.
  @safe @exclusivity(unchecked) var cancelReason: CancellationReason?
  /// The name of the condition that was ignored, and so ended the procedure.
  @safe @exclusivity(unchecked) var ignoredCondition: String?
  /// Where a `finish` is reported that comes after the closure has ended the procedure.
  @safe @exclusivity(unchecked) var lateFinishes: QueueSupervisor.Reference?

  override var afterFinish: Attachment? { self }
}
