internal import ProcedurePrimitives

extension CancellationState {
  /// Makes `child`, which belongs to a source, be cancelled with this state; now, if this one is.
  func addChild(_ child: CancellationState) {
    child.connect(to: self, as: .child(child))
  }

  /// Makes this state, which has no source, end as `operands` do by `rule`.
  func combine(_ operands: [CancellationState], by rule: CancellationStateMachine.Rule) {
    withMachine { machine in
      machine.rule = rule
      machine.links.madeExtras().ownsItselfWhileObserved = true
    }
    for operand in operands {
      if isSettled { return }
      connect(to: operand, as: .combination(WeakState(self)))
    }
  }

  enum Following: Sendable {
    case isUnderWay
    /// It leads back to itself: nothing can ever cancel it, and its caller settles it.
    case isCircular
  }

  /// Makes this state end as `operand` does, from when that is known.
  func follow(_ operand: CancellationState) -> Following {
    // Those that follow each other follow the last of them, so that no way gets longer by another.
    var last = operand
    while let next = last.followed { last = next }
    if last === self { return .isCircular }
    // Its operand has ended; nothing waits for that any more.
    let ended = withMachine { machine in
      machine.rule = .any(undecided: 1)
      return machine.links.takeParents()
    }
    _ = ended
    connect(to: last, as: .combination(WeakState(self)))
    // Looked for when it may be there: of two threads that close a circle, one at least sees it.
    return leadsBackToItself ? .isCircular : .isUnderWay
  }

  private var followed: CancellationState? {
    withMachine { machine in
      guard machine.isPending, machine.rule == .any(undecided: 1),
        machine.links.parents.count == 1, case .dependent = machine.links.parents[0].place
      else { return nil }
      return machine.links.parents[0].state
    }
  }

  /// The one other token that a token without a source waits for, if there is one.
  private var awaited: CancellationState? {
    withMachine { machine in
      guard machine.isPending, machine.links.ownsItselfWhileObserved,
        machine.links.parents.count == 1
      else { return nil }
      return machine.links.parents[0].state
    }
  }

  private var leadsBackToItself: Bool {
    var (next, mark, steps) = (awaited, self, 0)
    while let state = next {
      if state === self { return true }
      // A circle without this one: another thread has just closed it, and opens it again.
      if state === mark { return false }
      steps += 1
      if steps & (steps - 1) == 0 { mark = state }
      next = state.awaited
    }
    return false
  }

  /// Makes this state, which has no source, follow the token that `decide` returns when `operand` is
  /// cancelled, or end as not cancelled with it.
  func derive(
    from operand: CancellationState, by decide: @escaping CancellationDerivation.Decision
  ) {
    withMachine { $0.links.madeExtras().ownsItselfWhileObserved = true }
    let derivation = CancellationDerivation(self, decide: decide)
    let admission = operand.withMachine { $0.register(.derivation(derivation)) }
    if case .kept(let key) = admission {
      noteParent(operand, .handler(key))
    } else {
      // Ended since the caller looked: decide on this thread.
      operand.waitWhileMarking()
      let decider = operand.isCancelled ? decide(operand) : nil
      guard let decider, follow(decider) == .isUnderWay else {
        settle(.notCancelled)
        return
      }
    }
  }

  private func connect(to operand: CancellationState, as dependent: CancellationEntry) {
    switch operand.withMachine({ $0.addDependent(dependent) }) {
    case .kept(let key): noteParent(operand, .dependent(key))
    case .wait(let marking):
      marking.wait()
      operandHasEnded(operand)
    case .settled: operandHasEnded(operand)
    }
  }

  private func operandHasEnded(_ operand: CancellationState) {
    guard let outcome = operand.outcome else {
      stopBecauseOfInconsistency("Internal inconsistency: an operand that ended has no outcome")
    }
    if withMachine({ $0.isPending && $0.decides(outcome) }) { settle(outcome) }
  }

  private func noteParent(_ parent: CancellationState, _ place: CancellationLinks.Place) {
    let isNoted = withMachine { machine in
      guard machine.isPending else { return false }
      machine.links.parents.append(.init(state: parent, place: place))
      return true
    }
    // Ended in between, perhaps by this very parent.
    if !isNoted { parent.remove(place) }
  }

  fileprivate func remove(_ place: CancellationLinks.Place) {
    switch place {
    case .handler(let key): _ = unregister(key)
    case .dependent(let key):
      let dependent = withMachine { $0.removeDependent(key) }
      _ = dependent
    }
  }

  /// The source in the middle of a tree goes away without a cancel: its children stay in the tree,
  /// linked to its parents.
  ///
  /// It is pending all the while, and each child is linked further up before it leaves here: so a
  /// cancel from above reaches it at any time, and parents may go away at the same time.
  func passOnChildren() {
    while let (children, parents) = withMachine({ $0.childrenToPassOn }) {
      for (_, child) in children {
        let linked = child.parents
        for parent in parents where !linked.contains(parent) { parent.addChild(child) }
      }
      let haveLeft = withMachine { machine in
        // A parent that has gone meanwhile took no children, and has linked us further up before.
        guard machine.parents == parents else { return false }
        for (key, _) in children { _ = machine.removeDependent(key) }
        return true
      }
      if haveLeft { for (_, child) in children { child.forget(self) } }
    }
  }

  /// A token without a source, which was not cancelled, means nothing to those linked to it.
  func letGo(of orphans: [CancellationEntry]) {
    for case .child(let orphan) in orphans { orphan.forget(self) }
  }

  private var parents: Set<CancellationState> { withMachine { $0.parents } }

  /// The parent, which has no place for it any more, is not kept alive.
  private func forget(_ parent: CancellationState) {
    let forgotten = withMachine { machine in
      let all = machine.links.takeParents()
      machine.links.parents = all.keeping { $0.state !== parent }
      return all
    }
    _ = forgotten
  }

  /// Takes what this state would release in its `deinit`, to be released without recursion.
  fileprivate func abandon() -> SmallList<CancellationLinks.Parent> {
    let links = withMachine { $0.links.take() }
    links.extras?.leave()
    return links.parents
  }
}

extension CancellationLinks {
  /// The state has ended: takes it off its timer, its list and its parents.
  mutating func leave() {
    extras?.leave()
    // Gives up the places on others, and those others of which this was the last owner; in a loop,
    // because they may form a list of a hundred thousand.
    while let parent = parents.popLast() {
      // `parent` keeps it alive: no reference needs to be counted for the call.
      unsafe Unmanaged.passUnretained(parent.state)._withUnsafeGuaranteedRef {
        $0.remove(parent.place)
      }
      var left = consume parent
      // Only walks can still reach it, by a weak reference, and they need none of this.
      if isKnownUniquelyReferenced(&left.state) {
        for grandparent in left.state.abandon() { parents.append(grandparent) }
      }
    }
  }
}
