internal import ProcedurePrimitives

/// The life of one procedure. Pure: no lock, no user code called, nothing allocated on the way.
///
/// A procedure is a small actor. Any thread posts an event, `post(_:)`, and learns its duty; a
/// *turn* carries events out, one step at a time, on the thread that holds it. `next(wants:)` says what the
/// holder does next.
///
/// Events and states; – changes nothing, "noted" says that the turn will do something about it, ✕ is an inconsistency
/// and traps:
///
/// | event         | initialized | pending  | started   | executing | finishing | finished |
/// |---------------|-------------|----------|-----------|-----------|-----------|----------|
/// | enqueue       | → pending   | refused  | refused   | refused   | refused   | refused  |
/// | evaluate      | –           | noted⁴   | –         | –         | –         | –        |
/// | start         | ✕           | noted    | –         | –         | –         | –        |
/// | mark          | accepted    | accepted | accepted¹ | accepted¹ | late      | late     |
/// | claimFinish   | refused     | refused  | accepted⁵ | accepted⁵ | late      | late     |
/// | finish        | refused²    | refused² | accepted³ | accepted³ | late      | late     |
/// | observerAdded | noted       | noted    | noted     | noted     | noted     | noted    |
/// | produced      | noted       | noted    | noted     | noted     | noted     | –        |
/// | handOver      | noted       | noted    | –         | –         | –         | –        |
/// | childAsks     | noted       | noted    | noted     | noted     | noted     | noted    |
/// | hold          | ✕           | ✕        | noted     | noted     | noted     | noted    |
///
/// ¹ unless `finish` was accepted before. ² unless cancelled: then its errors are added, once.
/// ³ once; refused on a group, whose end is `childrenFinished`. ⁴ if it has conditions. ⁵ once, and unless it was
/// cancelled or finished before; then cancels and other finishes are late, and the finish of the claimant comes. A
/// group's is claimed together with that of the child that it ends with, and may be given up: `releaseClaim`.
///
/// Events of its waits (`dependencyAdded` to `conditionsSatisfied`) count until it has started: the
/// table of the gate says what they do. The others answer to something else than the state: `deliver` to a mark,
/// `childrenFinished` to a group that has settled, `heard` to the question to the group, `release` to a hold,
/// `takeTurn` and `giveBackTurn` to who has the turn; and `joinGroup` comes with the enqueue.
///
/// Parts of it are machines of their own: its waits before the start, the *gate*, which is asked as long
/// as the procedure is pending and was not cancelled; who has the *turn*; how far its *cancel* has come; an event
/// that observers keep back, its *hold*; and what a child asks its group, the *hearing*.
///
/// The steps of a life in which nothing special happens; a cancel puts `didCancel` before whatever
/// comes next:
///
/// ```
/// didAttach → [handOver] → [evaluateConditions] → willExecute → [announceChildren] → execute →
///                   pending                             started                            executing
/// didExecute → [settleChildren] → willFinish → [askGroup → (waitForGroup)] → didFinish → retire
///                                 finishing                                  finished
/// ```
///
/// A child asks its group before it finishes: `hearChildren` is a step of the group's turn, between any
/// two others. A group that has nothing else to do answers on the child's worker: `takeTurn` and
/// `giveBackTurn` are a turn of one step.
///
/// A cancel comes in two parts, so that a whole tree can be marked before any cancel is delivered:
/// `mark` sets the flag, `deliver` lets the turn deliver it. Between the two a turn goes no further
/// than where it is: it neither executes nor finishes.
///
/// Invariants:
/// 1. Exactly one thread, or one message under way, holds the turn while `turn.isHeld`.
/// 2. `didCancel` is delivered at most once, and never after `willFinish`.
/// 3. `retire` is the last step of the last turn that the framework itself asks for.
struct Life: Sendable {
  /// The next duty of the turn.
  private struct Inbox: OptionSet, Sendable {
    let rawValue: UInt8
    static let observers = Inbox(rawValue: 1)
    static let produced = Inbox(rawValue: 2)
    static let children = Inbox(rawValue: 4)
    static let handOver = Inbox(rawValue: 8)
    static let didExecute = Inbox(rawValue: 16)
    /// It ends: taken out by the last step.
    static let finish = Inbox(rawValue: 32)
    /// Not taken out: the finish that counted was its own.
    static let finishedByItself = Inbox(rawValue: 64)
    /// The finish that will count was announced.
    static let claim = Inbox(rawValue: 128)

    /// Steps in any state.
    static let comesFirst: Inbox = [.observers, .didExecute, .children]
  }

