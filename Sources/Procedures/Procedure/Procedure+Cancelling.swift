extension Procedure {
  /// Cancels without errors. See `cancel(withErrors:)`.
  public final func cancel() {
    cancel(withErrors: [])
  }

  /// Cancels: sets `isCancelled`, fires `cancellationToken`, and has the rest run in a turn.
  ///
  /// When it returns true, `isCancelled` is true and the token's handlers have been called, on this
  /// thread. (When it returns false, another thread may still be calling them.) `procedureDidCancel(withErrors:)`
  /// and the DidCancel observers follow in the next turn.
  /// A procedure that has not executed finishes by itself, also in a suspended or full queue; one
  /// that has must finish itself. A group cancels its children: all of them read cancelled before
  /// the cancel of any is delivered. In the `deinit` of a procedure that was never added, the
  /// token's handlers are called and children are cancelled; what would follow in a turn does not
  /// come.
  ///
  /// - Parameter errors: become part of `errors` at once.
  /// - Returns: true if this was the cancel that counts. False if it was cancelled, or told to
  ///   finish, before: then nothing changes.
  @discardableResult
  public final func cancel(withErrors errors: [any Error]) -> Bool {
    cancel(errors: errors, reason: errors.first.map(CancellationReason.failure) ?? .requested)
  }

  /// Cancels with one error, or with none.
  @discardableResult
  public final func cancel(withError error: (any Error)?) -> Bool {
    cancel(withErrors: error.map { [$0] } ?? [])
  }

  /// Fires when the procedure is cancelled; completes not cancelled when it finishes uncancelled.
  ///
  /// Its handlers run on the thread that cancels, before the override and the observers, even
  /// while `execute()` is on the stack: the way to interrupt a blocking call. Made on first use.
  ///
  /// ```swift
  /// override func execute() {
  ///   cancellationToken.onCancel { [socket] in socket.close() }
  ///   let data = socket.readToEnd()   // returns early when the procedure is cancelled
  ///   finish()
  /// }
  /// ```
  public final var cancellationToken: CancellationToken {
    read { core in
      if let token = core.links?.token { return token }
      if core.machine.isRetired, !core.machine.isCancelled { return .never }
      // Between the two parts of a cancel the source is still pending: it is fired with the rest.
      let reason = core.machine.cancel == .marked ? nil : core.cancelReason
      return core.attachments.with(OuterLinks.self) { links in
        let source = CancellationTokenSource()
        if let reason { source.cancel(reason) }
        links.source = source
        links.token = source.token
        return source.token
      }
    }
  }

  /// Cancels the procedure when `token` is cancelled, now if it already is.
  ///
  /// `cancellationToken` gets the same reason, and `errors` the error that it stands for: a
  /// `.failure`'s own, `ProcedureError.Code.deadlineExceeded` for a deadline. The token does not
  /// keep the procedure alive, and the procedure leaves the token when it finishes.
  ///
  /// All procedures on a token read cancelled before any of its handlers is called, a group with all below it. Their
  /// own tokens fire, and their cancels are delivered, before those handlers, in the order in which they were put on
  /// the token. None executes once the token reads cancelled; a child of a group on it may, until the group does.
  public final func cancel(when token: CancellationToken) {
    guard let place = token.follow(by: self) else { return }
    let isKept = read { core in
      guard !core.machine.isRetired else { return false }
      core.attachments.with(OuterLinks.self) { $0.followed.append(place) }
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
    if read({ $0.links?.source }) != nil {
      let (isFirst, rest) = beginCancel(errors: errors, reason: reason)
      rest()
      return isFirst
    }
    guard childList == nil else {
      return Self.cancel([self], errors: errors, reason: reason)
    }
    let telling: Telling? = update { core in
      core.mark(self, errors: errors, reason: reason) ? core.tell() : nil
    }
    guard let telling else { return false }
    carryOut(telling, reason)
    return true
  }

  /// The first part of a cancel: it reads cancelled, and so does all below it and what depends on its token.
  ///
  /// - Returns: whether it is the cancel that counts; and the rest, which may run user code.
  final func beginCancel(
    errors: [any Error], reason: CancellationReason
  ) -> (isFirst: Bool, rest: @Sendable () -> Void) {
    beginCancel { mark(withErrors: errors, reason, isByToken: false, $0) }
  }

  /// - Parameter isByToken: whether a token that it is on has come to it.
  fileprivate final func mark(
    withErrors errors: [any Error], _ reason: CancellationReason, isByToken: Bool,
    _ walk: FollowerWalk
  ) -> MarkedFollower {
    let (isFirst, source, isCancelled) = update { core in
      let isFirst =
        core.mark(self, errors: errors, reason: reason) || (isByToken && core.takeMarkAhead())
      var source = core.machine.isCancelled ? core.links?.source : nil
      if isFirst, let own = source, !walk.markOwnToken(of: own, becauseOf: reason) { source = nil }
      return (isFirst, source, core.machine.isCancelled)
    }
    guard isCancelled, let childList else {
      return MarkedFollower(
        self, reason, isFirst: isFirst, source: source, rest: isFirst ? .delivery : .nothing)
    }
    // One that another thread is cancelling is walked too: its children may not be marked yet.
    let cancel = TreeCancel(
      errors: Self.errorsOfChildren(of: [self], cancelledWith: errors), reason: reason)
    if isFirst { cancel.tell([self]) }
    let seen = Self.mark([childList], by: cancel)
    let rest = { @Sendable in withExtendedLifetime(seen) { cancel.finishMarking() } }
    return MarkedFollower(self, reason, isFirst: isFirst, source: source, rest: .tree(rest))
  }

  /// Cancels several procedures, and all below those that are groups: all are marked before any cancel is delivered.
  ///
  /// - Returns: whether it was the cancel that counts for one of them at least.
  @discardableResult
  static func cancel(
    _ procedures: [Procedure], errors: [any Error], reason: CancellationReason
  ) -> Bool {
    var lists: [ReadyList] = []
    let marked = procedures.filter { procedure in
      let (isFirst, isCancelled) = procedure.update { core in
        (core.mark(procedure, errors: errors, reason: reason), core.machine.isCancelled)
      }
      // Those too that another thread is cancelling: their children may not be marked yet.
      if isCancelled, let list = procedure.childList { lists.append(list) }
      return isFirst
    }
    let cancel = TreeCancel(
      errors: errorsOfChildren(of: marked, cancelledWith: errors), reason: reason)
    cancel.tell(marked)
    mark(lists, by: cancel)
    cancel.finishMarking()
    return !marked.isEmpty
  }

  /// What the children of groups are cancelled with.
  private static func errorsOfChildren(
    of marked: [Procedure], cancelledWith errors: [any Error]
  ) -> [any Error] {
    guard !errors.isEmpty else { return [] }
    return [ProcedureError.parentCancelled(marked.count == 1 ? marked[0].name : nil, errors)]
  }

  /// Cancels what is in `list`, however deep, and what is added to it later.
  static func cancel(
    _ list: ReadyList, errors: [any Error], reason: CancellationReason
  ) {
    let cancel = TreeCancel(errors: errors, reason: reason)
    mark([list], by: cancel)
    cancel.finishMarking()
  }

  /// Goes on with a procedure that was marked when it was added to a cancelled group: what is below
  /// it is marked too, before the cancel of any is delivered.
  final func join(_ cancel: TreeCancel, isMarked: Bool) {
    guard let childList else {
      if isMarked { cancel.tell([self]) }
      return
    }
    let following = TreeCancel(following: cancel)
    if isMarked { following.tell([self]) }
    Self.mark([childList], by: following)
    following.finishMarking()
    cancel.followerIsMarked()
  }

  /// Iterative: groups may be nested thousands deep. A group that another thread is cancelling, or
  /// adding to, is walked too, since our first handler must not run before its children are marked.
  ///
  /// - Returns: those looked at that were marked before: these may be the last references to them.
  @discardableResult
  private static func mark(_ lists: [ReadyList], by cancel: TreeCancel) -> [Procedure] {
    var (unvisited, seen) = (lists, [Procedure]())
    while let list = unvisited.popLast() {
      var marked: [Procedure] = []
      for child in list.cancel(cancel) {
        if child.update({ $0.mark(child, errors: cancel.errors, reason: cancel.reason) }) {
          marked.append(child)
        } else {
          seen.append(child)
        }
        if let childList = child.childList { unvisited.append(childList) }
      }
      cancel.tell(marked)
    }
    cancel.noteWalked()
    return seen
  }

  /// Cancelled since it became ready, it ends without the slot that a worker has taken it with.
  @inline(never)
  final func surrenderSlot(of kind: JobKind) {
    guard case .start(let attempt) = kind else { return }
    read { $0.home?.surrender(self, in: attempt) }?.carryOut()
  }

  /// Fires the token, if there is one, and then lets the turn deliver the rest.
  private func carryOut(_ telling: consuming Telling, _ reason: CancellationReason) {
    while case .fire(let source) = telling {
      source.cancel(reason)
      telling = update { $0.tell() }
    }
    interrupt()
    if case .requestTurn(let list) = consume telling { list.requestTurn(of: self) }
    noteCancel()
  }
}

extension Procedure: CancellationFollower {
  package final func mark(
    becauseOf reason: CancellationReason, by walk: FollowerWalk
  ) -> MarkedFollower {
    mark(withErrors: reason.errors(of: name), reason, isByToken: true, walk)
  }

  /// Second part of a cancel, of one that was marked as one of many.
  package final func deliverCancel(_ reason: CancellationReason) {
    carryOut(update { $0.tell() }, reason)
  }
}

extension CancellationReason {
  /// What a procedure is cancelled with that a token cancels.
  fileprivate func errors(of name: @autoclosure () -> String) -> [any Error] {
    switch self {
    case .requested, .taskCancelled: []
    case .deadlineExceeded: [ProcedureError.deadlineExceeded(name())]
    case .failure(let error): [error]
    }
  }
}

/// What is left to be done of a cancel that has been marked.
private enum Telling: Sendable {
  case fire(CancellationTokenSource)
  case requestTurn(ReadyList)
  case done
}

extension ProcedureCore {
  /// Marks it if a token that it is on reads cancelled, which may not have come to it: so that no thread that has seen
  /// the token sees it begin. What is left of the cancel is the token's, when it comes.
  @inline(__always)
  mutating func heedTokens(for procedure: Procedure) {
    guard attachments.hasAny, machine.state <= .started, !machine.isCancelled else { return }
    markAhead(procedure)
  }

  @inline(never)
  private mutating func markAhead(_ procedure: Procedure) {
    guard let reason = links?.reasonToCancel,
      mark(
        procedure, errors: reason.errors(of: givenName ?? procedure.defaultName), reason: reason)
    else { return }
    attachments.with(OuterLinks.self) { $0.isMarkedAhead = true }
  }

  /// Whether it was marked ahead of the token that comes now, and so is this one's to cancel.
  fileprivate mutating func takeMarkAhead() -> Bool {
    guard links?.isMarkedAhead == true else { return false }
    attachments.with(OuterLinks.self) { $0.isMarkedAhead = false }
    return true
  }

  /// The token comes first; then the turn may deliver.
  fileprivate mutating func tell() -> Telling {
    if let source = links?.source, !source.isCancelled { return .fire(source) }
    return machine.post(.deliver) == .turn ? .requestTurn(home ?? .detached) : .done
  }

  /// First part of a cancel. True if this is the one that counts.
  mutating func mark(
    _ procedure: Procedure, errors: [any Error], reason: CancellationReason
  ) -> Bool {
    guard noteMark(withErrors: errors) == .none else { return false }
    if isExclusive { home?.withdraw(procedure) }
    if let record = record.open { record.noteCancel(missesDependency: missesDependency) }
    switch reason {
    case .requested, .failure: break  // told by the errors
    case .deadlineExceeded, .taskCancelled:
      attachments.with(Ending.self) { $0.cancelReason = reason }
    }
    return true
  }

  /// Why it was cancelled; nil if it was not.
  var cancelReason: CancellationReason? {
    guard machine.isCancelled else { return nil }
    return ending?.cancelReason ?? cancelErrors.first.map(
      CancellationReason.failure)
      ?? .requested
  }
}
