internal import ProcedurePrimitives

/// The state machine of one procedure. It is pure: it takes no lock, calls no user code and
/// allocates nothing.
///
/// A procedure is a small actor. Any thread posts an event with `post(_:)` and learns its duty. A
/// *turn* processes the events, one step at a time, on the thread that holds it; `next(wants:)`
/// returns the holder's next step.
///
/// Events and states: – changes nothing; "noted" means that the turn will handle it; ✕ is an
/// inconsistency and traps.
///
/// | event           | initialized | pending  | started   | executing | finishing | finished |
/// |-----------------|-------------|----------|-----------|-----------|-----------|----------|
/// | enqueue         | → pending   | refused  | refused   | refused   | refused   | refused  |
/// | evaluate        | –           | noted⁴   | –         | –         | –         | –        |
/// | start           | ✕           | noted    | –         | –         | –         | –        |
/// | mark            | accepted    | accepted | accepted¹ | accepted¹ | late      | late     |
/// | claimFinish     | refused     | refused  | accepted⁵ | accepted⁵ | late      | late     |
/// | finish          | refused²    | refused² | accepted⁶ | accepted³ | late      | late     |
/// | observerAdded   | noted       | noted    | noted     | noted     | noted     | noted    |
/// | additionPending | noted       | noted    | noted     | noted     | noted     | –        |
/// | handOver        | noted       | noted    | –         | –         | –         | –        |
/// | childAsks       | noted       | noted    | noted     | noted     | noted     | noted    |
/// | hold            | ✕           | ✕        | noted     | noted     | noted     | noted    |
///
/// ¹ unless `finish` was accepted before. ² unless cancelled: then its errors are added, once.
/// ³ once; refused for a group, which ends by `childrenFinished`. ⁴ if it has conditions. ⁵ once,
/// unless it was cancelled or finished before. Until the claimant's finish comes, cancels and other
/// finishes are late. A group is claimed together with the child that ends it, and the claim can be
/// released: `releaseClaim`. ⁶ as ³, and it ends the hold of an execute event, as `deliver` does.
///
/// The events of its waits (`dependencyAdded` to `conditionsSatisfied`) have an effect until it has
/// started: see the table of `StartGate`. The other events depend on something else than the state:
/// `deliver` on a mark, `childrenFinished` on a settled group, `parentDecided` on the question to
/// the group, `release` on a hold, `takeTurn` and `giveBackTurn` on the holder of the turn.
/// `joinGroup` is posted with the enqueue.
///
/// Its parts are state machines of their own: the *gate* (the waits before the start, consulted
/// while the procedure is pending and not cancelled), the *turn*, the *cancel*, the *hold* (an
/// event that observers keep back) and the *parent decision* (a child's question to its group).
///
/// The steps of a life without special events. A cancel puts `didCancel` before the next step:
///
/// ```
/// didAttach → [handOver] → [evaluateConditions] → willExecute → [announceChildren] → execute →
///                   pending                             started                       executing
/// didExecute → [settleChildren] → willFinish → [askGroup → (waitForGroup)] → didFinish → retire
///                                 finishing                                  finished
/// ```
///
/// A child asks its group before it finishes: `decideForChildren` is a step of the group's turn,
/// between any two others. If the group has nothing else to do, the child's worker runs it:
/// `takeTurn` and `giveBackTurn` make a turn of one step.
///
/// A cancel has two parts, so that a whole tree can be marked before any cancel is delivered:
/// `mark` sets the flag, `deliver` lets the turn deliver it. Between the two the turn stops where
/// it is: it neither executes nor finishes.
///
/// Invariants:
/// 1. Exactly one thread, or one message in flight, holds the turn while `turn.isHeld`.
/// 2. `didCancel` is delivered at most once, and never after `willFinish`.
/// 3. `retire` is the last step of the last turn that the framework itself requests.
struct Life: Sendable {
  /// Pending duties of the turn, and facts about the end.
  private struct Inbox: BitFlags {
    let rawValue: UInt8
    static let observers = Inbox(rawValue: 1)
    static let additions = Inbox(rawValue: 2)
    static let children = Inbox(rawValue: 4)
    static let handOver = Inbox(rawValue: 8)
    static let didExecute = Inbox(rawValue: 16)
    /// It ends. The last step removes this.
    static let finish = Inbox(rawValue: 32)
    /// The accepted finish was the procedure's own. Never removed.
    static let finishedByItself = Inbox(rawValue: 64)
    /// A finish was claimed: only the claimant's will be accepted.
    static let claim = Inbox(rawValue: 128)

