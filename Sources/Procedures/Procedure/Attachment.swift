internal import ProcedurePrimitives

/// A part of a procedure that only some procedures have: at most one object of each subclass in a
/// procedure. It is reached through the procedure's core only, so the procedure's lock guards it.
///
/// A procedure without attachments pays one word. A feature attaches itself to the procedure, and
/// overrides the calls that it wants; the core need not know the feature. For a rare feature a value
/// suffices: see `Attached`.
class Attachment: @unchecked Sendable {
  /// The next attachment of the same procedure. The row that the attachment is in reaches it: the
  /// procedure's, under its lock, or that of a worker to which a finished procedure has left it.
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
  /// - Parameter missing: a procedure that it waited for, and goes on without; nil if there is none.
  func lifeDidChange(to life: RecordedLife, without missing: Procedure?) {}

  /// The procedure has finished, and no longer has this attachment. Called on its worker, before
  /// dependents are notified; no lock is held.
  func procedureDidLeave() {}
}

/// A value that only some procedures have.
protocol AttachedValue: Sendable {
  init()

  /// Whether the procedure keeps it after the finish.
  static var isKeptAfterFinish: Bool { get }

  /// See `Attachment.indicatesOngoingWork`.
  var indicatesOngoingWork: Bool { get }

  /// See `Attachment.procedureDidLeave()`.
  mutating func procedureDidLeave()
}

extension AttachedValue {
  static var isKeptAfterFinish: Bool { false }
  var indicatesOngoingWork: Bool { false }
  mutating func procedureDidLeave() {}
}

/// The attachment of a value, for a rare feature. A class of its own, whose metadata the compiler
/// makes, is found and asked in fewer instructions.
final class Attached<Value: AttachedValue>: Attachment, @unchecked Sendable {
  /// The procedure's lock guards it: the core lends the attachment, which no one keeps.
  @safe @exclusivity(unchecked) var value = Value()

  override var afterFinish: Attachment? { Value.isKeptAfterFinish ? self : nil }
  override var indicatesOngoingWork: Bool { value.indicatesOngoingWork }
  override func procedureDidLeave() { value.procedureDidLeave() }
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

  /// The attachment of a value of that type, if there is one.
  @inline(__always)
  func existing<Value: AttachedValue>(_ type: Value.Type = Value.self) -> Attached<Value>? {
    existing(Attached<Value>.self)
  }

  /// Calls `body` with the value of that type, which is attached if necessary.
  @inline(__always)
  mutating func with<Value: AttachedValue, Result>(
    _ type: Value.Type, _ body: (inout Value) -> Result
  ) -> Result {
    with(Attached<Value>.self) { body(&$0.value) }
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
  var givenName: String? { attachments.existing(GivenName.self)?.value.name }
}

/// A name that the user has set.
struct GivenName: AttachedValue {
  var name: String?

  static var isKeptAfterFinish: Bool { true }
}

/// Requirements before the start, besides plain dependencies.
final class StartRequirements: Attachment, @unchecked Sendable {
  struct Value: Sendable {
    var conditions: (any PendingConditions)?
    /// Procedures that conditions brought. They are waited for like dependencies, but the user does
    /// not see them as such.
    var prerequisites: [Prerequisite] = []
    var exclusion: ExclusionClaim?
    /// Settled dependencies that have something to hand over in the next turn.
    var handOvers = Fifo<Dependency>()
    /// Whether a condition of another procedure adds it to a queue.
    var isClaimed = false
  }

  /// The procedure's lock guards it: only the core reaches the attachment.
  @safe @exclusivity(unchecked) var value = Value()

  override func procedureDidLeave() {
    for prerequisite in value.prerequisites { prerequisite.link.leave() }
  }
}

/// Further work for the procedure's turn.
final class TurnWork: Attachment, @unchecked Sendable {
  struct Value: Sendable {
    /// An event whose delivery waits for another Dispatch queue.
    var suspendedDelivery: ObserverDelivery?
    var additions = Fifo<PendingAddition>()
    /// Children that wait for the group's decision.
    var undecidedChildren = Fifo<Procedure>()
  }

  /// The procedure's lock guards it: only the core reaches the attachment.
  @safe @exclusivity(unchecked) var value = Value()
}

/// The procedure's registrations with tokens and clocks.
final class TokensAndTimers: Attachment, @unchecked Sendable {
  struct Value: Sendable {
    var source: CancellationTokenSource?
    var token: CancellationToken?
    var followed: [FollowerPlace] = []
    /// Whether a worker has marked the procedure ahead of one of those tokens.
    var isMarkedAhead = false
    var timers: [(clock: TimerClock, key: SlabKey)] = []
    /// The waits that the last look found.
    var seenWaits: [SeenWait] = []
    /// Whether one of the timers will report that the procedure is waited for and on no queue, or
    /// has.
    var isAwaitedOutside = false
  }

  /// The procedure's lock guards it, until the procedure has left or is being deallocated.
  @safe @exclusivity(unchecked) var value = Value()

  override var afterFinish: Attachment? {
    guard let token = value.token else { return nil }
    let remainder = TokensAndTimers()
    remainder.value.token = token
    return remainder
  }

  override var indicatesOngoingWork: Bool {
    value.source != nil || value.token != nil || !value.timers.isEmpty
  }

  override func procedureDidLeave() { leave() }

  deinit { leave() }

  /// The place on a token that is about to cancel the procedure.
  var cancelledPlace: FollowerPlace? {
    for place in value.followed where place.reason != nil { return place }
    return nil
  }

  private func leave() {
    value.source?.complete()
    for place in value.followed { place.leave() }
    for timer in value.timers { timer.clock.service.cancel(timer.key) }
    (value.source, value.followed, value.timers) = (nil, [], [])
  }
}

/// Keeps a procedure that its queue or group refused until it has finished, and the list on whose
/// workers it finishes: no list keeps the procedure.
struct Refusal: AttachedValue {
  var list: ProcedureList?
  var procedure: Procedure?
}

/// Details that are read after the end.
final class EndDetails: Attachment, @unchecked Sendable {
  struct Value: Sendable {
    /// The group that the procedure was a child of, once it has ended without success.
    var origin: GroupReference?
    /// Why it was cancelled, if its errors do not say so.
    var cancelReason: CancellationReason?
    /// The name of the condition that was ignored, and so ended the procedure.
    var ignoredCondition: String?
    /// Where a `finish` is reported that comes after the closure has ended the procedure.
    var lateFinishes: QueueSupervisor.Reference?
  }

  /// The procedure's lock guards it: only the core reaches the attachment.
  @safe @exclusivity(unchecked) var value = Value()

  override var afterFinish: Attachment? { self }
}
