public import Dispatch
public import ProcedurePrimitives

/// A piece of work that can be queued, ordered, observed and, above all, cancelled.
///
/// Subclass it, override `execute()`, and call `finish()` when the work is done:
///
/// ```swift
/// final class Resize: Procedure, @unchecked Sendable {
///   let image: Image
///   init(_ image: Image) { self.image = image }
///
///   override func execute() {
///     for row in image.rows {
///       if isCancelled { break }
///       resize(row)
///     }
///     finish()
///   }
/// }
///
/// let queue = ProcedureQueue()
/// queue.add(Resize(image))
/// ```
///
/// Subclasses restate `@unchecked Sendable`; in exchange for that word, the framework promises that
/// `execute()`, the overrides and the observers of one procedure never overlap and that each sees
/// what the one before wrote. State that only they touch needs no lock.
///
/// ## Cancellation
/// `cancel()` sets `isCancelled`, fires `cancellationToken`, and then, in the procedure's next
/// turn, calls `procedureDidCancel(withErrors:)` and the DidCancel observers. A procedure that has
/// not executed yet then finishes by itself, without executing; any other must call `finish()`.
///
/// ## Thread safety
/// Everything may be called from any thread. `cancel`, `finish` and `add(observer:)` return at
/// once: their consequences run in a turn, on the queue's workers.
///
/// ## Ordering
/// willExecute, `execute()`, didExecute, `procedureWillFinish`, willFinish, [finished],
/// `procedureDidFinish`, didFinish; only then dependents start. Overrides come before observers,
/// and observers in the order in which they were added.
nonisolated open class Procedure: @unchecked Sendable, Cancelable {
  // In this order they leave no gap: see `ProcedureCore`.

  /// Used as `membership`, as the others are by their names.
  @safe @exclusivity(unchecked) private final var storedMembership = Membership()

  /// The part that is read without the lock, and the lock.
  @usableFromInline final let status: LockByte

  @safe @exclusivity(unchecked) private final var storedLinks = MemberLinks()

  /// Guarded by the lock in `status`.
  @safe @exclusivity(unchecked) private final var core: ProcedureCore

  @safe @exclusivity(unchecked) private final var storedAge: UInt32 = 0

  /// That of `membership`, `links` and `age`.
  private final let memberUses = UseCount(of: "the membership of a procedure")
  #if MODEL || CHAOS
    final let memberReferences = MemberReferences()
  #endif

  /// Makes a procedure that is on no queue yet.
  public init() {
    status = LockByte(ProcedureStatus().byte)
    core = ProcedureCore(isGroup: Self.isGroup)
  }

  deinit {
    #if MODEL || CHAOS
      memberUses.noteLast()
      requireConsistency(
        storedMembership.line == .none, "Internal inconsistency: a member was released")
    #endif
    if !core.dependencies.isEmpty { core.dependencies.releaseAll() }
  }

  /// Whether it ends by itself, when its children have.
  class var isGroup: Bool { false }

  /// The children, if this is a group.
  var childList: ProcedureList? { nil }

  // Hooks of ready-made procedures besides the overrides, so that no override has to call super.

  /// A group is about to execute: it announces later children when they are added.
  func announceChildren() {}

  /// A group lets its children end it.
  func settleChildren() {}

  /// It was cancelled: called once, on the thread that cancels, after the token has fired.
  func interrupt() {}

  /// A group takes another child.
  func takeIn(_ child: Procedure) { stopAsNoGroup() }

  /// Whether this is a group that succeeds when the child, which runs, does. Called by any thread.
  func ends(with child: Procedure) -> Bool { false }

  /// A group decides about the errors of children that have asked.
  func hearChildren() {}

  /// A group decides about those of a child on that one's own worker. False if its turn is held, or runs elsewhere.
  func hearAtOnce(_ child: Procedure, on context: SchedulingContext) -> Bool { stopAsNoGroup() }

  /// The last child of a group has finished. True if the group's turn is now held for the caller.
  func childrenFinished() -> Bool { stopAsNoGroup() }

  private func stopAsNoGroup() -> Never {
    stopBecauseOfInconsistency("Internal inconsistency: '\(name)' is no group, and has children")
  }

  /// It was cancelled: what the framework itself executes ends now.
  func endBecauseOfCancel() {}

  /// For a procedure that ends with its closure: the spelling for work that calls back later.
  var formThatCallsBack: String? { nil }

  /// It is about to be added to a queue or group, on the thread that adds.
  func prepareForQueue() {}

  /// What `execute()` has begun and left to the worker, if it did. Asked in the same turn.
  var begun: Begun? { nil }

  /// The task of its work, while that goes on.
  var bodyTask: BodyTask? { nil }

  /// Whether that is to go on, and no thread has come to it.
  var isStepDue: Bool { false }

  /// Whether that is to begin on the main actor, and has not.
  var awaitsMainActor: Bool { false }

  /// Whether its work runs on the main actor.
  var runsOnMainActor: Bool { false }

  /// The same, for a simulation, which has no main actor.
  package final var needsMainActor: Bool { runsOnMainActor }

  /// Whether the property that comes with the protocol keeps its input. For a class that may have one of
  /// its own in its place it is not known.
  var keepsInput: Bool { false }

  /// The same of its output.
  var keepsOutput: Bool { false }

  /// It has finished, executed or not: releases the work.
  func releaseWork() {}

  /// The child whose progress is its own; nil if that is the progress of all children together.
  var progressSource: Procedure? { nil }

  /// The name of a procedure whose name is not set.
  final var defaultName: String { derivedName ?? typeName(type(of: self)) }

  /// A name that says more than the type does. Made when it is read.
  var derivedName: String? { nil }

  // MARK: To override

  /// Does the work, or starts it. Override it and call `finish()` when the work is done.
  ///
  /// Called once, on a worker of the queue (on its underlying queue, if it was given one), unless
  /// the procedure was cancelled or finished before. `finish()` may be called inside it, or later
  /// from any thread; until then the procedure keeps its slot. Long work looks at `isCancelled`,
  /// and a blocking call is interrupted by a handler on `cancellationToken`.
  ///
  /// The base implementation finishes with `ProcedureError.Code.notImplemented`.
  open func execute() {
    finish(withError: ProcedureError(.notImplemented, of: typeName(type(of: self))))
  }

  /// Called in a turn after the procedure was cancelled, before its DidCancel observers.
  ///
  /// Stop the work here and call `finish()`, if `execute()` was called. While a synchronous
  /// `execute()` is on the stack, this waits for it to return.
  ///
  /// - Parameter errors: the errors of the cancel.
  open func procedureDidCancel(withErrors errors: [any Error]) {}

  /// Called in a turn when the procedure is about to finish, before its WillFinish observers.
  ///
  /// - Parameter errors: all errors. They no longer change.
  open func procedureWillFinish(withErrors errors: [any Error]) {}

  /// Called in a turn when `isFinished` is true, before the DidFinish observers and dependents.
  ///
  /// - Parameter errors: all errors.
  open func procedureDidFinish(withErrors errors: [any Error]) {}

  // MARK: State

  /// The procedure's place in its life. Reading does not block; the answer may be history a moment later.
  public final var state: ProcedureState { ProcedureStatus(byte: status.load()).state }

  /// Whether it was added to a queue or group, ever.
  public final var isEnqueued: Bool { state >= .pending }

  /// Whether it is on a queue or in a group and has not started.
  public final var isPending: Bool { state == .pending }

  /// Whether `execute()` was called and it has not begun to finish.
  public final var isExecuting: Bool { state == .executing }

  /// Whether it is done.
  public final var isFinished: Bool { state == .finished }

  /// Whether it was cancelled. One atomic load: safe to poll in a tight loop.
  @inlinable
  public final var isCancelled: Bool { ProcedureStatus.isCancelled(status.load()) }

  /// Whether there are errors, so far.
  public final var failed: Bool { ProcedureStatus(byte: status.load()).isFailed }

  /// The errors of the cancel, then the errors of the finish, as far as they are known.
  public final var errors: [any Error] {
    guard failed else { return [] }
    return peek { core in
      core.noteHearer()
      return core.errors
    }
  }

  /// The errors that it was cancelled with.
  final var cancelErrors: [any Error] { failed ? peek { $0.cancelErrors } : [] }

  /// How it ended; nil until it is finished.
  public final var outcome: ProcedureOutcome? {
    peek { core in
      guard core.life.state == .finished else { return nil }
      core.noteHearer()
      let errors = core.errors
      if core.life.isCancelled { return .cancelled(errors) }
      return errors.isEmpty ? .succeeded : .failed(errors)
    }
  }

  /// The name in logs and errors: the type's name unless set; the length for a delay.
  public final var name: String {
    get { peek { $0.givenName } ?? defaultName }
    set { withCore { core in core.attachments.with(GivenName.self) { $0.name = newValue } } }
  }

  /// Whether its name is not the user's.
  final var hasNoName: Bool { peek { $0.givenName == nil } }

  /// Gives it a name, in the middle of an expression.
  ///
  /// ```swift
  /// GroupProcedure {
  ///   Fetch(url).named("fetch the index")
  ///   Parse().named("parse it")
  /// }
  /// ```
  ///
  /// - Returns: this procedure.
  @discardableResult
  public final func named(_ name: String) -> Self {
    self.name = name
    return self
  }

  /// Which of several ready procedures goes first.
  ///
  /// Set it at any time: it counts until the procedure has started, for a slot and for the line of a category. A
  /// ready procedure whose priority changes goes behind those that are ready with the new one. Later the property says
  /// what was set, and nothing else changes. A group's priority is that of the group; its children have their own.
  ///
  /// The dependencies of an urgent procedure are not raised with it: set theirs, too. O(1), and O(log n) for one that
  /// waits in the line of a category.
  public final var priority: ProcedurePriority {
    get { peek { $0.urgency.priority } }
    set { setUrgency { $0.priority = newValue } }
  }

  /// The Dispatch quality at which it executes; `.unspecified` means the quality of its queue.
  ///
  /// Set it at any time: it counts until the procedure has started. A quality of its own costs a Dispatch block of its
  /// own. On Linux Dispatch takes it as a hint.
  public final var qualityOfService: DispatchQoS.QoSClass {
    get { peek { $0.urgency.quality } }
    set { setUrgency { $0.quality = newValue } }
  }

  private final func setUrgency(_ change: (inout Urgency) -> Void) {
    let followUp = withCore { core in
      change(&core.urgency)
      // Usually it is on no queue yet: its place there will be that of its urgency.
      guard core.life.mayStart, core.isMember, let list = core.list else {
        return ProcedureList.FollowUp.nothing
      }
      return list.changeUrgency(of: self, to: core.urgency)
    }
    followUp.perform()
  }

  // MARK: In a list

  // Guarded by the lock of the list that it is in, or is arriving in, not by its own.

  final var membership: Membership {
    @inline(__always) get {
      memberUses.note()
      return storedMembership
    }
    @inline(__always) _modify {
      memberUses.note()
      yield &storedMembership
    }
  }

  final var links: MemberLinks {
    @inline(__always) get {
      memberUses.note()
      return storedLinks
    }
    @inline(__always) _modify {
      memberUses.note()
      yield &storedLinks
    }
  }

  /// Grows with each procedure that becomes a member of the list.
  final var age: UInt32 {
    @inline(__always) get {
      memberUses.note()
      return storedAge
    }
    @inline(__always) set {
      memberUses.note()
      storedAge = newValue
    }
  }

  // MARK: The lock

  /// Runs `body` with what the lock guards, and publishes what may be read without it. No user code runs in `body`.
  @inline(__always)
  final func withCore<Result>(_ body: (inout ProcedureCore) -> Result) -> Result {
    _ = status.acquire()
    let result = body(&core)
    status.release(publishing: core.life.status.byte)
    return result
  }

  /// The same for a `body` that changes nothing. No user code runs in it.
  @inline(__always)
  final func peek<Result>(_ body: (borrowing ProcedureCore) -> Result) -> Result {
    let published = status.acquire()
    let result = body(core)
    status.release(publishing: published)
    return result
  }

  /// Makes what may be read without the lock known. Called under it.
  @inline(__always)
  final func publish(_ core: inout ProcedureCore) {
    status.publish(core.life.status.byte)
  }

  /// Has an event happen, and the turn run if that is for the caller to do.
  final func post(_ event: Life.Event) { note { $0.life.post(event) } }

  /// The same for an event that comes with more than the machine keeps.
  ///
  /// - Parameter workerList: the list whose worker this is, which will look for more there.
  final func note(
    onWorkerOf workerList: ProcedureList? = nil, _ event: (inout ProcedureCore) -> Life.Effect
  ) {
    let (takesTurn, list): (Bool, ProcedureList?) = withCore { core in
      event(&core) == .turn ? (true, core.list) : (false, nil)
    }
    if takesTurn { requestTurn(in: list, onWorkerOf: workerList) }
  }
}

/// Every procedure conforms to it, so that extensions can speak of the subclass as `Self`.
public protocol ProcedureProtocol: Procedure {}

extension Procedure: ProcedureProtocol {}

extension Procedure: Hashable {
  /// Whether they are the same object.
  public static func == (left: Procedure, right: Procedure) -> Bool { left === right }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

extension Procedure: CustomStringConvertible {
  /// Its name, type, state and errors, for example `'Upload' (Upload, executing, cancelled)`.
  public var description: String {
    let type = typeName(type(of: self))
    let status = ProcedureStatus(byte: status.load())
    var parts = name == type ? ["\(status.state)"] : [type, "\(status.state)"]
    if status.isCancelled { parts.append("cancelled") }
    if status.isFailed { parts.append("errors: \(errors.sentence)") }
    return "'\(name)' (\(parts.joined(separator: ", ")))"
  }
}
