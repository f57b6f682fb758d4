internal import ProcedurePrimitives

extension Procedure {
  /// Cancels without errors. See `cancel(withErrors:)`.
  public final func cancel() {
    cancel(withErrors: [])
  }

  /// Cancels the procedure: sets `isCancelled` and fires `cancellationToken`. The rest follows in a
  /// turn.
  ///
  /// When it returns true, `isCancelled` is true and the token's handlers have been called, on this
  /// thread. (When it returns false, another thread may still be calling them.)
  /// `procedureDidCancel(withErrors:)` and the DidCancel observers follow in the next turn. A
  /// procedure that has not executed finishes automatically, even in a suspended or full queue; one
  /// that has executed must finish itself. A group cancels its children: all of them read cancelled
  /// before the cancel of any is delivered. In the `deinit` of a procedure that was never added,
  /// the token's handlers are called and children are cancelled, but no turn follows.
  ///
  /// - Parameter errors: become part of `errors` at once.
  /// - Returns: true if this cancel took effect. False if the procedure was already cancelled, or
  ///   had already been told to finish: then nothing changes.
  @discardableResult
  public final func cancel(withErrors errors: [any Error]) -> Bool {
    cancel(errors: errors, reason: errors.first.map(CancellationReason.failure) ?? .requested)
  }

  /// Cancels with one error, or with none.
  @discardableResult
  public final func cancel(withError error: (any Error)?) -> Bool {
    cancel(withErrors: error.map { [$0] } ?? [])
  }

  /// Fires when the procedure is cancelled; completes without a cancel when it finishes
  /// uncancelled.
  ///
  /// Its handlers run on the thread that cancels, before the override and the observers, even while
  /// `execute()` is on the stack: use it to interrupt a blocking call. Made on first use.
  ///
  /// ```swift
  /// override func execute() {
  ///   cancellationToken.onCancel { [socket] in socket.close() }
  ///   let data = socket.readToEnd()   // returns early when the procedure is cancelled
  ///   finish()
  /// }
  /// ```
  public final var cancellationToken: CancellationToken {
    withCore { core in
      if let token = core.registrations?.value.token { return token }
      if core.life.isRetired, !core.life.isCancelled { return .never }
      // Between the two parts of a cancel the source is still pending: it is fired later.
      let reason = core.life.cancel == .marked ? nil : core.cancelReason
      return core.attachments.with(TokensAndTimers.self) { registrations in
        let source = CancellationTokenSource()
        if let reason { source.cancel(reason) }
        registrations.value.source = source
        registrations.value.token = source.token
        return source.token
      }
    }
  }

  /// Cancels the procedure when `token` is cancelled, now if it already is.
  ///
  /// `cancellationToken` gets the same reason. `errors` gets the error of a `.failure`, or
  /// `ProcedureError.Code.deadlineExceeded` for a deadline. The token does not keep the procedure
  /// alive, and the procedure leaves the token when it finishes.
  ///
  /// All procedures on a token, and everything below a group on it, are marked before any of its
  /// handlers runs. Their own tokens fire, and their cancels are delivered, before those handlers,
  /// in the order in which you put them on the token. None executes once the token is cancelled; a
  /// child of a group on it may, until the group is marked.
  public final func cancel(when token: CancellationToken) {
    guard let place = token.follow(by: self) else { return }
    let isKept = withCore { core in
      guard !core.life.isRetired else { return false }
      core.attachments.with(TokensAndTimers.self) { $0.value.followed.append(place) }
      return true
    }
    if !isKept { place.leave() }
  }

  /// Cancels with the errors that the reason stands for.
  final func cancel(because reason: CancellationReason) {
    cancel(errors: reason.errors(of: name), reason: reason)
  }

  @discardableResult
  final func cancel(errors: [any Error], reason: CancellationReason) -> Bool {
    // 1. Children, and procedures that depend on its token, are marked before any cancel is
    //    delivered: that needs a walk.
    guard childList == nil, peek({ $0.registrations?.value.source }) == nil else {
      return Self.cancel([self], errors: errors, reason: reason)
    }
    // 2. Otherwise one critical section marks it. A token that was made since is found there, and
    //    fires first.
    let step: CancelStep? = withCore { core in
      core.mark(self, errors: errors, reason: reason, closing: nil)
        ? core.nextCancelStep(for: self) : nil
    }
    // 3. The rest runs user code.
    guard let step else { return false }
    carryOut(step, reason)
    return true
  }