    /// Duties whose steps are taken in any state.
    static let comesFirst: Inbox = [.observers, .didExecute, .children]
  }

  /// The progress of a group with its children. Their list knows which children are left.
  private struct GroupFlags: BitFlags {
    let rawValue: UInt8
    static let isGroup = GroupFlags(rawValue: 1)
    /// Its observers know its initial children.
    static let isAnnounced = GroupFlags(rawValue: 2)
    /// Only unfinished children keep it from finishing.
    static let isSettled = GroupFlags(rawValue: 4)
    /// A cancel came while its finish was claimed.
    static let hasRefusedCancel = GroupFlags(rawValue: 8)
  }

  private enum Waiting: Sendable {
    case toStart(StartGate)
    /// An event was held, which is possible only after the start.
    case forObservers(EventHold)
  }

  // Ordered to avoid padding.

  private var waiting = Waiting.toStart(StartGate())
  /// Published after each event: state, cancelled flag and failed flag.
  private(set) var status = ProcedureStatus()
  private(set) var cancel = CancelDelivery.none
  private(set) var turn = Turn.free
  private var inbox = Inbox(rawValue: 0)
  private var group = GroupFlags(rawValue: 0)
  private(set) var parentDecision = ParentDecision.none

  init(isGroup: Bool = false) {
    if isGroup { group = .isGroup }
  }

  /// Its waits while it is pending. Traps once an event was held.
  private(set) var gate: StartGate {
    @inline(__always) get {
      guard case .toStart(let gate) = waiting else {
        stopBecauseOfInconsistency(
          "Internal inconsistency: the gate of a procedure that has passed it")
      }
      return gate
    }
    @inline(__always) set { waiting = .toStart(newValue) }
  }

  private(set) var hold: EventHold {
    @inline(__always) get {
      if case .forObservers(let hold) = waiting { hold } else { EventHold() }
    }
    set { waiting = .forObservers(newValue) }
  }

  private(set) var state: ProcedureState {
    @inline(__always) get { status.state }
    @inline(__always) set { status.state = newValue }
  }

  /// Whether the last step was taken.
  var isRetired: Bool { @inline(__always) get { state == .finished && !inbox.contains(.finish) } }

  /// Whether a finish was called or claimed, or a cancel ends it: a further finish would be late.
  var isToldToFinish: Bool {
    @inline(__always) get {
      inbox.contains(.finish) || state >= .finishing || inbox.contains(.claim) && !isGroup
    }
  }

  /// Whether the finish was claimed and has not come yet.
  var isClaimed: Bool { inbox.contains(.claim) }

  /// Whether a cancel of the group came too late for a child that has failed since: there are no
  /// further attempts.
  var hasRefusedCancel: Bool { group.contains(.hasRefusedCancel) }

  /// Whether the end of its own closure has finished it.
  var isFinishedByItself: Bool { inbox.contains(.finishedByItself) }

  // MARK: Events

