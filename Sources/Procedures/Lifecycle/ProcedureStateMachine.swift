/// The life of one procedure. Pure: no lock, no user code called, nothing allocated on the way.
///
/// A procedure is a small actor. Any thread posts an event, `post(_:)`, and learns its duty; a
/// *turn* carries events out, one step at a time, on the thread that holds it. `next(wants:)` says what the
/// holder does next.
///
/// Events and states (–: changes nothing; noted: the turn will do something about it):
///
/// | event           | initialized   | pending             | started     | executing   | finishing | finished |
/// |-----------------|---------------|---------------------|-------------|-------------|-----------|----------|
/// | enqueue         | → pending     | refused             | refused     | refused     | refused   | refused  |
/// | evaluate        | –             | noted⁴              | –           | –           | –         | –        |
/// | start           | inconsistency | noted               | –           | –           | –         | –        |
/// | mark            | accepted      | accepted            | accepted¹   | accepted¹   | late      | late     |
/// | finish          | refused²      | refused²            | accepted³   | accepted³   | late      | late     |
/// | observerAdded   | noted         | noted               | noted       | noted       | noted     | noted    |
/// | produced        | noted         | noted               | noted       | noted       | noted     | –        |
/// | handOver        | noted         | noted               | –           | –           | –         | –        |
/// | childAsks       | noted         | noted               | noted       | noted       | noted     | noted    |
/// | hold            | inconsistency | inconsistency       | noted       | noted       | noted     | noted    |
///
/// ¹ unless `finish` was accepted before. ² unless cancelled: then its errors are added, once.
/// ³ once; refused on a group, whose end is `childrenFinished`. ⁴ if it has conditions.
///
/// Events of what it waits for (`dependencyAdded` to `conditionsSatisfied`) count until it has started: the
/// table of the gate says what they do. The others answer to something else than the state: `deliver` to a mark,
/// `childrenFinished` to a group that settles, `heard` to the question to the group, `release` to a hold,
/// `takeTurn` and `giveBackTurn` to who has the turn; and `joinGroup` comes with the enqueue.
///
/// Parts of it are machines of their own: what it waits for before it starts, the *gate*, which is asked as long
/// as the procedure is pending and was not cancelled; who has the *turn*; how far its *cancel* has come; an event
/// that observers keep back, its *hold*; a group's *progress*; and what a child asks its group, the *hearing*.
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
/// two others. A group that has nothing else to do is asked on the child's worker: `takeTurn` and
/// `giveBackTurn` are a turn of one step, and so is a hand-over on the worker of the dependency.
///
/// A cancel comes in two parts, so that a whole tree can be marked before any cancel is delivered:
/// `mark` sets the flag, `deliver` lets the turn deliver it. Between the two a turn goes no further
/// than where it is: it neither executes nor finishes.
///
/// Invariants:
/// 1. Exactly one thread, or one message under way, holds the turn while `turn.isHeld`.
/// 2. `didCancel` is delivered at most once, and never after `willFinish`.
/// 3. `retire` is the last step of the last turn that the framework itself asks for.
struct ProcedureStateMachine: Sendable {
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

    /// Steps in any state.
    static let comesFirst: Inbox = [.observers, .didExecute, .children]
  }

  private enum Waiting: Sendable {
    case toStart(ProcedureGate)
    /// It has started, or ends without.
    case forObservers(EventHold)
  }

  // In this order they leave no gap: there is one of it in each procedure.

  private var waiting = Waiting.toStart(ProcedureGate())
  /// Its published part after each event: state, cancelled flag and failed flag.
  private(set) var status = ProcedureStatus()
  private(set) var cancel = CancelDelivery.none
  private(set) var turn = Turn.free
  private var inbox: Inbox = []
  private(set) var progress: GroupProgress
  private(set) var hearing = GroupHearing.none

  init(isGroup: Bool = false) {
    progress = isGroup ? .unannounced : .notAGroup
  }

  /// Its waits as long as it is pending.
  private(set) var gate: ProcedureGate {
    @inline(__always) get {
      guard case .toStart(let gate) = waiting else {
        preconditionFailure("Internal inconsistency: the gate of a procedure that has passed it")
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

  /// Whether a finish was called, or it ends because of a cancel, so that a further finish would be late.
  var isToldToFinish: Bool {
    @inline(__always) get { inbox.contains(.finish) || state >= .finishing }
  }

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
    case .mark(let hasErrors): mark(hasErrors: hasErrors)
    case .deliver: deliver()
    case .finish(let hasErrors, let isByItself):
      finish(hasErrors: hasErrors, isByItself: isByItself)
    case .childrenFinished(let hasErrors): endChildren(hasErrors: hasErrors)
    case .observerAdded: noteObserver()
    case .produced: noteProduced()
    case .handOver: note(.handOver)
    case .childAsks: note(.children)
    case .joinGroup: joinGroup()
    case .heardAtOnce: hearAtOnce()
    case .heard: hearing.hear() ? .turn : .none
    case .hold(let event): keep(event)
    case .release(let event): release(event)
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
    precondition(state != .initialized, "Internal inconsistency: started before it was enqueued")
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
    if case .forObservers = waiting, hold.drop(.execute) { return .turn }
    return requestTurn()
  }

  private mutating func finish(hasErrors: Bool, isByItself: Bool) -> Effect {
    if isToldToFinish { return .late }
    if isGroup || (state < .started && !isCancelled) { return .refused }
    if isByItself { inbox.insert(.finishedByItself) }
    return acceptFinish(hasErrors: hasErrors)
  }

  private mutating func endChildren(hasErrors: Bool) -> Effect {
    progress.end()
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

  private mutating func hearAtOnce() -> Effect {
    hearing.hearAtOnce()
    return .none
  }

  // MARK: Pending events

  private mutating func keep(_ event: HoldableEvent) -> Effect {
    precondition(state >= .started, "Internal inconsistency: an event is held that has not come")
    // Once the cancel is on its way, there is no execute to hold back.
    if event == .execute, cancel.isAllowed { return .none }
    hold.keep(event)
    return .none
  }

  private mutating func release(_ event: HoldableEvent) -> Effect {
    guard case .forObservers = waiting else { return .none }
    return hold.release(event) ? .turn : .none
  }

  // MARK: The turn

  @inline(__always)
  private mutating func requestTurn() -> Effect { turn.request() ? .turn : .none }

  /// The next step of the turn's holder, now that the step before is done.
  ///
  /// - Parameter wants: the events that have an observer; others are skipped.
  @inline(__always)
  mutating func next(wants: ProcedureEvents) -> Step {
    precondition(turn.isHeld, "Internal inconsistency: a turn that no thread holds")
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
    if progress.announce() { return .announceChildren }
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
    if progress.settle() { return .settleChildren }
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
