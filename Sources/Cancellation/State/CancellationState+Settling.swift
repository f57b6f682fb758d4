internal import ProcedurePrimitives

extension CancellationState {
  /// Ends the token, and the tokens that this decides, then calls the handlers.
  ///
  /// - Returns: true if this is the end that counts.
  @discardableResult
  func settle(_ outcome: CancellationOutcome) -> Bool {
    if isSettled { return false }
    let settling = withMachine { machine in
      let settling = machine.settle(outcome)
      if case .settled = settling { status.store(outcome.settledStatus) }
      return settling
    }
    switch consume settling {
    case .late: return false
    case .settled(let first, let more, var links):
      links.leave()
      callHandlers(startingWith: first, more: more, outcome)
      return true
    case .hasDependents:
      if case .notCancelled = outcome { passOnChildren() }
      var walk = SettlingWalk()
      let isFirst = walk.markTree(self, outcome)
      walk.callHandlers()
      // A child may have been linked after the others were passed on.
      return isFirst || (!outcome.isCancelled && settle(outcome))
    }
  }

  /// Settles the token of a source that is released uncancelled, and releases handlers with their
  /// captures.
  func endWithoutCancel() {
    // Handlers stay in the machine until they are called: a handler held here would be released
    // outside of the nesting.
    let settling = withMachine { machine in
      let settling = machine.settleOnly()
      if case .settled = settling { status.store(Status.notCancelled) }
      return settling
    }
    switch consume settling {
    case .late: return
    case .settled(_, let hasHandlers, var links):
      links.leave()
      guard hasHandlers else { return }
      NestedReleases.run {
        var walk = SettlingWalk()
        walk.callHandlers(of: self, .notCancelled)
        walk.callHandlers()
      }
    case .hasDependents:
      NestedReleases.run { self.settle(.notCancelled) }
    }
  }

  /// The first half of `settle`: when it returns, every token that this end decides is marked, and
  /// no user code has run. Nil if it is not the end that counts.
  ///
  /// - Parameter generation: the deadline that passed; it counts unless it was replaced. Nil if it
  ///   was none.
  func begin(_ outcome: CancellationOutcome, ifDeadline generation: UInt64? = nil) -> BegunEnd? {
    if isSettled { return nil }
    var walk = SettlingWalk()
    return walk.markTree(self, outcome, ifDeadline: generation) ? BegunEnd(walk: walk) : nil
  }

  /// The short way, for a token without dependents other than tokens that its handlers derive.
  private func callHandlers(
    startingWith first: CancellationEntry?, more: Bool, _ outcome: CancellationOutcome
  ) {
    guard let first else { return }
    if !more, !first.isDerivation { return first.call(cancelled: outcome.isCancelled) }
    var walk = SettlingWalk()
    walk.call(first, of: self, outcome)
    if more { walk.callHandlers(of: self, outcome) }
    walk.callHandlers()
  }
}

/// An end whose tokens are marked and whose handlers have not been called yet.
struct BegunEnd: Sendable {
  fileprivate let walk: SettlingWalk

  /// Whether there are handlers to call, or other tokens to leave, which may release user objects.
  var concernsOthers: Bool { walk.concernsOthers }

  /// The second half of `settle`: calls the handlers, on this thread. Once.
  func finish() {
    var walk = walk
    walk.callHandlers()
  }
}

extension FollowerWalk {
  /// The first part of a cancel that does not come from a token. When it returns, the followers
  /// that `mark` marks, and all that depends on their own tokens, read cancelled.
  ///
  /// - Parameter mark: marks one or more followers, by the walk that it gets.
  /// - Returns: the rest, which may run user code; call it once.
  package static func begin(
    _ mark: (FollowerWalk, inout [MarkedFollower]) -> Void
  ) -> @Sendable () -> Void {
    var walk = SettlingWalk()
    _ = walk.mark { marking, met in MarkedForest(mark, by: marking, &met) }
    return BegunEnd(walk: walk).finish
  }
}