  /// Every event is posted here, under the procedure's lock. Apart from this, only the holder of
  /// the turn changes the state, when it asks for the next step.
  ///
  /// Inlined, so that only one case of the `switch` remains.
  @inline(__always)
  mutating func post(_ event: Event) -> Effect {
    switch event {
    case .enqueue(let waits): enqueue(waitingFor: waits)
    case .dependencyAdded: gate.dependencyAdded() ? .wait : .none
    case .dependencyDone: endDependency()
    case .conditionAdded: gate.conditionAdded() ? .wait : .none
    case .exclusionAdded: gate.exclusionAdded() ? .wait : .none
    case .goOn: goOn()
    case .evaluate(let attempt): mayStart && gate.evaluate(attempt) ? requestTurn() : .none
    case .beginEvaluating: beginEvaluating()
    case .conditionAnswered: mayStart && gate.answered() ? requestTurn() : .none
    case .conditionBrings(let count): gate.conditionBrings(count) ? .wait : .none
    case .conditionsSatisfied: satisfyConditions()
    case .start(let attempt): start(attempt)
    case .mark(let hasErrors):
      inbox.contains(.claim) ? refuseCancel() : mark(hasErrors: hasErrors)
    case .deliver: deliver()
    case .claimFinish: claimFinish()
    case .releaseClaim: releaseClaim()
    case .finish(let hasErrors, let isByItself, let isClaimed):
      finish(hasErrors: hasErrors, isByItself: isByItself, isClaimed: isClaimed)
    case .childrenFinished(let hasErrors): endChildren(hasErrors: hasErrors)
    case .observerAdded: noteObserver()
    case .additionPending: noteAddition()
    case .handOver: note(.handOver)
    case .childAsks: note(.children)
    case .joinGroup: joinGroup()
    case .parentDecided: parentDecision.decide() ? goOnWithTurn() : .none
    case .hold(let event): keep(event)
    case .release(let event): release(event)
    case .turnGoesOn: goOnWithTurn()
    case .beginTurn: beginTurn()
    case .takeTurn: !cancel.isDue && turn.take() ? .turn : .none
    case .giveBackTurn: turn.giveBack() ? .turn : .none
    }
  }

  // MARK: Before the start

  /// The only way from `initialized` to `pending`.
  @inline(__always)
  private mutating func enqueue(waitingFor dependencies: Int) -> Effect {
    guard state == .initialized else { return .refused }
    state = .pending
    gate.wait(for: dependencies)
    return isCancelled ? requestTurn() : goOn()
  }

  @inline(__always)
  private mutating func endDependency() -> Effect {
    // A cancelled procedure may have gone on without them.
    guard state <= .pending else { return .none }
    gate.dependencyFinished()
    return goOn()
  }

  /// Returns `.ready`, once, when the present wait is over.
  @inline(__always)
  private mutating func goOn() -> Effect {
    guard mayStart else { return .none }
    let readiness = gate.pass()
    return readiness == .waiting ? .none : .ready(readiness)
  }

  private mutating func start(_ attempt: UInt32) -> Effect {
    requireConsistency(
      state != .initialized, "Internal inconsistency: started before it was enqueued")
    return state == .pending && gate.start(attempt) ? requestTurn() : .none
  }

  private mutating func beginEvaluating() -> Effect {
    gate.beginEvaluating()
    return .none
  }

  private mutating func satisfyConditions() -> Effect {
    gate.conditionsSatisfied()
    return goOn()
  }

  // MARK: Cancel and finish

  private mutating func mark(hasErrors: Bool) -> Effect {
    if isCancelled || isToldToFinish { return .late }
    cancel.mark()
    status.noteCancel()
    if hasErrors { status.noteFailure() }
    return .none
  }

  private mutating func deliver() -> Effect {
    cancel.allow()
    return goOnWithoutExecute()
  }

  /// Drops the hold of an observer that keeps the execute event back: that event will not come.
  @inline(__always)
  private mutating func goOnWithoutExecute() -> Effect {
    if case .forObservers = waiting, hold.drop(.execute) { return goOnWithTurn() }
    return requestTurn()
  }

  private mutating func refuseCancel() -> Effect {
    if isGroup { group.insert(.hasRefusedCancel) }
    return .late
  }

  private mutating func claimFinish() -> Effect {
    if isCancelled || isToldToFinish || inbox.contains(.claim) { return .late }
    if state < .started { return .refused }
    inbox.insert(.claim)
    return .none
  }

  private mutating func releaseClaim() -> Effect { inbox.remove(.claim) == nil ? .late : .none }

  private mutating func finish(hasErrors: Bool, isByItself: Bool, isClaimed: Bool) -> Effect {
    // 1. The claim ends before the question whether the finish is late: a claim makes all others
    //    late.
    if isClaimed {
      let claim = inbox.remove(.claim)
      requireConsistency(claim != nil, "Internal inconsistency: a finish that was not claimed")
    }
    // 2. The first finish wins (F1).
    if isToldToFinish { return .late }
    // 3. A group ends with its children. An uncancelled procedure must have started.
    if isGroup || (state < .started && !isCancelled) { return .refused }
    if isByItself { inbox.insert(.finishedByItself) }
    return acceptFinish(hasErrors: hasErrors)
  }