  /// Cancels several procedures, and everything below the groups among them: all are marked, with
  /// the dependents of their tokens, before any cancel is delivered.
  ///
  /// - Returns: whether this cancel took effect for at least one of them.
  @discardableResult
  static func cancel(
    _ procedures: [Procedure], errors: [any Error], reason: CancellationReason
  ) -> Bool {
    let (isFirst, rest) = beginCancel(procedures, errors: errors, reason: reason)
    rest()
    return isFirst
  }

  /// The first part of `cancel(_:errors:reason:)`.
  ///
  /// - Returns: whether it took effect for at least one procedure; and the rest, which may run user
  ///   code.
  static func beginCancel(
    _ procedures: [Procedure], errors: [any Error], reason: CancellationReason
  ) -> (isFirst: Bool, rest: @Sendable () -> Void) {
    var isFirst = false
    let rest = FollowerWalk.begin { walk, marked in
      isFirst = mark(
        procedures, errors: errors, reason: reason, isByToken: false, by: walk, into: &marked)
    }
    return (isFirst, rest)
  }

  /// - Parameter isByToken: whether a token that they follow has reached them.
  /// - Returns: whether it took effect for at least one of them.
  @discardableResult
  fileprivate static func mark(
    _ procedures: [Procedure], errors: [any Error], reason: CancellationReason, isByToken: Bool,
    by walk: FollowerWalk, into marked: inout [MarkedFollower]
  ) -> Bool {
    // 1. The groups among them share one cancel, since one walk marks everything below them.
    var lists: [ProcedureList] = []
    let cancel =
      procedures.contains { $0.childList != nil }
      ? TreeCancel(
        errors: errorsOfChildren(of: procedures, cancelledWith: errors), reason: reason, walk: walk)
      : nil
    // 2. Mark each. If a claim of a child that commits refuses the cancel of a group that has got
    //    another child since, the claim is released, and the group is marked after all.
    let first = procedures.filter { procedure in
      var mark = procedure.mark(
        errors, reason, closing: cancel, isByToken: isByToken, by: walk, into: &marked)
      if !mark.isCancelled, procedure.childList != nil {
        let (isReleased, kept) = procedure.releaseOverdueClaim()
        if !kept.isEmpty {
          // They may be the last references, and are released when user code may run.
          marked.append(MarkedFollower(restOfTree: reason) { _ in withExtendedLifetime(kept) {} })
        }
        if isReleased {
          mark = procedure.mark(
            errors, reason, closing: cancel, isByToken: isByToken, by: walk, into: &marked)
        }
      }
      // Include procedures that another thread is cancelling: their children may not be marked yet.
      if mark.isCancelled, let list = procedure.childList { lists.append(list) }
      return mark.isFirst
    }
    // 3. Mark everything below. The cancels of these procedures are delivered before all others.
    mark(lists, by: cancel, after: first, reason, into: &marked)
    return !first.isEmpty
  }

  /// Marks it, and its own token. Appends it if it has a token, or was marked before: this may be
  /// the last reference to it.
  ///
  /// - Parameters:
  ///   - cancel: the cancel of its children, if it is a group.
  ///   - rest: the rest of its cancel, if this call marks it and it is no member of a tree.
  private final func mark(
    _ errors: [any Error], _ reason: CancellationReason, closing cancel: TreeCancel?,
    isByToken: Bool = false, rest: MarkedFollower.Rest = .nothing, by walk: FollowerWalk,
    into marked: inout [MarkedFollower]
  ) -> (isFirst: Bool, isCancelled: Bool) {
    let (isFirst, isCancelled, source): (Bool, Bool, CancellationTokenSource?) = withCore { core in
      // 1. A worker may have marked it ahead of its token: then the token's cancel is the first.
      let isFirst =
        core.mark(self, errors: errors, reason: reason, closing: cancel)
        || (isByToken && core.claimEarlyMark())
      guard core.life.isCancelled else { return (isFirst, false, nil) }
      // 2. The same walk marks its own token, and with it all procedures on that token. If an
      //    earlier cancel has marked it, this walk waits for that one by the token.
      guard let source = core.registrations?.value.source,
        !isFirst || walk.markOwnToken(of: source, becauseOf: reason)
      else { return (isFirst, true, nil) }
      return (isFirst, true, source)
    }
    // 3. A member of a tree without a token is delivered with its tree: no entry for each.
    if isFirst, source == nil, case .nothing = rest { return (true, true) }
    marked.append(
      MarkedFollower(
        self, reason, isFirst: isFirst, source: source, rest: isFirst ? rest : .nothing))
    return (isFirst, isCancelled)
  }