  /// How far a group is with its children; their list knows which of them are left.
  private struct GroupFlags: OptionSet, Sendable {
    let rawValue: UInt8
    static let isGroup = GroupFlags(rawValue: 1)
    /// Its observers know the children that it began with.
    static let isAnnounced = GroupFlags(rawValue: 2)
    /// Nothing but its children keeps it from its end.
    static let isSettled = GroupFlags(rawValue: 4)
    /// A cancel came while its finish was claimed.
    static let hasRefusedCancel = GroupFlags(rawValue: 8)
  }

  private enum Waiting: Sendable {
    case toStart(StartGate)
    /// It has started, or ends without.
    case forObservers(EventHold)
  }

  // In this order they leave no gap: there is one of it in each procedure.

  private var waiting = Waiting.toStart(StartGate())
  /// Its published part after each event: state, cancelled flag and failed flag.
  private(set) var status = ProcedureStatus()
  private(set) var cancel = CancelDelivery.none
  private(set) var turn = Turn.free
  private var inbox: Inbox = []
  private var group: GroupFlags = []
  private(set) var hearing = GroupHearing.none

  init(isGroup: Bool = false) {
    if isGroup { group = .isGroup }
  }

  /// Its waits as long as it is pending.
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

  /// Whether a finish was called or claimed, or it ends because of a cancel, so that a further finish would be late.
  var isToldToFinish: Bool {
    @inline(__always) get {
      inbox.contains(.finish) || state >= .finishing || inbox.contains(.claim) && !isGroup
    }
  }

  /// Whether the finish was claimed, and has not come.
  var isClaimed: Bool { inbox.contains(.claim) }

  /// Whether a cancel of the group came too late for a child that has failed since: there are no further attempts.
  var hasRefusedCancel: Bool { group.contains(.hasRefusedCancel) }

  /// Whether its own closure, or the like, has ended it.
  var isFinishedByItself: Bool { inbox.contains(.finishedByItself) }

  // MARK: The door

