/// The life of one procedure. Pure: no lock, no user code called, nothing allocated on the way.
///
/// A procedure is a small actor. Events are noted here, by any thread; a *turn* carries them out,
/// one step at a time, on the thread that holds it. `next(wants:)` says what the holder does next.
///
/// Events and states (– means: late, changes nothing):
///
/// | event           | initialized   | pending             | started     | executing   | finishing | finished |
/// |-----------------|---------------|---------------------|-------------|-------------|-----------|----------|
/// | enqueue         | → pending     | misuse              | misuse      | misuse      | misuse    | misuse   |
/// | evaluate        | –             | noted⁴              | –           | –           | –         | –        |
/// | start           | inconsistency | noted               | –           | –           | –         | –        |
/// | mark (cancel)   | accepted      | accepted            | accepted¹   | accepted¹   | –         | –        |
/// | finish          | refused²      | refused²            | accepted³   | accepted³   | –         | –        |
/// | observer added  | noted         | noted               | noted       | noted       | noted     | noted    |
///
/// ¹ unless `finish` was accepted before. ² unless cancelled: then its errors are added, once.
/// ³ once; refused on a group, whose end is `childrenFinished`. ⁴ if it has conditions.
///
/// What it waits for before it starts is a machine of its own, the *gate*: the life asks it as long as
/// the procedure is pending and was not cancelled.
///
/// The steps of a life in which nothing special happens; a cancel puts `didCancel` before whatever
/// comes next:
///
/// ```
/// attachObservers → [handOver] → [evaluateConditions] → willExecute → [announceChildren] → execute →
///                   pending                             started                            executing
/// didExecute → [settleChildren] → willFinish → [askGroup → (waitForGroup)] → didFinish → retire
///                                 finishing                                  finished
///
/// A child asks its group before it finishes: `hearChildren` is a step of the group's turn, between any
/// two others. A group that has nothing else to do is asked on the child's worker: `takeTurn` and
/// `giveBackTurn` are a turn of one step, and so is a hand-over on the worker of the dependency.
/// ```
///
/// A cancel comes in two parts, so that a whole tree can be marked before any cancel is delivered:
/// `mark` sets the flag, `post` lets the turn deliver it. Between the two a turn goes no further
/// than where it is: it neither executes nor finishes.
///
/// Invariants:
/// 1. Exactly one thread, or one message under way, holds the turn while `isTurnHeld`.
/// 2. `didCancel` is delivered at most once, and never after `willFinish`.
/// 3. `retire` is the last step of the last turn that the framework itself asks for.
struct ProcedureStateMachine: Sendable {
  enum Step: Sendable, Equatable {
    /// Nothing to do now. The turn was given up.
    case idle
    /// The turn is kept, and goes on when pending events are released.
    case waitForPendingEvents
    case attachObservers
    case addProduced
    /// Have a dependency that has finished hand over what it made.
    case handOver
    case evaluateConditions
    case willExecute
    /// Find out which children there are, to announce them to the group's observers.
    case announceChildren
    case execute
    case didExecute
    case didCancel
    /// Let the group end once its children have.
    case settleChildren
    case willFinish
    /// Let the group say which of the errors it takes over.
    case askGroup
    /// The turn is kept, and goes on when the group has said so.
    case waitForGroup
    /// Hear children that are about to finish.
    case hearChildren
    case didFinish
    /// Tell dependents and leave the queue. The turn was given up.
    case retire
  }

  /// What the caller that noted an event has to do about it.
  enum TurnAction: Sendable, Equatable {
    case none
    /// The turn is now held for the caller, who must have it run.
    case requestTurn
  }

  enum Cancellation: UInt8, Sendable, Comparable {
    case none
    case marked
    case posted
    case delivered

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  enum Finish: Sendable, Equatable {
    case accepted(TurnAction)
    case late
    /// The wrong moment: reported to the queue.
    case refused
  }

  /// An event that an observer may hold back.
  enum Holdable: UInt8, Sendable {
    case execute
    case finish
  }

  private struct Inbox: OptionSet, Sendable {
    let rawValue: UInt8
    static let start = Inbox(rawValue: 1)
    static let observers = Inbox(rawValue: 2)
    static let produced = Inbox(rawValue: 4)
    static let conditions = Inbox(rawValue: 8)
    static let children = Inbox(rawValue: 16)
    static let handOver = Inbox(rawValue: 32)
    // What an observer holds back, until it is released.
    static let heldExecute = Inbox(rawValue: 64)
    static let heldFinish = Inbox(rawValue: 128)
  }