  private mutating func endChildren(hasErrors: Bool) -> Effect {
    requireConsistency(isSettling, "Internal inconsistency: a group's children ended early")
    return acceptFinish(hasErrors: hasErrors)
  }

  @inline(__always)
  private mutating func acceptFinish(hasErrors: Bool) -> Effect {
    inbox.insert(.finish)
    if hasErrors { status.noteFailure() }
    // It may not be on any queue yet: enqueuing requests the turn.
    return state == .initialized ? .none : goOnWithoutExecute()
  }

  // MARK: Observers, produced procedures, groups

  private mutating func noteObserver() -> Effect {
    inbox.insert(.observers)
    // Before the enqueue no turn is needed: the first turn begins with the observers.
    return state == .initialized && cancel != .delivered ? .none : requestTurn()
  }

  private mutating func noteAddition() -> Effect {
    inbox.insert(.additions)
    return state == .initialized ? .none : requestTurn()
  }

  private mutating func note(_ due: Inbox) -> Effect {
    inbox.insert(due)
    return requestTurn()
  }

  private mutating func joinGroup() -> Effect {
    parentDecision = .due
    return .none
  }

  // MARK: Pending events

  private mutating func keep(_ event: HoldableEvent) -> Effect {
    requireConsistency(
      state >= .started, "Internal inconsistency: an event is held that has not come")
    // Once the cancel may be delivered, or a finish was accepted, there is no execute to hold back.
    if event == .execute, cancel.isAllowed || inbox.contains(.finish) { return .none }
    hold.keep(event)
    return .none
  }

  private mutating func release(_ event: HoldableEvent) -> Effect {
    guard case .forObservers = waiting else { return .none }
    return hold.release(event) ? goOnWithTurn() : .none
  }

  // MARK: The turn

  @inline(__always)
  private mutating func requestTurn() -> Effect { turn.request() ? .turn : .none }

  private mutating func goOnWithTurn() -> Effect {
    turn.goOn()
    return .turn
  }

  private mutating func beginTurn() -> Effect {
    turn.begin()
    return .none
  }

  /// Returns the next step to the turn's holder, which has done the previous step.
  ///
  /// - Parameter wants: the events that have an observer; others are skipped.
  @inline(__always)
  mutating func next(wants: ProcedureEvents) -> Step {
    turn.begin()
    // 1. No user code begins between the mark of a cancel and its delivery (C1).
    if cancel.isDue { return nextBeforeCancel() }
    // 2. Duties of any state. New observers come first, so that they receive all later events;
    //    then didExecute, the earliest of these; then children, which cannot finish without an
    //    answer.
    if !inbox.isDisjoint(with: .comesFirst) {
      if takeNewObservers() { return .event(.didAttach) }
      if inbox.remove(.didExecute) != nil, wants.contains(.didExecute) {
        return .event(.didExecute)
      }
      if inbox.remove(.children) != nil { return .decideForChildren }
    }
    // 3. The next step of the state would overtake the event that an observer holds back.
    if case .forObservers = waiting, hold.await() { return .waitForPendingEvents }
    // 4. The next step of the state.
    switch state {
    case .initialized: return giveUpTurn()
    case .pending: return nextWhilePending(wants)
    case .started: return nextWhileStarted()
    case .executing: return nextWhileExecuting()
    case .finishing:
      if inbox.remove(.additions) != nil { return .event(.willAdd) }
      return nextWhileFinishing()
    case .finished:
      if isRetired { return giveUpTurn() }
      inbox.remove(.finish)
      turn.giveUp()
      return .retire
    }
  }

  @inline(__always)
  private mutating func nextWhilePending(_ wants: ProcedureEvents) -> Step {
    // 1. A cancelled procedure waits for nothing, and does not execute (C2).
    if isCancelled { return beginFinishing() }
    // 2. A dependency counts as unfinished until it has handed its value over.
    if inbox.remove(.handOver) != nil { return .handOver }
    // 3. A worker has come for it: to evaluate its conditions, or with a slot.
    switch gate.takeStep() {
    case nil: return giveUpTurn()
    case .evaluate: return .evaluateConditions
    case .start:
      state = .started
      return wants.contains(.willExecute) ? .event(.willExecute) : nextWhileStarted()
    }
  }

