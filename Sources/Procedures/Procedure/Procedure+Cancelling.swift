extension Procedure {
  /// Cancels without errors. See `cancel(withErrors:)`.
  public final func cancel() {
    cancel(withErrors: [])
  }

  /// Cancels: sets `isCancelled`, fires `cancellationToken`, and has the rest run in a turn.
  ///
  /// When it returns, `isCancelled` is true and the token's handlers have been called, on this
  /// thread. `procedureDidCancel(withErrors:)` and the DidCancel observers follow in the next turn.
  /// A procedure that has not executed finishes by itself, also in a suspended or full queue; one
  /// that has must finish itself. A group cancels its children: all of them read cancelled before
  /// anything of any of them is told.
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
      if let token = core.rarities?.token { return token }
      if core.machine.isRetired, !core.machine.isCancelled { return .never }
      let reason = core.cancelReason
      return core.withRarities { rarities in
        let source = CancellationTokenSource()
        if let reason { source.cancel(reason) }
        rarities.source = source
        rarities.token = source.token
        return source.token
      }
    }
  }

  /// Cancels the procedure when `token` is cancelled, now if it already is.
  ///
  /// The reason becomes that of `cancellationToken`, and an error where it is one: a `.failure`'s
  /// own, `ProcedureError.deadlineExceeded` for a deadline. The token does not keep the procedure
  /// alive, and is left when the procedure finishes.
  public final func cancel(when token: CancellationToken) {
    let registration = token.onCancel { [weak self] in
      self?.cancel(because: token.reason ?? .requested)
    }
    let isKept = read { core in
      guard !core.machine.isRetired else { return false }
      core.withRarities { $0.registrations.append(registration) }
      return true
    }
    if !isKept { registration.unregister() }
  }

  /// Cancels with the errors that the reason stands for.
  @discardableResult
  final func cancel(because reason: CancellationReason) -> Bool {
    switch reason {
    case .requested, .taskCancelled: cancel(errors: [], reason: reason)
    case .deadlineExceeded: cancel(errors: [ProcedureError.deadlineExceeded], reason: reason)
    case .failure(let error): cancel(errors: [error], reason: reason)
    }
  }

  @discardableResult
  final func cancel(errors: [any Error], reason: CancellationReason) -> Bool {
    if let childList {
      return cancelTree(children: childList, errors: errors, reason: reason)
    }
    enum Next: Sendable {
      case late
      case fire(CancellationTokenSource)
      case posted(ReadyList?)
    }
    let next: Next = update { core in
      guard core.mark(errors: errors, reason: reason) else { return .late }
      if let source = core.rarities?.source { return .fire(source) }
      return .posted(core.machine.post() == .requestTurn ? core.home ?? .detached : nil)
    }
    switch next {
    case .late:
      return false
    case .fire(let source):
      source.cancel(reason)
      note { $0.machine.post() }
    case .posted(let list):
      list?.requestTurn(of: self)
    }
    return true
  }

  /// Marks the group and everything below it, and only then tells anybody.
  private func cancelTree(
    children: ReadyList, errors: [any Error], reason: CancellationReason
  ) -> Bool {
    guard update({ $0.mark(errors: errors, reason: reason) }) else { return false }
    let cancel = TreeCancel(
      errors: errors.isEmpty ? [] : [ProcedureError.parentCancelled(errors)], reason: reason)
    cancel.tell([self])
    Self.mark([children], by: cancel)
    cancel.finishMarking()
    return true
  }

  /// Cancels a procedure that was added to a group after the cancel had come there.
  final func cancel(with cancel: TreeCancel) {
    if update({ $0.mark(errors: cancel.errors, reason: cancel.reason) }) { cancel.tell([self]) }
    if let childList { Self.mark([childList], by: cancel) }
  }

  /// Iterative: groups may be nested thousands deep. A group that is being cancelled by someone
  /// else is walked too, since our first handler must not run before its children are marked.
  private static func mark(_ lists: [ReadyList], by cancel: TreeCancel) {
    var unvisited = lists
    while let list = unvisited.popLast() {
      var marked: [Procedure] = []
      for child in list.cancel(cancel) {
        if child.update({ $0.mark(errors: cancel.errors, reason: cancel.reason) }) {
          marked.append(child)
        }
        if let childList = child.childList { unvisited.append(childList) }
      }
      cancel.tell(marked)
    }
  }

  /// Second half of the cancel of a member of a tree.
  final func deliverCancel(_ reason: CancellationReason) {
    read { $0.rarities?.source }?.cancel(reason)
    note { $0.machine.post() }
  }
}

extension ProcedureCore {
  fileprivate mutating func mark(errors: [any Error], reason: CancellationReason) -> Bool {
    guard machine.mark(errors: errors) else { return false }
    switch reason {
    case .requested, .failure: break  // told by the errors
    case .deadlineExceeded, .taskCancelled: withRarities { $0.cancelReason = reason }
    }
    return true
  }

  /// Why it was cancelled; nil if it was not.
  fileprivate var cancelReason: CancellationReason? {
    guard machine.isCancelled else { return nil }
    return rarities?.cancelReason ?? machine.cancelErrors.first.map(CancellationReason.failure)
      ?? .requested
  }
}