  private struct Flags: OptionSet, Sendable {
    let rawValue: UInt8
    static let turnHeld = Flags(rawValue: 1)
    /// Something was noted since the turn was taken for one step.
    static let turnWanted = Flags(rawValue: 2)
    static let finishRequested = Flags(rawValue: 4)
    static let didExecuteDue = Flags(rawValue: 8)
    static let retired = Flags(rawValue: 16)
    static let waitingForHolds = Flags(rawValue: 32)

    subscript(flag: Flags) -> Bool {
      @inline(__always) get { contains(flag) }
      @inline(__always) set {
        self = Flags(rawValue: newValue ? rawValue | flag.rawValue : rawValue & ~flag.rawValue)
      }
    }
  }

  /// Errors, and how many of them came with the cancel.
  private final class Failure: Sendable {
    let errors: [any Error]
    let cancelErrorCount: Int

    init(_ errors: [any Error], cancelErrorCount: Int) {
      self.errors = errors
      self.cancelErrorCount = cancelErrorCount
    }
  }

  private enum Children: UInt8, Sendable {
    case notAGroup
    /// Those that are added are announced when the group executes.
    case unannounced
    case running
    case settling
    case finished
  }

  /// Whether the group that it is in wants to hear of it before it has finished.
  private enum Hearing: UInt8, Sendable {
    case none
    case due
    case asked
    case awaited
    case heard
  }

  private enum Waiting: Sendable {
    case toStart(ProcedureGate)
    /// It has started, or ends without. How many times observers hold back an event.
    case forObservers(holds: UInt32)
  }

  // In this order they leave no gap: there is one of it in each procedure.

  /// Nil for none, so that nothing is counted for it.
  private var failure: Failure?
  private var waiting = Waiting.toStart(ProcedureGate())
  private(set) var state = ProcedureState.initialized
  private(set) var cancellation = Cancellation.none
  private var flags: Flags = []
  private var inbox: Inbox = []
  private var children: Children
  private var hearing = Hearing.none

  init(isGroup: Bool = false) {
    children = isGroup ? .unannounced : .notAGroup
  }

  /// What it waits for as long as it is pending.
  private(set) var gate: ProcedureGate {
    @inline(__always) get {
      guard case .toStart(let gate) = waiting else {
        preconditionFailure("Internal inconsistency: the gate of a procedure that has passed it")
      }
      return gate
    }
    @inline(__always) set { waiting = .toStart(newValue) }
  }

  private var holds: UInt32 {
    get { if case .forObservers(let holds) = waiting { holds } else { 0 } }
    set { waiting = .forObservers(holds: newValue) }
  }

  /// The event that an observer holds back.
  private var held: Holdable? {
    @inline(__always) get {
      if inbox.isDisjoint(with: [.heldExecute, .heldFinish]) { return nil }
      return inbox.contains(.heldExecute) ? .execute : .finish
    }
    set {
      inbox.subtract([.heldExecute, .heldFinish])
      switch newValue {
      case .execute: inbox.insert(.heldExecute)
      case .finish: inbox.insert(.heldFinish)
      case nil: break
      }
    }
  }

  var errors: [any Error] { failure?.errors ?? [] }
  var isFailed: Bool { failure != nil }
  var isCancelled: Bool { cancellation != .none }
  var isGroup: Bool { children != .notAGroup }
  var cancelErrors: [any Error] {
    failure.map { Array($0.errors.prefix($0.cancelErrorCount)) } ?? []
  }
  var isTurnHeld: Bool { flags[.turnHeld] }
  var isRetired: Bool { flags[.retired] }

  /// Whether it was cancelled or told to finish, so that a further cancel would be late.
  var isEnding: Bool { isCancelled || flags[.finishRequested] || state >= .finishing }

  /// What is published of it after each event: state, cancelled flag and failed flag.
  ///
  /// `mutating`, so that it is read in place: otherwise the whole machine would be copied for it, and the
  /// references in it counted.
  var status: ProcedureStatus {
    @inline(__always) mutating get {
      ProcedureStatus(state: state, isCancelled: isCancelled, isFailed: isFailed)
    }
  }

  // MARK: Before the start