  @inline(__always)
  private mutating func nextWhileStarted() -> Step {
    // 1. Everything that it adds is added before it finishes.
    if inbox.remove(.additions) != nil { return .event(.willAdd) }
    // 2. It was cancelled or finished in willExecute, and does not execute (X4).
    if isCancelled || inbox.contains(.finish) { return beginFinishing() }
    // 3. Observers of a group know its children before any of these may start (G1).
    if isGroup, group.insert(.isAnnounced).inserted { return .announceChildren }
    // 4. didExecute is due as soon as `execute()` has returned, but after a cancel (C1).
    state = .executing
    inbox.insert(.didExecute)
    return .execute
  }

  @inline(__always)
  private mutating func nextWhileExecuting() -> Step {
    // 1. Everything that it adds is added before it finishes.
    if inbox.remove(.additions) != nil { return .event(.willAdd) }
    // 2. A group does not wait for a call of `finish()`: it ends when its children have.
    if inbox.contains(.finish) || isGroup { return beginFinishing() }
    // 3. Any other procedure executes until a thread calls `finish()` (X3).
    return giveUpTurn()
  }

  @inline(__always)
  private mutating func nextWhileFinishing() -> Step {
    switch parentDecision.next() {
    case .ask: return .askGroup
    case .wait: return .waitForGroup
    case .goOn:
      state = .finished
      return .event(.didFinish)
    }
  }

  /// No other step is taken before the cancel is delivered.
  private mutating func nextBeforeCancel() -> Step {
    // 1. The turn stays with an event that an observer holds back: `deliver` drops that hold.
    if case .forObservers = waiting, hold.await() { return .waitForPendingEvents }
    // 2. The rest of the tree is not marked yet. `deliver` requests the turn again.
    guard cancel == .deliverable else { return giveUpTurn() }
    // 3. The tree is marked.
    cancel.deliver()
    return .event(.didCancel)
  }

  @inline(__always)
  private mutating func beginFinishing() -> Step {
    // 1. A group waits for its children first. If some are left, the last one goes on with the
    //    turn: `childrenFinished`.
    if isGroup, group.insert(.isSettled).inserted { return .settleChildren }
    if isSettling { return giveUpTurn() }
    // 2. A cancelled procedure may come here without a finish. The flag stays until the last step,
    //    which removes it.
    inbox.insert(.finish)
    state = .finishing
    return .event(.willFinish)
  }

  /// Whether observers were added that have not received didAttach. Clears the flag.
  @inline(__always)
  mutating func takeNewObservers() -> Bool { inbox.remove(.observers) != nil }

  @inline(__always)
  private mutating func giveUpTurn() -> Step {
    turn.giveUp()
    return .idle
  }
}

/// Events of a procedure, the caller's duty after each, and the next step of the turn.
extension Life {
  enum Step: Sendable, Equatable {
    /// Nothing to do now. The turn was given up.
    case idle
    /// The turn is kept; it continues when the pending events are released.
    case waitForPendingEvents
    /// An event is delivered: the override is called, then the observers, then the queue's
    /// delegate. For didAttach there are new observers; after willAdd a procedure is added, and
    /// didAdd follows.
    case event(ProcedureEvents)
    /// A finished dependency hands over its value.
    case handOver
    case evaluateConditions
    /// Determine the present children, to announce them to the group's observers.
    case announceChildren
    case execute
    /// Let the group finish once its children have.
    case settleChildren
    /// Ask the group which of the errors it takes over.
    case askGroup
    /// The turn is kept; it continues when the group has answered.
    case waitForGroup
    /// Answer children that are about to finish.
    case decideForChildren
    /// Notify dependents and leave the queue. The turn was given up.
    case retire
  }