  /// The errors with which the children of groups are cancelled.
  private static func errorsOfChildren(
    of groups: [Procedure], cancelledWith errors: [any Error]
  ) -> [any Error] {
    guard !errors.isEmpty else { return [] }
    // No group is named if several procedures are cancelled together.
    return errorsOfChildren(of: groups.count == 1 ? groups[0].name : nil, cancelledWith: errors)
  }

  fileprivate static func errorsOfChildren(
    of group: String?, cancelledWith errors: [any Error]
  ) -> [any Error] {
    errors.isEmpty ? [] : [ProcedureError(.parentCancelled, of: group, because: errors)]
  }

  /// Cancels the present and later members of `list`, at any depth.
  static func cancel(
    _ list: ProcedureList, errors: [any Error], reason: CancellationReason
  ) {
    let rest = FollowerWalk.begin { walk, marked in
      let cancel = TreeCancel(errors: errors, reason: reason, walk: walk)
      mark([list], by: cancel, after: [], reason, into: &marked)
    }
    rest()
  }

  /// Continues with a procedure that was added to a cancelled group: everything below it is marked
  /// too, and nothing is delivered before the walk through that group is done.
  ///
  /// - Parameters:
  ///   - list: the list of the group.
  ///   - isMarked: whether it was marked when it was added, so that its cancel must be delivered.
  final func join(_ cancel: TreeCancel, of list: ProcedureList, isMarked: Bool) {
    // 1. A procedure without children only waits until the walk of the group is done. That is not
    //    enough while a group is being added: no walk may have begun that marks the siblings.
    if childList == nil {
      guard isMarked else { return }
      if !cancel.hasUnmarkedGroups {
        cancel.walk.wait()
        return deliverCancel(cancel.reason)
      }
    }
    // 2. Otherwise this thread walks: below a group, or through the siblings.
    let rest = FollowerWalk.begin { walk, marked in
      marked.append(MarkedFollower(tree: cancel.walk))
      Self.mark(
        [childList ?? list], by: TreeCancel(following: cancel, walk: walk),
        after: isMarked ? [self] : [], cancel.reason, into: &marked)
    }
    // 3. The members of the group are marked, so that other walks may pass it by. Then wait for the
    //    walk of `cancel`, and deliver.
    if childList != nil { cancel.groupIsMarked() }
    rest()
  }

  /// Marks the members of `lists`, at any depth. A group that another thread is cancelling, or
  /// adding to, is walked too unless the walks have met, since our first handler must not run
  /// before its children are marked.
  ///
  /// Iterative: groups may be nested thousands deep.
  ///
  /// - Parameters:
  ///   - first: the marked procedures above, whose cancels are delivered first.
  ///   - marked: the remaining work; in the end, to deliver all marked cancels, in that order.
  private static func mark(
    _ lists: [ProcedureList], by cancel: TreeCancel?, after first: [Procedure],
    _ reason: CancellationReason, into marked: inout [MarkedFollower]
  ) {
    // 1. A list is closed before its members are marked: a member that is added in between is
    //    marked by the thread that adds it.
    var (first, unvisited) = (first, lists)
    while let cancel, let list = unvisited.popLast() {
      switch list.cancel(cancel) {
      case .walkedBy(let other):
        marked.append(MarkedFollower(tree: other))
      case .members(let children):
        children.forEachUncounted { child in
          let mark = child.mark(
            cancel.errors, cancel.reason, closing: cancel, by: cancel.walk, into: &marked)
          if mark.isFirst { first.append(child) }
          if let childList = child.childList { unvisited.append(childList) }
        }
      }
    }
    // 2. Deliver the marked cancels in the order of marking, parents before children.
    if first.isEmpty { return }
    marked.append(
      MarkedFollower(restOfTree: reason) { [first] body in first.forEachUncounted { body($0) } })
  }