  /// The only way from `initialized` to `pending`; nil if it was enqueued before.
  mutating func enqueue(waitingFor dependencies: Int) -> TurnAction? {
    guard state == .initialized else { return nil }
    state = .pending
    gate.wait(for: dependencies)
    return isCancelled ? requestTurn() : TurnAction.none
  }

  /// What becomes of a dependency or condition that is added now.
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
  var mayStart: Bool { state == .pending && !isCancelled }

  /// Which attempt to start it is in.
  var attempt: UInt32 { gate.attempt }

  /// A dependency was added while pending. True if it had come further, and must wait again.
  mutating func dependencyAdded() -> Bool {
    forgetWorker()
    return gate.dependencyAdded()
  }

  /// Whether no other dependency than the one that is about to be counted is missing.
  var isLastDependency: Bool { gate.isLastDependency }

  /// A dependency is done, or was removed.
  mutating func dependencyFinished() -> Readiness {
    // One that was cancelled goes on without them.
    guard state <= .pending else { return .waiting }
    gate.dependencyFinished()
    return becomeReady()
  }

  /// Says, once, when it can go on to the next thing it waits for.
  @inline(__always)
  mutating func becomeReady() -> Readiness {
    mayStart ? gate.pass() : .waiting
  }

  /// What a worker has noted belongs to an earlier attempt.
  private mutating func forgetWorker() {
    inbox.subtract([.start, .conditions])
  }

  /// A worker has taken it from the ready list, with a slot. It may have to wait again since.
  mutating func start(_ attempt: UInt32) -> TurnAction {
    precondition(state != .initialized, "Internal inconsistency: started before it was enqueued")
    guard state == .pending, gate.isReady, attempt == gate.attempt else { return .none }
    inbox.insert(.start)
    return requestTurn()
  }

  // MARK: Conditions

  /// A condition was added. True if it was ready, and must wait again.
  mutating func conditionAdded() -> Bool {
    let mustWait = gate.conditionAdded()
    if mustWait { forgetWorker() }
    return mustWait
  }

  /// A condition was added that needs no evaluating, and changes what it asks for with its slot. True if
  /// it was ready, and must be so anew.
  mutating func exclusionAdded() -> Bool {
    let mustWait = gate.exclusionAdded()
    if mustWait { forgetWorker() }
    return mustWait
  }

  /// A worker has time to evaluate its conditions.
  mutating func evaluate(_ attempt: UInt32) -> TurnAction {
    guard mayStart, gate.evaluate(attempt) else { return .none }
    inbox.insert(.conditions)
    return requestTurn()
  }

  /// Whether its conditions are being evaluated.
  var isEvaluating: Bool { mayStart && gate.stage == .evaluating }

  /// Whether the answer of a condition that was asked in that attempt still counts.
  func isEvaluating(_ attempt: UInt32) -> Bool { isEvaluating && attempt == gate.attempt }

  /// The holder of the turn evaluates from here on whatever it was to evaluate.
  mutating func beginEvaluating() -> UInt32 {
    inbox.remove(.conditions)
    return gate.attempt
  }

  /// A condition has answered that was asked asynchronously.
  mutating func conditionAnswered() -> TurnAction {
    guard isEvaluating else { return .none }
    inbox.insert(.conditions)
    return requestTurn()
  }

  /// The next condition brings procedures that must finish before it is evaluated. True if it had come
  /// further, and must wait again.
  mutating func conditionBrings(_ count: Int) -> Bool {
    forgetWorker()
    return gate.conditionBrings(count)
  }

  mutating func conditionsSatisfied() -> Readiness {
    gate.conditionsSatisfied()
    return becomeReady()
  }

  // MARK: Cancel and finish

  /// First part of a cancel: the flag and the errors. True if this is the cancel that counts.
  mutating func mark(errors newErrors: [any Error]) -> Bool {
    guard !isEnding else { return false }
    cancellation = .marked
    if !newErrors.isEmpty { failure = Failure(newErrors, cancelErrorCount: newErrors.count) }
    return true
  }

  /// Second part: from here on the turn may deliver it. What an observer holds back of the
  /// execute event is moot now.
  mutating func post() -> TurnAction {
    precondition(cancellation == .marked, "Internal inconsistency: a cancel posted twice")
    cancellation = .posted
    if held == .execute {
      held = nil
      holds = 0
      if flags[.waitingForHolds] {
        flags[.waitingForHolds] = false
        return .requestTurn
      }
    }
    return requestTurn()
  }