  /// An event of a procedure, posted on any thread.
  enum Event: Sendable {
    case enqueue(waits: Int)
    case dependencyAdded
    /// A dependency has finished, or was removed.
    case dependencyDone
    case conditionAdded
    /// A condition was added that needs no evaluation: it changes the categories that the procedure
    /// requests with its slot.
    case exclusionAdded
    /// The addition is known to it: it goes on if nothing else is missing.
    case goOn
    /// A worker is available to evaluate its conditions.
    case evaluate(attempt: UInt32)
    /// The holder of the turn evaluates the conditions that are due.
    case beginEvaluating
    /// A condition that was asked asynchronously has answered.
    case conditionAnswered
    /// The next condition brings n procedures that must finish before it is evaluated.
    case conditionBrings(Int)
    case conditionsSatisfied
    /// A worker has taken it, with a slot. It may have begun to wait again since.
    case start(attempt: UInt32)
    /// First part of a cancel: the flags.
    case mark(hasErrors: Bool = false)
    /// Second part: from now on the turn may deliver it.
    case deliver
    /// Only the claimant's finish will be accepted: something is about to happen that belongs to
    /// it.
    case claimFinish
    /// Gives up the claim, if there is one.
    case releaseClaim
    /// - Parameters:
    ///   - isByItself: whether the closure of a ready-made procedure has ended.
    ///   - isClaimed: whether the claimant finishes.
    case finish(hasErrors: Bool = false, isByItself: Bool = false, isClaimed: Bool = false)
    /// A group's last child has finished.
    case childrenFinished(hasErrors: Bool = false)
    /// An observer was added that wants didAttach, or an event that it missed.
    case observerAdded
    /// There is something to add. A group that is on no queue yet announces it when it executes.
    case additionPending
    /// A finished dependency has something to hand over.
    case handOver
    /// A child asks which of its errors the group takes over.
    case childAsks
    /// It has joined a group, which decides about its errors before it finishes.
    case joinGroup
    /// The group has decided.
    case parentDecided
    /// An observer keeps an event back.
    case hold(HoldableEvent)
    /// The observer releases it.
    case release(HoldableEvent)
    /// The kept turn continues elsewhere: an observer has returned, or the procedure has a list
    /// now.
    case turnGoesOn
    /// A thread has reached the turn, and continues with an event that was suspended.
    case beginTurn
    /// A caller wants the turn for one piece of user code. Refused if it is held, or a cancel is
    /// due.
    case takeTurn
    case giveBackTurn
  }

  /// The duty of the caller that posted an event.
  enum Effect: Sendable, Equatable {
    /// Nothing to do: the event was noted, or changed nothing.
    case none
    /// The caller holds the turn, and must have it run.
    case turn
    /// It became ready: notify its list.
    case ready(Readiness)
    /// It was ready, and must wait again: notify its list.
    case wait
    /// The event came too late.
    case late
    /// The event came at the wrong moment.
    case refused

    /// Whether a mark, or a finish, has effect.
    var isAccepted: Bool { self != .late && self != .refused }

    /// Its new readiness; `.waiting` if that is unchanged.
    var readiness: Readiness {
      if case .ready(let readiness) = self { readiness } else { .waiting }
    }
  }
}

/// Questions about a procedure's life, under its lock.
extension Life {
  var isCancelled: Bool { status.isCancelled }
  var isFailed: Bool { status.isFailed }
  var isGroup: Bool { @inline(__always) get { group.contains(.isGroup) } }

  // MARK: Before the start

  /// The fate of a dependency or condition that is added now.
  enum PrerequisiteAnswer: Sendable {
    case accepted
    /// It was cancelled, and waits for nothing any more.
    case pointless
    /// It has started: the requested order is already broken.
    case tooLate
  }

  /// Whether dependencies and conditions can still be added: only before it has started.
  var prerequisiteAnswer: PrerequisiteAnswer {
    if isCancelled { return .pointless }
    return state <= .pending ? .accepted : .tooLate
  }

  /// Whether it may still start.
  var mayStart: Bool { @inline(__always) get { state == .pending && !isCancelled } }

  /// The number of the present attempt to start.
  var attempt: UInt32 { gate.attempt }

  /// Whether only the dependency that is about to be counted is missing.
  var isLastDependency: Bool { gate.isLastDependency }

  var isEvaluating: Bool { mayStart && gate.stage == .evaluating }

  /// Whether the answer of a condition that was asked in that attempt still counts.
  func isEvaluating(_ attempt: UInt32) -> Bool { isEvaluating && attempt == gate.attempt }

  var isWaitingForDependencies: Bool { state <= .pending && gate.isWaitingForDependencies }

