internal import Primitives

extension CancellationState {
  /// Ends the token, and the tokens that this decides, then calls the handlers.
  ///
  /// - Parameter generation: the deadline that ended it, which counts unless it was replaced.
  /// - Returns: true if this is the end that counts.
  @discardableResult
  func settle(_ outcome: CancellationOutcome, ifDeadline generation: UInt64? = nil) -> Bool {
    if isSettled { return false }
    var walk = SettlingWalk()
    let isFirst = walk.settle(self, outcome, ifDeadline: generation)
    walk.callHandlers()
    return isFirst
  }
}

/// The way of one end through everything that it decides.
///
/// Tokens are marked tree by tree; handlers are called when the tree is marked. What a `map` among
/// the handlers decides is another tree, put behind the first instead of recursed into: only the
/// token that the walk begins with takes the short way.
private struct SettlingWalk {
  /// Marked, their handlers not yet called.
  private var marked = Fifo<CancellationState>()

  mutating func settle(
    _ state: CancellationState, _ outcome: CancellationOutcome, ifDeadline generation: UInt64? = nil
  ) -> Bool {
    enum Step: Sendable {
      case late
      case call(CancellationLinks?, first: CancellationEntry?, more: Bool)
      case markTree
    }
    let step: Step = state.machine.withLock { machine in
      guard machine.concerns(generation) else { return .late }
      switch machine.settle(outcome) {
      case .late: return .late
      case .hasDependents: return .markTree
      case .settled(let first, let more):
        state.status.store(outcome.settledStatus)
        return .call(machine.links.take(), first: first, more: more)
      }
    }
    switch step {
    case .late: return false
    case .markTree: return markTree(state, outcome, ifDeadline: generation)
    case .call(let links, let first, let more):
      links?.leave()
      if let first { call(first, of: state, outcome) }
      if more { callHandlers(of: state, outcome) }
      return true
    }
  }

  private mutating func markTree(
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
      state.bequeath(orphans, to: links?.parents ?? [])
      links?.leave()
      callHandlers(of: state, outcome)
    }
  }

  /// Calls the handlers one at a time, so that one can take another off the token.
  private mutating func callHandlers(of state: CancellationState, _ outcome: CancellationOutcome) {
    var more = true
    while more {
      let handler: CancellationEntry?
      (handler, more) = state.machine.withLock { $0.nextHandler() }
      if let handler { call(handler, of: state, outcome) }
    }
  }

  private mutating func call(
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
      guard machine.concerns(generation), machine.mark(outcome, by: marking) else { return false }
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