  mutating func finish(errors newErrors: [any Error]) -> Finish {
    if flags[.finishRequested] || state >= .finishing { return .late }
    if isGroup || (state < .started && !isCancelled) { return .refused }
    return .accepted(acceptFinish(newErrors))
  }

  /// A group's last child has finished.
  mutating func childrenFinished(errors newErrors: [any Error]) -> TurnAction {
    precondition(children == .settling, "Internal inconsistency: a group's children ended early")
    children = .finished
    return acceptFinish(newErrors)
  }

  @inline(__always)
  private mutating func acceptFinish(_ newErrors: [any Error]) -> TurnAction {
    flags[.finishRequested] = true
    if !newErrors.isEmpty {
      failure = Failure(errors + newErrors, cancelErrorCount: failure?.cancelErrorCount ?? 0)
    }
    // An unstarted one may not be on any queue yet: enqueuing it asks for the turn.
    return state == .initialized ? .none : requestTurn()
  }

  // MARK: Observers and produced procedures

  /// True if the observer missed an event, which it gets in a step of its own.
  var mustReplay: Bool { cancellation == .delivered || state == .finished }

  /// An observer wants didAttach, or an event that it missed.
  mutating func noteObserver() -> TurnAction {
    inbox.insert(.observers)
    // Before the enqueue there is no hurry: the first turn begins with it.
    return state == .initialized && cancellation != .delivered ? .none : requestTurn()
  }

  /// There is something to add. A group that is not on a queue yet announces it when it executes.
  mutating func noteProduced() -> TurnAction {
    inbox.insert(.produced)
    return state == .initialized ? .none : requestTurn()
  }

  // MARK: Hand-overs

  /// A dependency has finished that has something to hand over.
  mutating func noteHandOver() -> TurnAction {
    inbox.insert(.handOver)
    return requestTurn()
  }

  // MARK: Groups

  /// Its group decides about its errors before it has finished.
  mutating func mustBeHeard() { hearing = .due }

  /// Whether the group must be asked, and has not been.
  var mustAskGroup: Bool { hearing == .due }

  /// The group has decided while it was asked.
  mutating func wasHeardAtOnce() { hearing = .heard }

  /// The group has decided, since it was asked.
  mutating func wasHeard() -> TurnAction {
    defer { hearing = .heard }
    switch hearing {
    case .awaited: return .requestTurn
    case .asked: return .none
    case .none, .due, .heard:
      preconditionFailure("Internal inconsistency: heard without having asked")
    }
  }

  /// A child asks to be heard.
  mutating func noteChild() -> TurnAction {
    inbox.insert(.children)
    return requestTurn()
  }

  // MARK: Pending events

  /// An observer keeps an event back.
  mutating func hold(_ event: Holdable) {
    // Once the cancel is on its way, there is no execute to hold back.
    if event == .execute, cancellation >= .posted { return }
    held = event
    holds += 1
  }

  /// An observer releases the event.
  mutating func release(_ event: Holdable) -> TurnAction {
    guard held == event, holds > 0 else { return .none }
    holds -= 1
    guard holds == 0 else { return .none }
    held = nil
    guard flags[.waitingForHolds] else { return .none }
    flags[.waitingForHolds] = false
    return .requestTurn
  }

  // MARK: Looking

  /// The event that an observer holds back, and nothing goes on without.
  var awaitedHold: Holdable? { flags[.waitingForHolds] ? held : nil }

  var isWaitingForDependencies: Bool { state <= .pending && gate.isWaitingForDependencies }

  /// Whether a thread has its turn, or is about to: it is not kept until something happens elsewhere.
  var isInTurn: Bool { isTurnHeld && !flags[.waitingForHolds] && hearing != .awaited }

  /// Whether nothing but children keeps a group from its end.
  var isSettling: Bool { children == .settling }

  // MARK: The turn

  /// Takes the turn if it is free.
  @inline(__always)
  private mutating func requestTurn() -> TurnAction {
    if isTurnHeld {
      flags.insert(.turnWanted)
      return .none
    }
    flags.insert(.turnHeld)
    return .requestTurn
  }

  /// Takes the turn for one piece of user code, unless it is held, or a cancel is due first.
  mutating func takeTurn() -> Bool {
    guard isTurnFree else { return false }
    flags[.turnHeld] = true
    flags[.turnWanted] = false
    return true
  }

  /// Whether `takeTurn` would take it.
  var isTurnFree: Bool { !isTurnHeld && !isCancelDue }

