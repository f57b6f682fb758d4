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
/// Subclasses restate `@unchecked Sendable`. The framework promises in return that `execute()`, the
/// overrides and the observers of one procedure never overlap, and that each sees the writes of the
/// previous one. State that only they touch needs no lock.
///
/// ## Cancellation
/// `cancel()` sets `isCancelled`, fires `cancellationToken`, and then, in the procedure's next
/// turn, calls `procedureDidCancel(withErrors:)` and the DidCancel observers. A procedure that has
/// not executed yet then finishes automatically, without executing; any other must call `finish()`.
///
/// ## Thread safety
/// Everything may be called from any thread. `finish` and `add(observer:)` return at once: their
/// consequences run in a turn, on the queue's workers. So does `cancel`, after it has called the
/// handlers of the token.
///
/// ## Ordering
/// willExecute, `execute()`, didExecute, `procedureWillFinish`, willFinish, [finished],
/// `procedureDidFinish`, didFinish; only then dependents start. Overrides come before observers,
/// and observers in the order in which they were added.
nonisolated open class Procedure: @unchecked Sendable, Cancelable {
  // Ordered to avoid padding: see `ProcedureCore`.

  // The lock of the list that it is in, or is arriving in, guards `membership`, `links` and `age`.

  final let membership = Guarded<Membership, HeldList>(
    Membership(), of: "the membership of a procedure")

  /// The part that is read without the lock, and the lock itself.
  @usableFromInline final let status: LockByte

  final let links = Guarded<MemberLinks, HeldList>(MemberLinks(), of: "the links of a procedure")

  /// The lock in `status` guards it: only `withCore` and `peek` reach it.
  @safe @exclusivity(unchecked) private final var core: ProcedureCore

  final let age = Guarded<UInt32, HeldList>(0, of: "the age of a member")

  #if MODEL || CHAOS
    final let memberReferences = MemberReferences()
  #endif

  /// Makes a procedure that is on no queue yet.
  public init() {
    status = LockByte(ProcedureStatus().byte)
    core = ProcedureCore(isGroup: Self.traits.contains(.isGroup))
  }

  deinit {
    #if MODEL || CHAOS
      membership.noteLast()
      links.noteLast()
      age.noteLast()
      requireConsistency(
        HeldList.deallocating(self)[self].bucket == .none,
        "Internal inconsistency: a member was released")
    #endif
    if !core.dependencies.isEmpty { core.dependencies.releaseAll() }
  }

  // Hooks of ready-made procedures besides the overrides below, so that no user's override has to
  // call super. An override of a hook calls super if its superclass overrides that hook.

  /// The traits that all procedures of the class share. An override repeats those of its
  /// superclass.
  class var traits: ProcedureTraits { ProcedureTraits(rawValue: 0) }

  /// Called for every procedure at each phase of its work. Ready-made ones override it.
  func workDidEnter(_ phase: WorkPhase) {}

  /// How the worker continues after `execute()`: with work that it has begun, if any. Never
  /// `.retire`. Read in the same turn.
  var begun: WorkerNext { .anotherJob }

  /// A text that the class has of its own, made when it is read; nil for none.
  func text(for use: TextUse) -> String? { nil }

  /// This procedure as a group, if it is one.
  final var asGroup: GroupProcedure? {
    @inline(__always) get {
      guard type(of: self).traits.contains(.isGroup) else { return nil }
      return unsafe unsafeDowncast(self, to: GroupProcedure.self)
    }
  }

  /// The children, if this is a group.
  final var childList: ProcedureList? { @inline(__always) get { asGroup?.list } }

  /// The asynchronous body, if it has one.
  final var asyncBody: (any AsyncBody)? {
    type(of: self).traits.contains(.hasAsyncBody) ? self as? any AsyncBody : nil
  }

  /// Whether its work runs on the main actor, which a simulation does not have.
  package final var needsMainActor: Bool { asyncBody?.runsOnMainActor ?? false }

  /// The name of a procedure whose name is not set.
  final var defaultName: String { text(for: .name) ?? typeName(type(of: self)) }

  // MARK: To override

  /// Does the work, or starts it. Override it and call `finish()` when the work is done.
  ///
  /// Called once, on a worker of the queue (on its underlying queue, if it was given one), unless
  /// the procedure was cancelled or finished before. Call `finish()` inside it, or later from any
  /// thread; until then the procedure keeps its slot. Long work should check `isCancelled`; a
  /// handler on `cancellationToken` can interrupt a blocking call.
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

  /// The present state. Reading does not block; the answer may be outdated a moment later.
  public final var state: ProcedureState { ProcedureStatus(byte: status.load()).state }

  /// Whether it was ever added to a queue or group.
  public final var isEnqueued: Bool { state >= .pending }

  /// Whether it is on a queue or in a group and has not started.
  public final var isPending: Bool { state == .pending }

  /// Whether `execute()` was called and it has not begun to finish.
  public final var isExecuting: Bool { state == .executing }

  /// Whether it has finished.
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
      core.markObserved()
      return core.errors
    }
  }

  /// The errors that it was cancelled with.
  final var cancelErrors: [any Error] { failed ? peek { $0.cancelErrors } : [] }

  /// How it ended; nil until it is finished.
  public final var outcome: ProcedureOutcome? {
    peek { core in
      guard core.life.state == .finished else { return nil }
      core.markObserved()
      let errors = core.errors
      if core.life.isCancelled { return .cancelled(errors) }
      return errors.isEmpty ? .succeeded : .failed(errors)
    }
  }

  /// The name in logs and errors. By default it is the name of the type, or the length of a delay.
  public final var name: String {
    get { peek { $0.givenName } ?? defaultName }
    set { withCore { core in core.attachments.with(GivenName.self) { $0.name = newValue } } }
  }

  /// Whether the user has set no name.
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

  /// Decides which of several ready procedures goes first.
  ///
  /// Set it at any time: it counts until the procedure has started, for a slot and for the line of
  /// a category. A ready procedure whose priority changes goes behind those that are ready with the
  /// new one. After the start a new value is kept, but has no effect. A group's priority is its
  /// own; its children have theirs.
  ///
  /// The dependencies of an urgent procedure are not raised with it: set theirs, too. O(1); O(log
  /// n) if it waits in the line of a category.
  public final var priority: ProcedurePriority {
    get { peek { $0.urgency.priority } }
    set { setUrgency { $0.priority = newValue } }
  }

  /// The Dispatch quality at which it executes; `.unspecified` means the quality of its queue.
  ///
  /// Set it at any time: it counts until the procedure has started. A quality of its own costs an
  /// additional Dispatch block. Dispatch on Linux takes it as a hint.
  public final var qualityOfService: DispatchQoS.QoSClass {
    get { peek { $0.urgency.quality } }
    set { setUrgency { $0.quality = newValue } }
  }

  private final func setUrgency(_ change: (inout Urgency) -> Void) {
    let followUp = withCore { core in
      change(&core.urgency)
      // Usually it is on no queue yet: its place there will follow from its urgency.
      guard core.life.mayStart, core.isMember, let list = core.list else {
        return ProcedureList.FollowUp.nothing
      }
      return list.changeUrgency(of: self, to: core.urgency)
    }
    followUp.perform()
  }

  // MARK: The lock

  /// Runs `body` with the state that the lock guards, and publishes the part that is read without
  /// it. No user code runs in `body`.
  @inline(__always)
  final func withCore<Result>(_ body: (inout ProcedureCore) -> Result) -> Result {
    _ = status.acquire()
    let result = body(&core)
    status.release(publishing: core.life.status.byte)
    return result
  }

  /// Runs a `body` that changes nothing under the lock. No user code runs in it.
  @inline(__always)
  final func peek<Result>(_ body: (borrowing ProcedureCore) -> Result) -> Result {
    let published = status.acquire()
    let result = body(core)
    status.release(publishing: published)
    return result
  }

  /// Stops a debug build if the calling thread does not hold the lock.
  @inline(__always)
  final func assertLocked() { status.assertHeld() }

  /// Publishes the part that is read without the lock, and keeps the lock.
  @inline(__always)
  final func publish(_ core: inout ProcedureCore) {
    status.publish(core.life.status.byte)
  }

  /// Posts an event, and requests the turn if the caller gets it.
  final func post(_ event: Life.Event) { note { $0.life.post(event) } }

  /// Posts an event that comes with more than the machine keeps.
  ///
  /// - Parameter workerList: the list of the calling worker, which will look for more there.
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
    return "'\(name.onOneLine)' (\(parts.joined(separator: ", ")))"
  }
}
