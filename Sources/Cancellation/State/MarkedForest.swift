internal import ProcedurePrimitives

/// The marks of one end: the tree of tokens that depend on the first one, the followers of these,
/// the trees of their own tokens, and so on. While it is built, nothing is released and no user
/// code runs.
struct MarkedForest: Sendable {
  /// The rest of that end, which may run user code.
  enum Remaining: Sendable {
    /// Calls the handlers of a token.
    case handlers(CancellationState)
    /// Carries out the rest of a follower's cancel.
    case rest(MarkedFollower)
  }

  private var tokens: [CancellationState] = []
  private var followers: [(MarkedFollower, ownTokens: [CancellationState])] = []
  /// The visited tokens that were not marked: these may be the last references to them.
  private(set) var seen: [CancellationState] = []

  /// Nil if the token had ended before.
  init?(
    _ root: CancellationState, _ outcome: CancellationOutcome, by marking: TreeMarking,
    _ met: inout [TreeMarking], ifDeadline generation: UInt64?
  ) {
    guard root.mark(outcome, by: marking, ifDeadline: generation) else { return nil }
    var unvisited: [MarkedFollower] = []
    tokens = markDependents(of: root, outcome, by: marking, &met, followers: &unvisited)
    visit(&unvisited, by: marking, &met)
  }

  /// The followers that `mark` marks, which no token cancels, and everything that depends on their
  /// own tokens.
  init(
    _ mark: (FollowerWalk, inout [MarkedFollower]) -> Void, by marking: TreeMarking,
    _ met: inout [TreeMarking]
  ) {
    var unvisited: [MarkedFollower] = []
    mark(FollowerWalk(marking: marking), &unvisited)
    visit(&unvisited, by: marking, &met)
  }

  private mutating func visit(
    _ unvisited: inout [MarkedFollower], by marking: TreeMarking, _ met: inout [TreeMarking]
  ) {
    followers.reserveCapacity(unvisited.count)
    while let follower = unvisited.popLast() {
      if case .walk(let other) = follower.rest {
        if other.marking !== marking { met.append(other.marking) }
        continue
      }
      var ownTokens: [CancellationState] = []
      if let own = follower.own {
        if follower.isFirst {
          ownTokens = markDependents(
            of: own, .cancelled(follower.reason), by: marking, &met, followers: &unvisited)
        } else if let other = own.marking, other !== marking {
          met.append(other)
        }
      }
      followers.append((follower, ownTokens))
    }
  }

  /// - Returns: the token and all that depend on it, parents before children.
  private mutating func markDependents(
    of root: CancellationState, _ outcome: CancellationOutcome, by marking: TreeMarking,
    _ met: inout [TreeMarking], followers: inout [MarkedFollower]
  ) -> [CancellationState] {
    var (states, unvisited) = ([root], [root])
    var isTree = true
    while let state = unvisited.popLast() {
      for entry in state.takeDependents(toTell: outcome) {
        if case .follower(let weak) = entry, let reason = outcome.reason,
          let follower = weak.follower
        {
          follower.mark(becauseOf: reason, by: FollowerWalk(marking: marking), into: &followers)
        }
        guard let dependent = entry.dependent else { continue }
        switch dependent.operand(outcome, by: marking) {
        case .undecided: seen.append(dependent)
        case .marked:
          states.append(dependent)
          unvisited.append(dependent)
        case .markedBefore: isTree = false
        case .met(let other):
          if met.last !== other { met.append(other) }
          seen.append(dependent)
        }
      }
    }
    return isTree ? states : Self.parentsFirst(states)
  }

  /// The same tokens, each after all its parents among them. O(tokens + links).
  ///
  /// Tokens that follow each other in a circle have no such order.
  private static func parentsFirst(_ states: [CancellationState]) -> [CancellationState] {
    var (unplaced, unvisited) = (Set(states), Set(states))
    var placed: [CancellationState] = []
    placed.reserveCapacity(states.count)
    for state in states {
      var path = [state]
      while let next = path.last {
        // The first visit puts the parents in front, the second places the token.
        if unvisited.remove(next) != nil {
          path += next.parents(in: unvisited)
        } else {
          path.removeLast()
          if unplaced.remove(next) != nil { placed.append(next) }
        }
      }
    }
    return placed
  }

  /// Visits the followers in the order of registration, each after the followers and handlers of
  /// its own token. The tokens come last.
  func forEachRemaining(_ body: (Remaining) -> Void) {
    // The last one was visited first.
    for (follower, ownTokens) in followers.reversed() {
      for state in ownTokens { body(.handlers(state)) }
      body(.rest(follower))
    }
    for state in tokens { body(.handlers(state)) }
  }
}

extension CancellationState {
  func mark(
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

  /// Those of `states` that are parents of this one.
  fileprivate func parents(in states: Set<CancellationState>) -> [CancellationState] {
    withMachine { machine in
      machine.links.parents.all.lazy.map(\.state).filter(states.contains)
    }
  }

  fileprivate func takeDependents(toTell outcome: CancellationOutcome) -> [CancellationEntry] {
    withMachine { $0.takeDependents(toTell: outcome) }
  }
}

extension CancellationStateMachine {
  /// Whether the deadline of this generation is current. Nil stands for no deadline.
  fileprivate func concerns(_ generation: UInt64?) -> Bool {
    generation == nil || links.extras?.deadlineGeneration == generation
  }
}

extension CancellationEntry {
  /// The dependent state, alive while the result is held.
  fileprivate var dependent: CancellationState? {
    switch self {
    case .child(let state): state
    case .combination(let weak): weak.state
    case .cancel, .complete, .target, .derivation, .follower: nil
    }
  }
}

extension CancellationOutcome {
  fileprivate var markedStatus: UInt8 {
    isCancelled ? CancellationState.Status.cancelledMarking : CancellationState.Status.notCancelled
  }
}