  /// Gives back a turn that was taken for one thing; it is kept, to go on, if there is more to do.
  mutating func giveBackTurn() -> TurnAction {
    precondition(isTurnHeld, "Internal inconsistency: a turn given back that no thread holds")
    if flags[.turnWanted] { return .requestTurn }
    flags[.turnHeld] = false
    return .none
  }

  /// Whether it was cancelled and that is not delivered yet: no other user code begins before.
  var isCancelDue: Bool { cancellation == .marked || cancellation == .posted }

  /// What the holder of the turn does next, now that the step before is done.
  ///
  /// - Parameter wants: the events that have an observer; others are skipped.
  @inline(__always)
  mutating func next(wants: ProcedureEvents) -> Step {
    precondition(isTurnHeld, "Internal inconsistency: a turn that no thread holds")
    if !isCancelDue {
      if takeNewObservers() { return .attachObservers }
      if flags[.didExecuteDue] {
        flags[.didExecuteDue] = false
        if wants.contains(.didExecute) { return .didExecute }
      }
      if inbox.remove(.children) != nil { return .hearChildren }
    }
    if held != nil {
      flags[.waitingForHolds] = true
      return .waitForPendingEvents
    }
    switch state {
    case .initialized: return cancellation == .posted ? deliverCancel() : giveUpTurn()
    case .pending: return nextWhilePending(wants)
    case .started: return nextWhileStarted()
    case .executing: return nextWhileExecuting()
    case .finishing:
      if takeProduced() { return .addProduced }
      return nextWhileFinishing()
    case .finished:
      if isRetired { return giveUpTurn() }
      flags[.retired] = true
      flags[.turnHeld] = false
      return .retire
    }
  }

  @inline(__always)
  private mutating func nextWhilePending(_ wants: ProcedureEvents) -> Step {
    switch cancellation {
    case .posted: return deliverCancel()
    case .marked: return giveUpTurn()
    case .delivered: return beginFinishing()
    case .none:
      if inbox.remove(.handOver) != nil { return .handOver }
      if inbox.remove(.conditions) != nil { return .evaluateConditions }
      guard inbox.contains(.start) else { return giveUpTurn() }
      inbox.remove(.start)
      state = .started
      return wants.contains(.willExecute) ? .willExecute : nextWhileStarted()
    }
  }

  @inline(__always)
  private mutating func nextWhileStarted() -> Step {
    switch cancellation {
    case .posted: return deliverCancel()
    case .marked: return giveUpTurn()
    case .delivered, .none: break
    }
    if takeProduced() { return .addProduced }
    if cancellation == .delivered || flags[.finishRequested] { return beginFinishing() }
    if children == .unannounced {
      children = .running
      return .announceChildren
    }
    state = .executing
    flags[.didExecuteDue] = true
    return .execute
  }

  @inline(__always)
  private mutating func nextWhileExecuting() -> Step {
    switch cancellation {
    case .posted: return deliverCancel()
    case .marked: return giveUpTurn()
    case .delivered, .none: break
    }
    if takeProduced() { return .addProduced }
    if flags[.finishRequested] || isGroup { return beginFinishing() }
    return giveUpTurn()
  }

  @inline(__always)
  private mutating func nextWhileFinishing() -> Step {
    switch hearing {
    case .due:
      hearing = .asked
      return .askGroup
    case .asked, .awaited:
      hearing = .awaited
      return .waitForGroup
    case .none, .heard:
      state = .finished
      return .didFinish
    }
  }

  private mutating func deliverCancel() -> Step {
    cancellation = .delivered
    return .didCancel
  }

  /// A group's children come first.
  @inline(__always)
  private mutating func beginFinishing() -> Step {
    switch children {
    case .unannounced, .running:
      children = .settling
      return .settleChildren
    case .settling:
      return giveUpTurn()
    case .notAGroup, .finished:
      state = .finishing
      return .willFinish
    }
  }

  /// Whether observers were added that have not received didAttach.
  @inline(__always)
  mutating func takeNewObservers() -> Bool {
    guard inbox.contains(.observers) else { return false }
    inbox.remove(.observers)
    return true
  }

  @inline(__always)
  private mutating func takeProduced() -> Bool {
    guard inbox.contains(.produced) else { return false }
    inbox.remove(.produced)
    return true
  }

  @inline(__always)
  private mutating func giveUpTurn() -> Step {
    flags[.turnHeld] = false
    return .idle
  }
}