/// The walk of one end through everything that it decides.
///
/// Tokens are marked tree by tree; handlers are called when the tree is marked. A tree that a `map`
/// among the handlers decides is queued behind the first, without recursion: only the token that an
/// end begins with may take the short way.
private struct SettlingWalk: Sendable {
  private enum Work: Sendable {
    /// To call the handlers of a token.
    case handlers(CancellationState)
    /// To carry out the next rest in `undelivered`.
    case rest
  }

  /// The rest of the work, which may run user code.
  private var remaining = Fifo<Work>()
  /// Made for the first follower: most walks have none.
  private var undelivered: UndeliveredCancels?
  /// Whether `undelivered`, if it was made, has begun on this thread.
  private var callsHandlers = false

  /// The visited tokens that were not marked: these may be the last references to them.
  private var seen: [CancellationState] = []

  var concernsOthers: Bool {
    guard seen.isEmpty, case .handlers(let only)? = remaining.only else { return true }
    return only.withMachine { $0.hasHandlers || !$0.links.parents.isEmpty }
  }

  mutating func markTree(
    _ root: CancellationState, _ outcome: CancellationOutcome,
    ifDeadline generation: UInt64? = nil
  ) -> Bool {
    mark { marking, met in
      MarkedForest(root, outcome, by: marking, &met, ifDeadline: generation)
    }
  }

  /// - Returns: false if nothing was marked.
  mutating func mark(
    _ make: (_ marking: TreeMarking, _ met: inout [TreeMarking]) -> MarkedForest?
  ) -> Bool {
    let marking = TreeMarking()
    guard let marked = marking.run({ met in make(marking, &met) }) else { return false }
    marking.wait()
    marking.forgetThoseMet()
    seen += marked.seen
    marked.forEachRemaining { append($0) }
    return true
  }

  private mutating func append(_ next: MarkedForest.Remaining) {
    switch next {
    case .handlers(let state): remaining.append(.handlers(state))
    case .rest(let follower):
      let undelivered = undelivered ?? UndeliveredCancels()
      undelivered.append(follower)
      if self.undelivered == nil {
        self.undelivered = undelivered
        if callsHandlers { undelivered.begin() }
      }
      remaining.append(.rest)
    }
  }

  mutating func callHandlers() {
    seen = []
    beginCalls()
    // Perhaps made by a handler.
    defer { undelivered?.end() }
    while let next = remaining.popFirst() {
      switch next {
      case .rest: undelivered?.carryOutFirst()
      case .handlers(let state):
        var (outcome, links, orphans) = state.withMachine { machine in
          let outcome = machine.beginCalls()
          state.status.store(outcome.settledStatus)
          return (outcome, machine.links.take(), machine.takeOrphans())
        }
        state.letGo(of: orphans)
        links.leave()
        callHandlers(of: state, outcome)
      }
    }
  }

  private mutating func beginCalls() {
    if exchange(&callsHandlers, with: true) { return }
    undelivered?.begin()
  }

  /// Calls the handlers one at a time, so that one can take another off the token.
  mutating func callHandlers(of state: CancellationState, _ outcome: CancellationOutcome) {
    var more = true
    while more {
      let handler: CancellationEntry?
      (handler, more) = state.withMachine { $0.nextHandler() }
      if let handler { call(handler, of: state, outcome) }
    }
  }

  mutating func call(
    _ handler: CancellationEntry, of state: CancellationState, _ outcome: CancellationOutcome
  ) {
    beginCalls()
    guard case .derivation(let derivation) = handler else {
      return handler.call(cancelled: outcome.isCancelled)
    }
    guard let derived = derivation.state else { return }
    let decider = outcome.isCancelled ? derivation.decide(state) : nil
    guard let decider else {
      _ = markTree(derived, .notCancelled)
      return
    }
    decider.waitWhileMarking()
    if let decision = decider.outcome {
      _ = markTree(derived, decision)
    } else if derived.follow(decider) == .isCircular {
      _ = markTree(derived, .notCancelled)
    }
  }
}

extension CancellationEntry {
  fileprivate var isDerivation: Bool { if case .derivation = self { true } else { false } }
}

extension CancellationOutcome {
  fileprivate var settledStatus: UInt8 {
    isCancelled ? CancellationState.Status.cancelled : CancellationState.Status.notCancelled
  }
}
