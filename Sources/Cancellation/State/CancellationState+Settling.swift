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
      // A child may have been linked since they were passed on.
      return isFirst || (!outcome.isCancelled && settle(outcome))
    }
  }

  /// The source goes, uncancelled: settles the token, and releases handlers and what they captured.
  func endWithoutCancel() {
    // Handlers stay in the machine until they are called: one that is held here would be released
    // outside of the nesting.
    let settling = withMachine { machine in
      let settling = machine.settleOnly(.notCancelled)
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

  /// The first half of `settle`: everything that this end decides reads it when this returns, and no
  /// user code has run. Nil if it is not the end that counts.
  ///
  /// - Parameter generation: the deadline that ended it, which counts unless it was replaced.
  func begin(_ outcome: CancellationOutcome, ifDeadline generation: UInt64? = nil) -> BegunEnd? {
    if isSettled { return nil }
    var walk = SettlingWalk()
    return walk.markTree(self, outcome, ifDeadline: generation) ? BegunEnd(walk: walk) : nil
  }

  /// The short way: nothing depends on this token, except what its handlers may derive.
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

/// An end that everything it decides reads already; the handlers have not been called yet.
struct BegunEnd: Sendable {
  fileprivate let walk: SettlingWalk

  /// Whether there are handlers to call, or other tokens to leave, which may release objects of the
  /// user.
  var concernsOthers: Bool { walk.concernsOthers }

  /// The second half of `settle`: calls the handlers, on this thread. Once.
  func finish() {
    var walk = walk
    walk.callHandlers()
  }
}

/// The way of one end through everything that it decides.
///
/// Tokens are marked tree by tree; handlers are called when the tree is marked. What a `map` among
/// the handlers decides is another tree, put behind the first instead of recursed into: only the
/// token that an end begins with may take the short way.
private struct SettlingWalk: Sendable {
  /// Marked, their handlers not yet called.
  private var marked = Fifo<CancellationState>()

  /// Those looked at that were not marked: these may be the last references to them.
  private var seen: [CancellationState] = []

  /// What is left of the cancels of followers, which have been marked.
  private var deliveries = Fifo<@Sendable () -> Void>()

  var concernsOthers: Bool {
    guard seen.isEmpty, deliveries.isEmpty, let only = marked.only else { return true }
    return only.withMachine { $0.hasHandlers || !$0.links.parents.isEmpty }
  }

  mutating func markTree(
    _ root: CancellationState, _ outcome: CancellationOutcome,
    ifDeadline generation: UInt64? = nil
  ) -> Bool {
    let marking = TreeMarking()
    var followers: [CancellationFollower.Mark] = []
    let (states, seen) = marking.run { met -> ([CancellationState], [CancellationState]) in
      guard root.mark(outcome, by: marking, ifDeadline: generation) else { return ([], []) }
      var (states, unvisited, seen) = ([root], [root], [CancellationState]())
      while let state = unvisited.popLast() {
        for entry in state.takeDependents(toTell: outcome) {
          if case .follower(let follower) = entry { followers.append(follower) }
          guard let dependent = entry.dependent else { continue }
          switch dependent.operand(outcome, by: marking) {
          case .undecided: seen.append(dependent)
          case .marked:
            states.append(dependent)
            unvisited.append(dependent)
          case .met(let other):
            if met.last !== other { met.append(other) }
            seen.append(dependent)
          }
        }
      }
      return (states, seen)
    }
    self.seen += seen
    guard !states.isEmpty else { return false }
    marking.wait()
    marking.forgetThoseMet()
    for state in states { marked.append(state) }
    if case .cancelled(let reason) = outcome {
      for mark in followers { if let rest = mark(reason) { deliveries.append(rest) } }
    }
    return true
  }

  mutating func callHandlers() {
    seen = []
    while true {
      while let deliver = deliveries.popFirst() { deliver() }
      guard let state = marked.popFirst() else { break }
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

extension CancellationState {
  fileprivate func mark(
    _ outcome: CancellationOutcome, by marking: TreeMarking, ifDeadline generation: UInt64?
  ) -> Bool {
    withMachine { machine in
      guard machine.concerns(generation),
        outcome.isCancelled || machine.childrenToPassOn == nil, machine.mark(outcome, by: marking)
      else { return false }
      status.store(outcome.markedStatus)
      return true
    }
  }

  fileprivate func operand(
    _ outcome: CancellationOutcome, by marking: TreeMarking
  ) -> CancellationStateMachine.Marking {
    withMachine { machine in
      let result = machine.operand(outcome, by: marking)
      if case .marked = result { status.store(outcome.markedStatus) }
      return result
    }
  }

  fileprivate func takeDependents(toTell outcome: CancellationOutcome) -> [CancellationEntry] {
    withMachine { $0.takeDependents(toTell: outcome) }
  }
}

extension CancellationStateMachine {
  /// Whether a deadline was not replaced by a later one. Nil is no deadline.
  fileprivate func concerns(_ generation: UInt64?) -> Bool {
    generation == nil || links.extras?.deadlineGeneration == generation
  }
}

extension CancellationEntry {
  fileprivate var isDerivation: Bool { if case .derivation = self { true } else { false } }

  /// Alive while the result is held.
  fileprivate var dependent: CancellationState? {
    switch self {
    case .child(let state): state
    case .combination(let weak): weak.state
    case .cancel, .complete, .target, .derivation, .follower: nil
    }
  }
}

extension CancellationOutcome {
  fileprivate var settledStatus: UInt8 {
    isCancelled ? CancellationState.Status.cancelled : CancellationState.Status.notCancelled
  }

  fileprivate var markedStatus: UInt8 {
    isCancelled ? CancellationState.Status.cancelledMarking : CancellationState.Status.notCancelled
  }
}