  // MARK: The turn

  /// Whether `takeTurn` would take it.
  var isTurnFree: Bool { !turn.isHeld && !cancel.isDue }

  /// Whether it has not started and no user code runs in its turn: its first step may change.
  var mayStillTake: Bool { state <= .pending && isTurnFree && !isCancelled }

  /// Whether a thread has its turn or is about to get it. False while the turn is kept for an event
  /// elsewhere.
  var isInTurn: Bool { turn.isHeld && !hold.isAwaited && parentDecision != .awaited }

  /// Whether its turn is on its way to a thread.
  var isTurnDue: Bool { turn == .due }

  // MARK: Others

  /// Whether a new observer missed an event, which it gets in a step of its own.
  var mustReplay: Bool { cancel == .delivered || state == .finished }

  /// The event that an observer holds back while the turn waits for it.
  var awaitedHold: HoldableEvent? { hold.isAwaited ? hold.event : nil }

  /// Whether only unfinished children keep a group from finishing.
  var isSettling: Bool { group.contains(.isSettled) && !isToldToFinish }
}

/// The turn of a procedure, which one thread holds at a time. Pure; a part of `Life`.
///
/// Events and states: – changes nothing; ✕ is an inconsistency and traps.
///
/// | event    | free   | due    | held     | wanted  |
/// |----------|--------|--------|----------|---------|
/// | request  | → due¹ | –      | → wanted | –       |
/// | goOn     | ✕      | –¹     | → due¹   | → due¹  |
/// | begin    | ✕      | → held | –        | –       |
/// | take     | → held | –      | –        | –       |
/// | giveBack | ✕      | ✕      | → free   | → due¹  |
/// | giveUp   | ✕      | ✕      | → free   | → free  |
///
/// ¹ The caller gets the turn, and brings it to a thread.
enum Turn: UInt8, Sendable, CaseIterable {
  case free
  /// It is on its way to a thread. No user code runs.
  case due
  /// Exactly one thread holds it, or it is kept for an observer, a pending event or the group's
  /// answer.
  case held
  /// It is held, and an event was noted since.
  case wanted

  var isHeld: Bool { @inline(__always) get { self != .free } }

  /// Notes that the turn has something to do.
  ///
  /// - Returns: whether the caller gets the turn.
  @inline(__always)
  mutating func request() -> Bool {
    switch self {
    case .free:
      self = .due
      return true
    case .due, .wanted: return false
    case .held:
      self = .wanted
      return false
    }
  }

  /// The event that the kept turn waited for has come. The caller gets the turn.
  mutating func goOn() {
    requireConsistency(isHeld, "Internal inconsistency: a turn goes on that no thread holds")
    self = .due
  }

  /// A thread has reached the turn.
  @inline(__always)
  mutating func begin() {
    requireConsistency(isHeld, "Internal inconsistency: a turn begins that no thread holds")
    if self == .due { self = .held }
  }

  /// Takes the turn for one piece of user code, if it is free.
  ///
  /// - Returns: whether the caller holds it.
  mutating func take() -> Bool {
    guard self == .free else { return false }
    self = .held
    return true
  }

  /// Gives the turn back after that piece.
  ///
  /// - Returns: whether the caller must have a turn run, since an event was noted meanwhile.
  mutating func giveBack() -> Bool {
    requireConsistency(
      self == .held || self == .wanted,
      "Internal inconsistency: a turn given back that no thread holds")
    let isKept = self == .wanted
    self = isKept ? .due : .free
    return isKept
  }

  /// Gives the turn up: nothing is left to do.
  @inline(__always)
  mutating func giveUp() {
    requireConsistency(
      self == .held || self == .wanted,
      "Internal inconsistency: a turn given up that no thread holds")
    self = .free
  }
}

/// The progress of a procedure's only cancel. Pure; a part of `Life`.
///
/// Events and states: ✕ is an inconsistency and traps.
///
/// | event   | none     | marked        | deliverable | delivered |
/// |---------|----------|---------------|-------------|-----------|
/// | mark    | → marked | ✕             | ✕           | ✕         |
/// | allow   | ✕        | → deliverable | ✕           | ✕         |
/// | deliver | ✕        | ✕             | → delivered | ✕         |
enum CancelDelivery: UInt8, Sendable, CaseIterable {
  case none
  /// The flag is set. The turn stops where it is.
  case marked
  /// The whole tree is marked: the turn may deliver it.
  case deliverable
  /// The turn delivers it, or has delivered it.
  case delivered