  /// Whatever happens to the procedure happens here, under its lock. Beside it only the holder of the turn
  /// changes anything, when it asks what to do next.
  ///
  /// Inlined, so that of the `switch` the one case remains.
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
    case .produced: noteProduced()
    case .handOver: note(.handOver)
    case .childAsks: note(.children)
    case .joinGroup: joinGroup()
    case .heard: hearing.hear() ? goOnWithTurn() : .none
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
    // One that was cancelled goes on without them.
    guard state <= .pending else { return .none }
    gate.dependencyFinished()
    return goOn()
  }

  /// Says, once, when it can go on to the next thing it waits for.
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

  /// An observer that keeps the execute event back keeps nothing now.
  private mutating func deliver() -> Effect {
    cancel.allow()
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
    if isClaimed {
      let claim = inbox.remove(.claim)
      requireConsistency(claim != nil, "Internal inconsistency: a finish that was not claimed")
    }
    if isToldToFinish { return .late }
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
    // An unstarted one may not be on any queue yet: enqueuing it asks for the turn.
    return state == .initialized ? .none : requestTurn()
  }

  // MARK: Observers, produced procedures, groups

  private mutating func noteObserver() -> Effect {
    inbox.insert(.observers)
    // Before the enqueue there is no hurry: the first turn begins with it.
    return state == .initialized && cancel != .delivered ? .none : requestTurn()
  }

  private mutating func noteProduced() -> Effect {
    inbox.insert(.produced)
    return state == .initialized ? .none : requestTurn()
  }

  private mutating func note(_ due: Inbox) -> Effect {
    inbox.insert(due)
    return requestTurn()
  }

  private mutating func joinGroup() -> Effect {
    hearing = .due
    return .none
  }

  // MARK: Pending events

  private mutating func keep(_ event: HoldableEvent) -> Effect {
    requireConsistency(
      state >= .started, "Internal inconsistency: an event is held that has not come")
    // Once the cancel is on its way, there is no execute to hold back.
    if event == .execute, cancel.isAllowed { return .none }
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

  /// The next step of the turn's holder, now that the step before is done.
  ///
  /// - Parameter wants: the events that have an observer; others are skipped.
  @inline(__always)
  mutating func next(wants: ProcedureEvents) -> Step {
    turn.begin()
    if cancel.isDue { return nextBeforeCancel() }
    if !inbox.isDisjoint(with: .comesFirst) {
      if takeNewObservers() { return .event(.didAttach) }
      if inbox.remove(.didExecute) != nil, wants.contains(.didExecute) {
        return .event(.didExecute)
      }
      if inbox.remove(.children) != nil { return .hearChildren }
    }
    if case .forObservers = waiting, hold.await() { return .waitForPendingEvents }
    switch state {
    case .initialized: return giveUpTurn()
    case .pending: return nextWhilePending(wants)
    case .started: return nextWhileStarted()
    case .executing: return nextWhileExecuting()
    case .finishing:
      if inbox.remove(.produced) != nil { return .event(.willAdd) }
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
    if isCancelled { return beginFinishing() }
    if inbox.remove(.handOver) != nil { return .handOver }
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
    if inbox.remove(.produced) != nil { return .event(.willAdd) }
    if isCancelled || inbox.contains(.finish) { return beginFinishing() }
    if isGroup, group.insert(.isAnnounced).inserted { return .announceChildren }
    state = .executing
    inbox.insert(.didExecute)
    return .execute
  }

  @inline(__always)
  private mutating func nextWhileExecuting() -> Step {
    if inbox.remove(.produced) != nil { return .event(.willAdd) }
    if inbox.contains(.finish) || isGroup { return beginFinishing() }
    return giveUpTurn()
  }

  @inline(__always)
  private mutating func nextWhileFinishing() -> Step {
    switch hearing.next() {
    case .ask: return .askGroup
    case .wait: return .waitForGroup
    case .goOn:
      state = .finished
      return .event(.didFinish)
    }
  }

  /// Nothing goes on before the cancel is delivered.
  private mutating func nextBeforeCancel() -> Step {
    if case .forObservers = waiting, hold.await() { return .waitForPendingEvents }
    guard cancel == .deliverable else { return giveUpTurn() }
    cancel.deliver()
    return .event(.didCancel)
  }

  /// A group's children come first.
  @inline(__always)
  private mutating func beginFinishing() -> Step {
    if isGroup, group.insert(.isSettled).inserted { return .settleChildren }
    if isSettling { return giveUpTurn() }
    inbox.insert(.finish)
    state = .finishing
    return .event(.willFinish)
  }

  /// Whether observers were added that have not received didAttach.
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
    /// The turn is kept, and goes on when pending events are released.
    case waitForPendingEvents
    /// An event comes: its override is called, then observers, then the queue's delegate. For didAttach there are new
    /// observers; after willAdd a procedure is added, and didAdd follows.
    case event(ProcedureEvents)
    /// Have a finished dependency hand over its value.
    case handOver
    case evaluateConditions
    /// Find out which children there are, to announce them to the group's observers.
    case announceChildren
    case execute
    /// Let the group end once its children have.
    case settleChildren
    /// Let the group say which of the errors it takes over.
    case askGroup
    /// The turn is kept, and goes on when the group has said so.
    case waitForGroup
    /// Hear children that are about to finish.
    case hearChildren
    /// Tell dependents and leave the queue. The turn was given up.
    case retire
  }

  /// An event of a procedure, on whatever thread.
  enum Event: Sendable {
    case enqueue(waits: Int)
    case dependencyAdded
    /// A dependency has finished, or was removed.
    case dependencyDone
    case conditionAdded
    /// A condition was added that needs no evaluating, and changes the categories that it asks for with its slot.
    case exclusionAdded
    /// The addition is known to it: it goes on if nothing else is missing.
    case goOn
    /// A worker has time to evaluate its conditions.
    case evaluate(attempt: UInt32)
    /// The holder of the turn evaluates whatever is to be evaluated now.
    case beginEvaluating
    /// A condition has answered that was asked asynchronously.
    case conditionAnswered
    /// The next condition brings so many procedures that must finish before it is evaluated.
    case conditionBrings(Int)
    case conditionsSatisfied
    /// A worker has taken it, with a slot. It may have to wait again since.
    case start(attempt: UInt32)
    /// First part of a cancel: the flags.
    case mark(hasErrors: Bool = false)
    /// Second part: from here on the turn may deliver it.
    case deliver
    /// The next finish is the claimant's, and counts: something is about to happen that belongs to it.
    case claimFinish
    /// Nothing comes of it, if it was claimed.
    case releaseClaim
    /// - Parameters:
    ///   - isByItself: whether it is the end of a ready-made procedure's closure.
    ///   - isClaimed: whether it is the claimant's.
    case finish(hasErrors: Bool = false, isByItself: Bool = false, isClaimed: Bool = false)
    /// A group's last child has finished.
    case childrenFinished(hasErrors: Bool = false)
    /// An observer wants didAttach, or an event that it missed.
    case observerAdded
    /// There is something to add. A group that is not on a queue yet announces it when it executes.
    case produced
    /// A dependency has finished that has something to hand over.
    case handOver
    /// A child asks to be heard.
    case childAsks
    /// It is in a group, which decides about its errors before it has finished.
    case joinGroup
    /// The group has decided.
    case heard
    /// An observer keeps an event back.
    case hold(HoldableEvent)
    /// The observer releases it.
    case release(HoldableEvent)
    /// The turn, which was kept, goes on elsewhere: an observer has returned, or the procedure has a list now.
    case turnGoesOn
    /// A thread has come to the turn, and goes on with an event that was put aside.
    case beginTurn
    /// The turn is wanted for one piece of user code: not if it is held, or a cancel is due first.
    case takeTurn
    case giveBackTurn
  }

  /// The duty of the caller that posted an event.
  enum Effect: Sendable, Equatable {
    /// Nothing: it is noted, or it changes nothing.
    case none
    /// The turn is the caller's, who must have it run.
    case turn
    /// It has come so far, of which its list must be told.
    case ready(Readiness)
    /// It had come further, and must wait again, of which its list must be told.
    case wait
    /// It is too late for that.
    case late
    /// The wrong moment for that.
    case refused

    /// Whether a mark, or a finish, has effect.
    var isAccepted: Bool { self != .late && self != .refused }

    /// How far it has come.
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
    /// It has started, so that the order asked for is broken already.
    case tooLate
  }

  /// Whether dependencies and conditions can still be added: not since it started.
  var prerequisiteAnswer: PrerequisiteAnswer {
    if isCancelled { return .pointless }
    return state <= .pending ? .accepted : .tooLate
  }

  /// Whether it waits to start, and may still.
  var mayStart: Bool { @inline(__always) get { state == .pending && !isCancelled } }

  /// Which attempt to start it is in.
  var attempt: UInt32 { gate.attempt }

  /// Whether only the dependency that is about to be counted is missing.
  var isLastDependency: Bool { gate.isLastDependency }

  /// Whether its conditions are being evaluated.
  var isEvaluating: Bool { mayStart && gate.stage == .evaluating }

  /// Whether the answer of a condition that was asked in that attempt still counts.
  func isEvaluating(_ attempt: UInt32) -> Bool { isEvaluating && attempt == gate.attempt }

  var isWaitingForDependencies: Bool { state <= .pending && gate.isWaitingForDependencies }

  // MARK: The turn

  /// Whether `takeTurn` would take it.
  var isTurnFree: Bool { !turn.isHeld && !cancel.isDue }

  /// Whether it has not started, and no code of the user's runs in its turn: its first step may change.
  var mayStillTake: Bool { state <= .pending && isTurnFree && !isCancelled }

  /// Whether a thread has its turn, or is about to: it is not kept until something happens elsewhere.
  var isInTurn: Bool { turn.isHeld && !hold.isAwaited && hearing != .awaited }

  /// Whether its turn is on its way to a thread, which has not come.
  var isTurnDue: Bool { turn == .due }

  // MARK: Others

  /// True if the observer missed an event, which it gets in a step of its own.
  var mustReplay: Bool { cancel == .delivered || state == .finished }

  /// The event that an observer holds back, and nothing goes on without.
  var awaitedHold: HoldableEvent? { hold.isAwaited ? hold.event : nil }

  /// Whether nothing but children keeps a group from its end.
  var isSettling: Bool { group.contains(.isSettled) && !isToldToFinish }
}

