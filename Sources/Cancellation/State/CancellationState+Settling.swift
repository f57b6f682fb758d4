internal import ProcedurePrimitives

extension CancellationState {
  /// Ends the token, and the tokens that this decides, then calls the handlers.
  ///
  /// - Parameter generation: the deadline that ended it, which counts unless it was replaced.
  /// - Returns: true if this is the end that counts.
  @discardableResult
  func settle(_ outcome: CancellationOutcome, ifDeadline generation: UInt64? = nil) -> Bool {
    if isSettled { return false }
    let settling: CancellationStateMachine.Settling = machine.withLock { machine in
      guard machine.concerns(generation) else { return .late }
      let settling = machine.settle(outcome)
      if case .settled = settling { status.store(outcome.settledStatus) }
      return settling
    }
    switch settling {
    case .late: return false
    case .settled(let first, let more, let links):
      links?.leave()
      callHandlers(startingWith: first, more: more, outcome)
      return true
    case .hasDependents:
      if case .notCancelled = outcome { passOnChildren() }
      var walk = SettlingWalk()
      let isFirst = walk.markTree(self, outcome, ifDeadline: generation)
      walk.callHandlers()
      // A child may have been linked since they were passed on.
      return isFirst || (!outcome.isCancelled && settle(outcome))
    }
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

/// The way of one end through everything that it decides.
///
/// Tokens are marked tree by tree; handlers are called when the tree is marked. What a `map` among
/// the handlers decides is another tree, put behind the first instead of recursed into: only the
/// token that an end begins with may take the short way.
private struct SettlingWalk {
  /// Marked, their handlers not yet called.
  private var marked = Fifo<CancellationState>()

  mutating func markTree(
    _ root: CancellationState, _ outcome: CancellationOutcome, ifDeadline generation: UInt64?
  ) -> Bool {
    let marking = TreeMarking()
    // What was looked at is released after the walk: it may be the last reference.
    let (states, seen) = marking.run { met -> ([CancellationState], [CancellationState]) in
      guard root.mark(outcome, by: marking, ifDeadline: generation) else { return ([], []) }
      var (states, unvisited, seen) = ([root], [root], [CancellationState]())
      while let state = unvisited.popLast() {
        for entry in state.takeDependents(toTell: outcome) {
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
    _ = consume seen
    guard !states.isEmpty else { return false }
    marking.wait()
    marking.forgetThoseMet()
    for state in states { marked.append(state) }
    return true
  }

  mutating func callHandlers() {
    while let state = marked.popFirst() {
      let (outcome, links, orphans) = state.machine.withLock { machine in
        let outcome = machine.beginCalls()
        state.status.store(outcome.settledStatus)
        return (outcome, machine.links.take(), machine.takeOrphans())
      }
      state.letGo(of: orphans)
      links?.leave()
      callHandlers(of: state, outcome)
    }
  }

  /// Calls the handlers one at a time, so that one can take another off the token.
  mutating func callHandlers(of state: CancellationState, _ outcome: CancellationOutcome) {
    var more = true
    while more {
      let handler: CancellationEntry?
      (handler, more) = state.machine.withLock { $0.nextHandler() }
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
    let decider = outcome.isCancelled ? derivation.decide(becauseOf: state).state : nil
    guard let decider else {
      _ = markTree(derived, .notCancelled, ifDeadline: nil)
      return
    }
    decider.waitWhileMarking()
    if let decision = decider.outcome {
      _ = markTree(derived, decision, ifDeadline: nil)
    } else {
      derived.follow(decider)
    }
  }
}

extension CancellationState {
  fileprivate func mark(
    _ outcome: CancellationOutcome, by marking: TreeMarking, ifDeadline generation: UInt64?
  ) -> Bool {
    machine.withLock { machine in
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
    machine.withLock { machine in
      let result = machine.operand(outcome, by: marking)
      if case .marked = result { status.store(outcome.markedStatus) }
      return result
    }
  }

  fileprivate func takeDependents(toTell outcome: CancellationOutcome) -> [CancellationEntry] {
    machine.withLock { $0.takeDependents(toTell: outcome) }
  }
}

extension CancellationStateMachine {
  /// Whether a deadline was not replaced by a later one. Nil is no deadline.
  fileprivate func concerns(_ generation: UInt64?) -> Bool {
    generation == nil || links?.deadlineGeneration == generation
  }
}

extension CancellationEntry {
  fileprivate var isDerivation: Bool { if case .derivation = self { true } else { false } }

  /// Alive while the result is held.
  fileprivate var dependent: CancellationState? {
    switch self {
    case .child(let state): state
    case .combination(let weak): weak.state
    case .cancel, .complete, .target, .derivation: nil
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
