internal import ProcedurePrimitives

/// A procedure that consists of others: it runs its children, and finishes after the last of them.
///
/// ```swift
/// let resize = Resize(image)
/// let upload = Upload(image)
/// upload.add(dependency: resize)
/// queue.add(GroupProcedure(resize, upload))
/// ```
///
/// Children start when the group executes. Children may be added at any time until the group's last
/// one has finished: from `execute()`, from an observer of a child, by `produce`. A group holds one
/// slot of its queue while it executes; its children take none.
///
/// A subclass may override `execute()` to add children; it calls `super.execute()` to start them
/// (they start when `execute()` returns in any case). `finish()` is refused: a group ends when its
/// children have.
///
/// ## Cancellation
/// Cancelling a group cancels its children, however deep; all of them read cancelled before
/// the cancel of any is delivered. A group that is cancelled before it started does not execute;
/// it finishes after its children have finished, cancelled.
///
/// ## Failure
/// A child's own cancel or failure touches neither its siblings nor the group, unless
/// `failurePolicy` says so. Its errors become the group's, each with the child's name, except those
/// that `child(_:willFinishWithErrors:)`, or a closure given to `recover`, keeps. A child that
/// ended only because a sibling or the group did is not reported: one cause is one error.
nonisolated open class GroupProcedure: Procedure, EndsByItself, @unchecked Sendable {
  private final let list = ProcedureList(childrenOf: GroupReference())
  final let childResults = Locked(ChildResults())
  /// Whether closures are to be asked about children.
  final let hasRecoveries = AtomicByte(0)

  // In turns only.

  /// Whether children may start.
  @safe @exclusivity(unchecked) private final var hasBegun = false
  /// Whether they wait for the worker whose turn this is.
  @safe @exclusivity(unchecked) private final var isLeftToWorker = false

  /// Makes a group of `children`.
  ///
  /// - Parameters:
  ///   - name: its name; nil for the name of its type.
  ///   - children: none of which may be on a queue or in a group.
  public init(name: String? = nil, children: [Procedure] = []) {
    super.init()
    consist(of: children, name)
  }

  /// Makes a group of the procedures of a sequence: an array or a set of some subclass, a lazy map.
  @_disfavoredOverload  // An array is that of the other one.
  public init<Children: Sequence>(name: String? = nil, children: Children)
  where Children.Element: Procedure {
    super.init()
    consist(of: [Procedure](listing: children), name)
  }

  /// Makes a group of the procedures of a sequence, as `init(name:children:)`.
  public init<Children: Sequence>(name: String? = nil, _ children: Children)
  where Children.Element: Procedure {
    super.init()
    consist(of: [Procedure](listing: children), name)
  }

  /// Makes a group of the procedures given.
  public init(name: String? = nil, _ children: Procedure...) {
    super.init()
    consist(of: children, name)
  }

  /// Makes a group of the procedures written in a closure.
  ///
  /// ```swift
  /// queue.add(
  ///   GroupProcedure {
  ///     download.then(resize).then(upload)
  ///     if wantsReport { Report() }
  ///   })
  /// ```
  ///
  /// See `ProcedureBuilder` for what may be written.
  public init(
    name: String? = nil, @ProcedureBuilder _ children: () throws -> [Procedure]
  ) rethrows {
    let children = try children()
    super.init()
    consist(of: children, name)
  }

  private func consist(of children: [Procedure], _ name: String?) {
    list.owner?.refer(to: self)
    if let name { self.name = name }
    list.consist(of: children)
  }

  deinit {
    list.owner?.forgetGroup()
    release()
  }

  final override class var isGroup: Bool { true }
  final override var childList: ProcedureList? { list }

  /// All children so far, finished ones too, in the order in which they were added.
  ///
  /// They are kept as long as the group is, unless `keepsFinishedChildren` is false.
  public final var children: [Procedure] { list.children }

  /// Whether `children` keeps finished children; default true.
  ///
  /// Set it to false on a group that lives long and is given children without end: then each goes when
  /// it has finished, and of the errors of children only the newest hundred are kept. May be set at any time; those
  /// that finished before go at once, and do not come back.
  public final var keepsFinishedChildren: Bool {
    get { list.keepsFinishedChildren }
    set { list.keepsFinishedChildren = newValue }
  }

  /// Whether the group keeps children from starting; default false. Executing children go on.
  ///
  /// A suspended group still finishes when it is cancelled, or when it has no unfinished children.
  public final var isSuspended: Bool {
    get { list.isSuspended }
    set { list.isSuspended = newValue }
  }

  /// How many children may be between started and finished at once; default `Int.max`.
  ///
  /// With 1 they run strictly one at a time, in the order of adding among equally ready ones.
  public final var maxConcurrentChildCount: Int {
    get { list.limit }
    set {
      if newValue <= 0 {
        stopBecauseOfMisuse(
          "maxConcurrentChildCount of group '\(name)' must be at least 1, not \(newValue); "
            + "leave it out, or .max, for no limit; set isSuspended to hold children back.")
      }
      list.limit = newValue
    }
  }

  /// Adds a child, from any thread, until the group has finished with its children.
  ///
  /// Decided in one step against the group's end: the child is accepted, and the group waits for it,
  /// or refused. A refused child is cancelled with
  /// `ProcedureError.Code.groupFinished`, and finishes. A child added to a cancelled group is
  /// cancelled at once, and waited for.
  ///
  /// When the group executes, will-add and did-add observers are called for the children that are
  /// there, before any of them starts; for a later child they are called in the group's next turn,
  /// and it starts after that.
  ///
  /// - Returns: whether it was accepted.
  @discardableResult
  public final func add(child: Procedure) -> Bool {
    let tellsObservers = peek { $0.observers.wantsAdditions }
    switch child.enqueue(in: list, isHeldBack: tellsObservers) {
    case .refused:
      child.end(refusedBy: list)
      return false
    case .accepted(isAnnounced: true), .held:
      if tellsObservers { announce([child], as: .ownChild) }
      return true
    case .accepted(isAnnounced: false):
      // It is announced when the group executes, and cannot start before.
      if tellsObservers { child.dependencyFinished() }
      return true
    }
  }

  /// As `add(child:)`, for each. None starts before all are members, and announced.
  private final func addTogether(_ batch: [Procedure]) {
    if batch.count <= 1 { return batch.forEach { add(child: $0) } }
    let tellsObservers = peek { $0.observers.wantsAdditions }
    var (refused, unannounced): ([Procedure], [Procedure]) = ([], [])
    for child in batch {
      switch child.enqueue(in: list, isHeldBack: tellsObservers, isInBatch: true) {
      case .refused: refused.append(child)
      case .accepted(isAnnounced: true), .held: if tellsObservers { unannounced.append(child) }
      case .accepted(isAnnounced: false): if tellsObservers { child.dependencyFinished() }
      }
    }
    if unannounced.isEmpty {
      list.complete(batch)
    } else {
      announce(unannounced, as: .ownChild, completing: batch)
    }
    for child in refused { child.end(refusedBy: list) }
  }

  final override func takeIn(_ child: Procedure) { add(child: child) }

  final override func announceChildren() {
    // In this order: a caller that adds a child from now on announces it, and sees these observers.
    let children = list.announce()
    if peek({ $0.observers.wantsAdditions }) { announce(children, as: .announced) }
  }

  /// - Parameter batch: it is complete when the last of them has been announced.
  private func announce(
    _ children: [Procedure], as target: PendingAddition.Target, completing batch: [Procedure] = []
  ) {
    guard !children.isEmpty else { return }
    note { core in
      core.attachments.with(TurnWork.self) { deferred in
        for (index, child) in children.enumerated() {
          let completes = index == children.count - 1 ? batch : []
          deferred.additions.append(
            PendingAddition(procedure: child, target: target, completes: completes))
        }
      }
      return core.life.post(.additionPending)
    }
  }

  /// Adds several children, in order: an array of some subclass, a set, a lazy map.
  ///
  /// None of them starts before all have been added: the most urgent one is the first.
  public final func add<Children: Sequence>(children: Children)
  where Children.Element: Procedure {
    addTogether([Procedure](listing: children))
  }

  /// Adds several children, in order. None of them starts before all have been added.
  public final func add(children: Procedure...) {
    addTogether(children)
  }

  /// Decides about the other children when one fails; default `.keepGoing`.
  ///
  /// Set it at any time: it counts for children that fail from then on.
  public final var failurePolicy: FailurePolicy {
    get { childResults.withLock { $0.failurePolicy } }
    set { childResults.withLock { $0.failurePolicy = newValue } }
  }

  /// To override: decides which errors of a child the group takes over. The one place to recover.
  ///
  /// ```swift
  /// override func child(
  ///   _ child: Procedure, willFinishWithErrors errors: [any Error]
  /// ) -> [any Error] {
  ///   guard child is Download, !errors.isEmpty, retries > 0 else { return errors }
  ///   retries -= 1
  ///   add(child: Download(url))
  ///   return []
  /// }
  /// ```
  ///
  /// The group calls it for every child, however that ends: `errors` is empty if the child succeeded, was cancelled
  /// without errors, or only by the group; `child.isCancelled` distinguishes these. The child waits: it has
  /// not finished yet, so a child added here is in time, and its dependents have not started. The
  /// errors that are returned become part of the group's errors, each with the child's name; `[]`
  /// means that the child's failure is dealt with, and does not count for `failurePolicy`.
  ///
  /// It is called in the group's turn, as every override: while `execute()` of the group blocks, no
  /// child can finish. The default returns all errors. The group leaves out returned errors that follow
  /// from a sibling's end or its own. For the same without a
  /// subclass, see `recover`.
  open func child(_ child: Procedure, willFinishWithErrors errors: [any Error]) -> [any Error] {
    errors
  }

  /// Starts the children. An override that adds more calls `super.execute()` at its end.
  open override func execute() {
    begin(onWorker: type(of: self) == GroupProcedure.self)
  }

  /// - Parameter onWorker: whether `execute()` does nothing afterwards.
  private func begin(onWorker: Bool) {
    isLeftToWorker = list.begin(as: self, leavesWorker: onWorker)
    hasBegun = true
  }

  final override var begun: Begun? { isLeftToWorker ? .children(list) : nil }

  // MARK: The end

  /// The group has executed, or never will: from here on the last child ends it.
  final override func settleChildren() {
    if state == .executing, !hasBegun { begin(onWorker: false) }
    // The turn is ours, so that the end of the children needs no turn of its own.
    if list.settle() { _ = childrenFinished() }
  }

  final override func childrenFinished() -> Bool {
    let errors = errorsAtTheEnd
    return withCore { $0.noteChildrenFinished(withErrors: errors) } == .turn
  }

  /// The answer on the child's own worker, in a turn of one step. Without user code to ask it takes no turn, so that no
  /// child waits for another's.
  final override func decideInline(_ child: Procedure, on context: SchedulingContext) -> Bool {
    let runsCode = mayDecideOtherwise
    let canHear = withCore {
      guard $0.runsTurns(on: context) else { return false }
      return runsCode ? $0.life.post(.takeTurn) == .turn : $0.life.isTurnFree
    }
    guard canHear else { return false }
    guard runsCode else {
      decide(about: child)
      return true
    }
    TurnNote.running(self) { decide(about: child) }
    post(.giveBackTurn)
    return true
  }

  /// The answers to children that have asked since, in the group's turn.
  final override func decideForChildren() {
    while let child = withCore({ $0.takeUndecidedChild() }) {
      decide(about: child)
      child.post(.parentDecided)
    }
  }

  /// A ready-made group's answer, after that of the override: no override has to call super.
  func errorsToTakeOver(_ errors: [any Error], of child: Procedure) -> [any Error] { errors }

  /// The meaning of a child's errors for the group. Asked after `errorsToTakeOver`.
  func relation(to child: Procedure) -> ChildRelation { .part }

  override func releaseWork() { releaseRecoveries() }

  // MARK: Memory

  /// Releases the children without recursion: groups may be nested thousands deep.
  ///
  /// If the group never ran, its children that something else refers to are cancelled: nothing
  /// else would end them.
  private func release() {
    forgetChildren()
    var (unfinished, released, awaitingTurn) = abandonChildren()
    while true {
      if var child = unfinished.popLast() {
        if isKnownUniquelyReferenced(&child) {
          released.append(child)
        } else {
          child.cancel(withErrors: [ProcedureError(.parentCancelled)])
        }
      } else if var child = released.popLast() {
        guard child.childList != nil, isKnownUniquelyReferenced(&child),
          let group = child as? GroupProcedure
        else { continue }
        group.forgetChildren()
        let children = group.abandonChildren()
        unfinished += children.unfinished
        released += children.finished
        awaitingTurn += children.awaitingTurn
      } else {
        break
      }
    }
    for procedure in awaitingTurn { procedure.requestTurn() }
  }

  /// The group goes, and releases its references to them beside its list. To override.
  func forgetChildren() {}

  /// Children do not own the list: they leave it before the group goes.
  private func abandonChildren() -> ListMachine.Remains {
    let remains = list.abandon()
    for child in remains.unfinished { child.withCore { $0.leaveList() } }
    return remains
  }
}