/// Who has the turn of a procedure. Pure, a part of its life.
///
/// Events and states; – changes nothing, ✕ is an inconsistency and traps:
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
/// ¹ it is the caller's, who brings it to a thread.
enum Turn: UInt8, Sendable, CaseIterable {
  case free
  /// It is on its way to a thread, which has not come. No code of the user's runs.
  case due
  /// Exactly one thread has it; or what it waits for elsewhere: an observer, a pending event, the group's answer.
  case held
  /// It is held, and something was noted since.
  case wanted

  var isHeld: Bool { @inline(__always) get { self != .free } }

  /// Something was noted that the turn must do.
  ///
  /// - Returns: whether it is the caller's.
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

  /// The event that it waited for elsewhere has come. It is the caller's.
  mutating func goOn() {
    requireConsistency(isHeld, "Internal inconsistency: a turn goes on that no thread holds")
    self = .due
  }

  /// A thread has come to it.
  @inline(__always)
  mutating func begin() {
    requireConsistency(isHeld, "Internal inconsistency: a turn begins that no thread holds")
    if self == .due { self = .held }
  }

  /// It is wanted for one thing, if it is free.
  ///
  /// - Returns: whether it is held by the caller.
  mutating func take() -> Bool {
    guard self == .free else { return false }
    self = .held
    return true
  }