  /// Whether the cancel is not delivered yet: no other user code begins before.
  var isDue: Bool { @inline(__always) get { self == .marked || self == .deliverable } }

  /// Whether the turn may deliver it, or has delivered it.
  var isAllowed: Bool { self == .deliverable || self == .delivered }

  mutating func mark() { advance(from: .none, to: .marked) }

  mutating func allow() { advance(from: .marked, to: .deliverable) }

  mutating func deliver() { advance(from: .deliverable, to: .delivered) }

  private mutating func advance(from before: CancelDelivery, to after: CancelDelivery) {
    requireConsistency(self == before, "Internal inconsistency: a cancel out of order")
    self = after
  }
}

/// An event that observers keep back. Pure; a part of `Life` after the start.
///
/// Events and states: – changes nothing.
///
/// | event   | none     | kept      | awaited   |
/// |---------|----------|-----------|-----------|
/// | keep    | → kept   | –¹        | –¹        |
/// | await   | –        | → awaited | –         |
/// | release | –        | → none²   | → none²³  |
/// | drop    | –        | → none    | → none³   |
///
/// ¹ its count grows. ² once it was released as often as it was kept; `release` and `drop` of
/// another event change nothing. ³ and the kept turn continues.
struct EventHold: Sendable {
  private(set) var event: HoldableEvent?
  /// Whether the turn is kept until the event is released.
  private(set) var isAwaited = false
  private var count: UInt32 = 0

  mutating func keep(_ event: HoldableEvent) {
    self.event = event
    count += 1
  }

  /// The turn has reached the point where it needs the event.
  ///
  /// - Returns: whether the turn must wait.
  @inline(__always)
  mutating func await() -> Bool {
    guard event != nil else { return false }
    isAwaited = true
    return true
  }

  /// One of the observers releases it.
  ///
  /// - Returns: whether the caller must continue the turn.
  mutating func release(_ event: HoldableEvent) -> Bool {
    guard self.event == event else { return false }
    count -= 1
    return count == 0 && end()
  }

  /// The event will not come: no turn waits for it.
  ///
  /// - Returns: whether the caller must continue the turn.
  mutating func drop(_ event: HoldableEvent) -> Bool { self.event == event && end() }

  private mutating func end() -> Bool {
    defer { self = EventHold() }
    return isAwaited
  }
}

/// An event that an observer may keep back.
enum HoldableEvent: UInt8, Sendable {
  case execute
  case finish
}

/// A child's question to its group before it finishes: which of its errors the group takes over.
/// Pure; a part of the child's `Life`.
///
/// Events and stages: – changes nothing; ✕ is an inconsistency and traps.
///
/// | event  | none | due     | asked     | awaited    | decided |
/// |--------|------|---------|-----------|------------|---------|
/// | next   | –    | → asked | → awaited | –          | –       |
/// | decide | ✕    | ✕       | → decided | → decided¹ | ✕       |
///
/// ¹ and the kept turn continues.
enum ParentDecision: UInt8, Sendable, CaseIterable {
  /// It is in no group.
  case none
  /// The group must be asked.
  case due
  /// The group is being asked: it may answer before the turn comes back.
  case asked
  /// The turn is kept until the group answers.
  case awaited
  case decided

  /// The next step of a child that has delivered willFinish.
  enum Step: Sendable {
    case ask
    case wait
    case goOn
  }

  @inline(__always)
  mutating func next() -> Step {
    switch self {
    case .due:
      self = .asked
      return .ask
    case .asked, .awaited:
      self = .awaited
      return .wait
    case .none, .decided:
      return .goOn
    }
  }

  /// The group has decided.
  ///
  /// - Returns: whether the caller must continue the turn.
  mutating func decide() -> Bool {
    defer { self = .decided }
    switch self {
    case .awaited: return true
    case .asked: return false
    case .none, .due, .decided:
      stopBecauseOfInconsistency("Internal inconsistency: heard without having asked")
    }
  }
}