  /// A worker has taken it with a slot, and it does not start: it has started before, and had given
  /// its slot up; or it was cancelled, and finishes without the slot.
  @inline(never)
  final func surrenderSlot(of kind: JobKind) {
    guard case .start(let attempt) = kind, !resumeAfterYield() else { return }
    withCore { $0.list?.surrender(self, in: attempt) }?.perform()
  }

  /// Fires the token, if there is one, and then lets the turn deliver the rest.
  private func carryOut(_ step: consuming CancelStep, _ reason: CancellationReason) {
    // 1. The token fires first, on this thread and without the lock: its handlers are user code.
    while case .fire(let source) = step {
      UndeliveredCancels.withhold(self, isDelivered: false) { source.cancel(reason) }
      step = withCore { $0.nextCancelStep(for: self) }
    }
    // 2. The task of the body is cancelled. If a turn will deliver the cancel, it comes after the
    //    handlers of that task.
    if case .requestTurn = step, asyncBody?.bodyTask != nil {
      UndeliveredCancels.withhold(self, isDelivered: true) { workDidEnter(.interrupted) }
    } else {
      workDidEnter(.interrupted)
    }
    // 3. The categories that a pending procedure has given back are offered, and the turn delivers
    //    the cancel.
    switch consume step {
    case .requestTurn(let list, let followUp):
      followUp.perform()
      requestTurn(in: list)
    case .done(let followUp): followUp.perform()
    case .fire: break
    }
    // 4. A cancelled procedure may linger, which its queue may want to report.
    noteCancel()
  }
}

extension Procedure: CancellationFollower {
  package final func mark(
    becauseOf reason: CancellationReason, by walk: FollowerWalk, into marked: inout [MarkedFollower]
  ) {
    let errors = reason.errors(of: name)
    guard childList == nil else {
      Self.mark([self], errors: errors, reason: reason, isByToken: true, by: walk, into: &marked)
      return
    }
    _ = mark(
      errors, reason, closing: nil, isByToken: true, rest: .delivery, by: walk, into: &marked)
  }

  /// Second part of a cancel, for a procedure that was marked together with others.
  package final func deliverCancel(_ reason: CancellationReason) {
    carryOut(withCore { $0.nextCancelStep(for: self) }, reason)
  }
}

extension CancellationReason {
  /// The errors with which a token cancels a procedure.
  fileprivate func errors(of name: @autoclosure () -> String) -> [any Error] {
    switch self {
    case .requested, .taskCancelled, .signal: []
    case .deadlineExceeded: [ProcedureError(.deadlineExceeded, of: name())]
    case .failure(let error): [error]
    }
  }
}

/// The rest of a cancel that has been marked.
private enum CancelStep: Sendable {
  case fire(CancellationTokenSource)
  case requestTurn(in: ProcedureList?, ProcedureList.FollowUp)
  case done(ProcedureList.FollowUp)
}

extension ProcedureCore {
  /// Marks it if a token that it follows reads cancelled but may not have reached it, so that no
  /// thread that has seen the token sees it begin. The token does the rest of the cancel, when it
  /// comes.
  @inline(__always)
  mutating func markIfTokenIsCancelled(for procedure: Procedure) {
    guard !attachments.isEmpty, life.state <= .started, !life.isCancelled else { return }
    markAhead(procedure)
  }

  @inline(never)
  private mutating func markAhead(_ procedure: Procedure) {
    guard let registrations, let place = registrations.cancelledPlace, let reason = place.reason
    else { return }
    let name = givenName ?? procedure.defaultName
    let errors = reason.errors(of: name)
    // The walk of the token will visit its children, too.
    let cancel =
      procedure.childList == nil
      ? nil
      : TreeCancel(
        errors: Procedure.errorsOfChildren(of: name, cancelledWith: errors), reason: reason,
        walk: place.walk)
    if mark(procedure, errors: errors, reason: reason, closing: cancel) {
      registrations.value.isMarkedAhead = true
    }
  }

  /// Whether it was marked ahead of the token that comes now, whose cancel therefore takes effect.
  fileprivate mutating func claimEarlyMark() -> Bool {
    guard let registrations else { return false }
    return exchange(&registrations.value.isMarkedAhead, with: false)
  }