  /// The one thing is done.
  ///
  /// - Returns: whether it is kept, to go on.
  mutating func giveBack() -> Bool {
    requireConsistency(
      self == .held || self == .wanted,
      "Internal inconsistency: a turn given back that no thread holds")
    let isKept = self == .wanted
    self = isKept ? .due : .free
    return isKept
  }

  /// Nothing is left to do.
  @inline(__always)
  mutating func giveUp() {
    requireConsistency(
      self == .held || self == .wanted,
      "Internal inconsistency: a turn given up that no thread holds")
    self = .free
  }
}

/// How far a cancel has come, of which there is one. Pure, a part of the life of a procedure.
///
/// Events and states; ✕ is an inconsistency and traps:
///
/// | event   | none     | marked        | deliverable | delivered |
/// |---------|----------|---------------|-------------|-----------|
/// | mark    | → marked | ✕             | ✕           | ✕         |
/// | allow   | ✕        | → deliverable | ✕           | ✕         |
/// | deliver | ✕        | ✕             | → delivered | ✕         |
enum CancelDelivery: UInt8, Sendable, CaseIterable {
  case none
  /// The flag is set, and the turn goes no further than where it is.
  case marked
  /// The whole tree is marked: the turn may deliver it.
  case deliverable
  /// The turn delivers it, or has.
  case delivered

  /// Whether it was cancelled and that is not delivered yet: no other user code begins before.
  var isDue: Bool { @inline(__always) get { self == .marked || self == .deliverable } }

  /// Whether the turn may deliver it, or has.
  var isAllowed: Bool { self == .deliverable || self == .delivered }

  mutating func mark() { advance(from: .none, to: .marked) }

  mutating func allow() { advance(from: .marked, to: .deliverable) }

  mutating func deliver() { advance(from: .deliverable, to: .delivered) }

  private mutating func advance(from before: CancelDelivery, to after: CancelDelivery) {
    requireConsistency(self == before, "Internal inconsistency: a cancel out of order")
    self = after
  }
}

/// An event of a procedure that observers keep back. Pure, a part of its life, from the start on.
///
/// Events and states; – changes nothing:
///
/// | event   | none     | kept      | awaited   |
/// |---------|----------|-----------|-----------|
/// | keep    | → kept   | –¹        | –¹        |
/// | await   | –        | → awaited | –         |
/// | release | –        | → none²   | → none²³  |
/// | drop    | –        | → none    | → none³   |
///
/// ¹ it is kept once more. ² once it was released as often as it was kept; `release` of another event changes
/// nothing, nor does `drop`. ³ and the turn, which was kept, goes on.
struct EventHold: Sendable {
  private(set) var event: HoldableEvent?
  /// Whether the turn is kept until the event is released.
  private(set) var isAwaited = false
  private var count: UInt32 = 0

  /// An observer keeps the event.
  mutating func keep(_ event: HoldableEvent) {
    self.event = event
    count += 1
  }

  /// The turn has come to where the event is missing.
  ///
  /// - Returns: whether it has to wait.
  @inline(__always)
  mutating func await() -> Bool {
    guard event != nil else { return false }
    isAwaited = true
    return true
  }

  /// One of the observers lets it go.
  ///
  /// - Returns: whether the turn goes on, for the caller.
  mutating func release(_ event: HoldableEvent) -> Bool {
    guard self.event == event else { return false }
    count -= 1
    return count == 0 && end()
  }

  /// The event will not come: nothing waits for it.
  ///
  /// - Returns: whether the turn goes on, for the caller.
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

/// The question of a child to its group before it finishes: which of its errors the group takes over. Pure, a part
/// of the life of the child.
///
/// Events and stages; – changes nothing, ✕ is an inconsistency and traps:
///
/// | event | none | due     | asked     | awaited  | heard |
/// |-------|------|---------|-----------|----------|-------|
/// | next  | –    | → asked | → awaited | –        | –     |
/// | hear  | ✕    | ✕       | → heard   | → heard¹ | ✕     |
///
/// ¹ and the turn, which was kept, goes on.
enum GroupHearing: UInt8, Sendable, CaseIterable {
  /// It is in no group.
  case none
  /// The group is to be asked.
  case due
  /// It is being asked: it may answer before the turn comes back.
  case asked
  /// The turn is kept until it answers.
  case awaited
  case heard

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
    case .none, .heard:
      return .goOn
    }
  }

  /// The group has decided.
  ///
  /// - Returns: whether the turn goes on, for the caller.
  mutating func hear() -> Bool {
    defer { self = .heard }
    switch self {
    case .awaited: return true
    case .asked: return false
    case .none, .due, .heard:
      stopBecauseOfInconsistency("Internal inconsistency: heard without having asked")
    }
  }
}
