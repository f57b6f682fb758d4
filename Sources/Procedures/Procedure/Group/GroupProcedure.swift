internal import ProcedurePrimitives

/// A procedure that runs other procedures, its children, and finishes after the last of them.
///
/// ```swift
/// let resize = Resize(image)
/// let upload = Upload(image)
/// upload.add(dependency: resize)
/// queue.add(GroupProcedure(resize, upload))
/// ```
///
/// Children start when the group executes. You may add children until the group's last one has
/// finished: in `execute()`, in an observer of a child, or with `produce`. A group holds one slot
/// of its queue while it executes; its children take none.
///
/// A subclass may override `execute()` to add children; it calls `super.execute()` to start them
/// (they start when `execute()` returns in any case). `finish()` is refused: a group ends when its
/// children have.
///
/// ## Cancellation
/// Cancelling a group cancels all of its descendants; all of them read cancelled before the cancel
/// of any is delivered. A group that is cancelled before it started does not execute; it finishes
/// after its cancelled children have finished.
///
/// ## Failure
/// A child's own cancel or failure affects neither its siblings nor the group, unless
/// `failurePolicy` says so. Its errors become the group's, each with the child's name, except
/// errors that `child(_:willFinishWithErrors:)`, or a closure given to `recover`, does not return.
/// A child that ended only because a sibling or the group did is not reported: one cause is one
/// error.
nonisolated open class GroupProcedure: Procedure, EndsByItself, @unchecked Sendable {
  final let list = ProcedureList(childrenOf: GroupReference())
  final let childResults = Locked(ChildResults())
  /// Nonzero once `recover` has added a closure.
  final let hasRecoveries = AtomicByte(0)

  // Both are accessed only in turns of the group.

  /// Whether children may start.
  @safe @exclusivity(unchecked) private final var hasBegun = false
  /// Whether starting the ready ones is left to the worker that runs this turn.
  @safe @exclusivity(unchecked) private final var isLeftToWorker = false

  /// Makes a group of `children`.
  ///
  /// - Parameters:
  ///   - name: the group's name; nil for the name of its type.
  ///   - children: the children, none of which may be on a queue or in a group.
  public init(name: String? = nil, children: [Procedure] = []) {
    super.init()
    consist(of: children, name)
  }

  /// Makes a group of the procedures of a sequence, such as an array of a subclass, a set or a lazy
  /// map.
  @_disfavoredOverload  // An array takes the other one.
  public init<Children: Sequence>(name: String? = nil, children: Children)
  where Children.Element: Procedure {
    super.init()
    consist(of: [Procedure](listing: children), name)
  }

  /// Makes a group of the procedures of a sequence, like `init(name:children:)`.
  public init<Children: Sequence>(name: String? = nil, _ children: Children)
  where Children.Element: Procedure {
    super.init()
    consist(of: [Procedure](listing: children), name)
  }

  /// Makes a group of the given procedures.
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
  /// See `ProcedureBuilder` for the statements that the closure may contain.
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

  override class var traits: ProcedureTraits { .isGroup }

  /// All children so far, including finished ones, in the order in which they were added.
  ///
  /// The group retains them until it is deallocated, unless `keepsFinishedChildren` is false.
  public final var children: [Procedure] { list.children }

  /// Whether `children` keeps finished children; default true.
  ///
  /// Set it to false on a group that lives long and receives children without end: then it releases
  /// finished children, and keeps only the newest hundred errors. You may set it at any time;
  /// children that finished before are released at once, and do not come back.
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

  /// The most children that may be executing at once; default `Int.max`.
  ///
  /// With 1 the children run strictly one at a time; among equally ready ones, in the order in
  /// which they were added.
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

  /// Adds a child. You may call it on any thread, until the group's last child has finished.
  ///
  /// The group accepts the child and waits for it, or has ended and refuses it. A refused child is
  /// cancelled with `ProcedureError.Code.groupFinished`, and finishes. A child of a cancelled group
  /// is cancelled at once, and the group waits for it.
  ///
  /// When the group executes, it calls will-add and did-add observers for its children before any
  /// of them starts. For a later child it calls them in its next turn, before the child starts.
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
      // The group announces it when it executes. It cannot start before, so release the hold.
      if tellsObservers { child.dependencyFinished() }
      return true
    }
  }

  /// Like `add(child:)` for each child, but none starts before all are members and announced.
  private final func addTogether(_ batch: [Procedure]) {
    if batch.count <= 1 { return batch.forEach { add(child: $0) } }
    // 1. Add all of them, held back: once for the batch, and once for each announcement.
    let tellsObservers = peek { $0.observers.wantsAdditions }
    var (refused, unannounced): ([Procedure], [Procedure]) = ([], [])
    for child in batch {
      switch child.enqueue(in: list, isHeldBack: tellsObservers, isInBatch: true) {
      case .refused: refused.append(child)
      case .accepted(isAnnounced: true), .held: if tellsObservers { unannounced.append(child) }
      case .accepted(isAnnounced: false): if tellsObservers { child.dependencyFinished() }
      }
    }
    // 2. The batch is complete when the last of them was announced.
    if unannounced.isEmpty {
      list.complete(batch)
    } else {
      announce(unannounced, as: .ownChild, completing: batch)
    }
    // 3. The end of a refused child may run user code, for which no other one waits.
    for child in refused { child.end(refusedBy: list) }
  }

  /// Announces the children of a group that is about to execute; later ones are announced when they
  /// are added.
  final func announceChildren() {
    // This comes first: a caller that adds a child from now on announces it itself.
    let children = list.announce()
    if peek({ $0.observers.wantsAdditions }) { announce(children, as: .announced) }
  }

  /// - Parameter batch: procedures added in one call, which are completed when the last of
  ///   `children` was announced.
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

  /// Adds the procedures of a sequence, in order, such as an array of a subclass, a set or a lazy
  /// map.
  ///
  /// None of them starts before all have been added, so the most urgent one starts first.
  public final func add<Children: Sequence>(children: Children)
  where Children.Element: Procedure {
    addTogether([Procedure](listing: children))
  }

  /// Adds several children, in order. None of them starts before all have been added.
  public final func add(children: Procedure...) {
    addTogether(children)
  }

  /// Decides what happens to the other children when one fails; default `.keepGoing`.
  ///
  /// A change applies to children that fail later.
  public final var failurePolicy: FailurePolicy {
    get { childResults.withLock { $0.failurePolicy } }
    set { childResults.withLock { $0.failurePolicy = newValue } }
  }

  /// Decides which errors of a child the group takes over. Override it to recover from failures.
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
  /// The group calls it once for every child. `errors` is empty if the child succeeded, was
  /// cancelled without errors, or was cancelled only by the group; read `child.isCancelled` to
  /// distinguish these. The child waits for the answer, and its dependents have not started: a
  /// child that you add here is in time. The returned errors become part of the group's errors,
  /// each with the child's name; `[]` means that the child's failure is dealt with, and does not
  /// count for `failurePolicy`.
  ///
  /// Like every override it is called in the group's turn: while `execute()` of the group blocks,
  /// no child can finish. The default returns all errors. The group leaves out returned errors that
  /// follow from a sibling's end or its own. See `recover` to decide without a subclass.
  open func child(_ child: Procedure, willFinishWithErrors errors: [any Error]) -> [any Error] {
    errors
  }

  /// Starts the children. An override that adds children calls `super.execute()` at its end.
  open override func execute() {
    begin(onWorker: type(of: self) == GroupProcedure.self)
  }

  /// - Parameter onWorker: whether `execute()` does nothing afterwards.
  private func begin(onWorker: Bool) {
    isLeftToWorker = list.begin(as: self, leavesWorker: onWorker)
    hasBegun = true
  }

  final override var begun: WorkerNext { isLeftToWorker ? .children(list) : .anotherJob }

  // MARK: The end

  /// Called when the group has executed, or never will: from now on the last child ends the group.
  final func settleChildren() {
    // 1. An override of `execute()` has not called super: the children start now.
    if state == .executing, !hasBegun { begin(onWorker: false) }
    // 2. This thread already runs the group's turn, so the result is ignored.
    if list.settle() { _ = childrenFinished() }
  }

  /// The last child has finished.
  ///
  /// - Returns: whether the caller now holds the turn.
  final func childrenFinished() -> Bool {
    let errors = errorsAtTheEnd
    return withCore { $0.noteChildrenFinished(withErrors: errors) } == .turn
  }

  /// The answer on the child's own worker, in a turn of one step. Without user code to ask it takes
  /// no turn, so that no child waits for another's.
  ///
  /// - Returns: false if the turn is held, or runs elsewhere.
  final func decideInline(_ child: Procedure, on context: SchedulingContext) -> Bool {
    // 1. The step is taken here only if the group's turns run on this context, no thread holds its
    //    turn, and no cancel is due.
    let runsCode = mayDecideOtherwise
    let canHear = withCore {
      guard $0.runsTurns(on: context) else { return false }
      return runsCode ? $0.life.post(.takeTurn) == .turn : $0.life.isTurnFree
    }
    guard canHear else { return false }
    // 2. Without user code the results' own lock suffices.
    guard runsCode else {
      decide(about: child)
      return true
    }
    // 3. Otherwise the turn is held meanwhile (T1). An event that was noted since gets its turn
    //    now.
    TurnNote.running(self) { decide(about: child) }
    post(.giveBackTurn)
    return true
  }

  /// The answers to children that have asked since, in the group's turn.
  final func decideForChildren() {
    while let child = withCore({ $0.takeUndecidedChild() }) {
      decide(about: child)
      child.post(.parentDecided)
    }
  }

  override func workDidEnter(_ phase: WorkPhase) {
    if phase == .over { releaseRecoveries() }
  }

  // MARK: Hooks of the framework's groups

  /// Decides about the errors of a child, after the user's override, which need not call super.
  ///
  /// - Returns: the errors to take over, and how they relate to the group.
  func takeOver(_ errors: [any Error], of child: Procedure) -> ([any Error], ChildRelation) {
    (errors, .part)
  }

  /// The child whose work is the group's: the wrapped procedure, or the current attempt. The group
  /// ends with it, unless it has other children.
  var principal: Procedure? { nil }

  /// Whether the group succeeds when the child, which runs, does. Called by any thread.
  final func ends(with child: Procedure) -> Bool { child === principal && list.count == 1 }

  // MARK: Memory

  /// Releases the children iteratively, since groups may be nested thousands deep.
  ///
  /// If the group never ran, it cancels the children that something else retains: nothing else
  /// would end them.
  private func release() {
    // 1. Take the children out of the list, and out of what a subclass keeps.
    workDidEnter(.deallocated)
    var (unfinished, released, awaitingTurn) = abandonChildren()
    while true {
      if var child = unfinished.popLast() {
        // 2. An unfinished child: deallocated with the group, or cancelled.
        if isKnownUniquelyReferenced(&child) {
          released.append(child)
        } else {
          child.cancel(withErrors: [ProcedureError(.parentCancelled)])
        }
      } else if var child = released.popLast() {
        // 3. A group that nothing else refers to: its children are collected as well.
        guard isKnownUniquelyReferenced(&child), let group = child.asGroup else { continue }
        group.workDidEnter(.deallocated)
        let children = group.abandonChildren()
        unfinished += children.unfinished
        released += children.finished
        awaitingTurn += children.awaitingTurn
      } else {
        break
      }
    }
    // 4. Turns that were due in these lists run elsewhere.
    for procedure in awaitingTurn { procedure.requestTurn() }
  }

  /// Takes the children out of the list, which they do not retain.
  private func abandonChildren() -> ListMachine.Remains {
    let remains = list.abandon()
    for child in remains.unfinished { child.withCore { $0.leaveList() } }
    return remains
  }
}