  /// The token fires first; then the turn may deliver.
  fileprivate mutating func nextCancelStep(for procedure: Procedure) -> CancelStep {
    if let source = registrations?.value.source, !source.isCancelled { return .fire(source) }
    // A pending procedure with categories gives them back now, since its turn may wait for a
    // thread.
    let followUp =
      isExclusive && life.state == .pending ? list?.surrender(procedure) ?? .nothing : .nothing
    return life.post(.deliver) == .turn ? .requestTurn(in: list, followUp) : .done(followUp)
  }

  /// First part of a cancel. True if it takes effect.
  ///
  /// - Parameter cancel: the cancel of its children, if it is a group: from the moment in which it
  ///   reads cancelled, none of them starts, and each added child is cancelled.
  mutating func mark(
    _ procedure: Procedure, errors: [any Error], reason: CancellationReason,
    closing cancel: TreeCancel?
  ) -> Bool {
    procedure.assertLocked()
    guard noteMark(withErrors: errors) == .none else { return false }
    // 1. Close the list before any thread can see the flag.
    if let cancel { procedure.childList?.close(by: cancel) }
    // 2. Publish the flag before the place in the line is free: the next procedure admitted finds
    //    it cancelled.
    if isExclusive {
      procedure.publish(&self)
      list?.withdraw(procedure)
    }
    // 3. Keep the reason, if the errors do not say it.
    switch reason {
    case .requested, .failure: break
    case .deadlineExceeded, .taskCancelled, .signal:
      attachments.with(EndDetails.self) { $0.value.cancelReason = reason }
    }
    return true
  }

  /// Why it was cancelled; nil if it was not.
  var cancelReason: CancellationReason? {
    guard life.isCancelled else { return nil }
    return ending?.value.cancelReason ?? cancelErrors.first.map(
      CancellationReason.failure)
      ?? .requested
  }
}

/// One cancel of a group on its way through the tree below it: first a walk marks everything, then
/// the cancel of each procedure is delivered.
///
/// The group's list keeps it. A thread that adds a child to that list later marks the child itself,
/// waits for the walk when it holds no lock, and delivers the cancel. So no cancel is delivered
/// before all of the tree reads cancelled.
final class TreeCancel: @unchecked Sendable {
  let errors: [any Error]
  let reason: CancellationReason
  let walk: FollowerWalk

  /// Cancels whose walks have met share one counter of the groups that are being added below any of
  /// them: each refers to another cancel, up to the counting one. One lock guards all of them; only
  /// such cancels need it.
  private static let lock = Locked(())
  private var countedIn: TreeCancel?
  /// The rank of a union by rank, which keeps the chains of `countedIn` short.
  private var rank = 0
  /// The number of groups that are being added, at any depth, and whose members are not marked yet.
  private var unmarkedGroups = 0

  init(errors: [any Error], reason: CancellationReason, walk: FollowerWalk) {
    (self.errors, self.reason, self.walk) = (errors, reason, walk)
  }

  /// Continues `cancel` through a group that was added to a group that it had visited.
  convenience init(following cancel: TreeCancel, walk: FollowerWalk) {
    self.init(errors: cancel.errors, reason: cancel.reason, walk: walk)
    _ = cancel.meet(self)
  }

  /// The walk of this cancel was there before the other's.
  ///
  /// - Returns: whether everything below is marked, or will be when the walk of this cancel is
  ///   done.
  func meet(_ other: TreeCancel) -> Bool {
    Self.lock.withLock { _ in
      let (mine, its) = (counter, other.counter)
      if mine !== its {
        let (root, leaf) = mine.rank >= its.rank ? (mine, its) : (its, mine)
        leaf.countedIn = root
        root.rank = max(root.rank, leaf.rank + 1)
        root.unmarkedGroups += leaf.unmarkedGroups
      }
      return counter.unmarkedGroups == 0
    }
  }

  /// Whether a group is being added below whose members no walk may have visited.
  var hasUnmarkedGroups: Bool { Self.lock.withLock { _ in counter.unmarkedGroups > 0 } }

  /// A group is being added to `list`, whose lock is held, so that no other walk passes by.
  func expectGroup(in list: ProcedureList) {
    list.assertHeld()
    Self.lock.withLock { _ in counter.unmarkedGroups += 1 }
  }

  /// The members of the added group have been marked.
  func groupIsMarked() { Self.lock.withLock { _ in counter.unmarkedGroups -= 1 } }

  private var counter: TreeCancel {
    var counter = self
    while let next = counter.countedIn { counter = next }
    return counter
  }
}
