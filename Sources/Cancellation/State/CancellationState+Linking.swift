internal import ProcedurePrimitives

extension CancellationState {
  /// Links `child`, which belongs to a source: it is cancelled with this state, at once if this
  /// state already is.
  func addChild(_ child: CancellationState) {
    child.connect(to: self, as: .child(child))
  }

  /// Makes `operands` decide the end of this state, which has no source, by `rule`.
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
    /// The chain leads back to this state: nothing can ever cancel it, and the caller must settle
    /// it.
    case isCircular
  }

  /// Makes this derived state end like `operand`.
  func follow(_ operand: CancellationState) -> Following {
    // 1. Follow the end of the chain of followers, so that chains stay short.
    var last = operand
    while let next = last.followed { last = next }
    if last === self { return .isCircular }
    // 2. The operand of `map` or `flatMap` has ended. It is released outside the lock.
    let ended = withMachine { machine in
      machine.rule = .any(undecided: 1)
      return machine.links.takeParents()
    }
    _ = ended
    connect(to: last, as: .combination(WeakState(self)))
    // 3. The check comes after `connect`: of two threads that close a circle, at least one finds
    //    it.
    return leadsBackToItself ? .isCircular : .isUnderWay
  }

  private var followed: CancellationState? {
    withMachine { machine in
      guard machine.isPending, machine.rule == .any(undecided: 1),
        let parent = machine.links.parents.only, case .dependent = parent.place
      else { return nil }
      return parent.state
    }
  }

  /// The only token that a token without a source waits for; nil if there are none or several.
  private var awaited: CancellationState? {
    withMachine { machine in
      guard machine.isPending, machine.links.ownsItselfWhileObserved else { return nil }
      return machine.links.parents.only?.state
    }
  }

  private var leadsBackToItself: Bool {
    var (next, mark, steps) = (awaited, self, 0)
    while let state = next {
      if state === self { return true }
      // A circle without this state: another thread has just closed it, and will open it.
      if state === mark { return false }
      steps += 1
      if steps & (steps - 1) == 0 { mark = state }
      next = state.awaited
    }
    return false
  }

  /// Makes this state, which has no source, follow the token that `decide` returns when `operand`
  /// is cancelled. If `operand` ends uncancelled, so does this state.
  func derive(
    from operand: CancellationState, by decide: @escaping CancellationDerivation.Decision
  ) {
    withMachine { $0.links.madeExtras().ownsItselfWhileObserved = true }
    let derivation = CancellationDerivation(self, decide: decide)
    let admission = operand.withMachine { $0.register(.derivation(derivation)) }
    if case .kept(let key) = admission {
      noteParent(operand, .handler(key))
    } else {
      // The operand has ended since the caller's check: decide on this thread.
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
      guard machine.isPending, !machine.links.parents.contains(parent) else { return false }
      machine.links.parents.append(.init(state: parent, place: place))
      return true
    }
    // This state has ended in between, perhaps with this very parent. Or another thread has linked
    // it to the same parent.
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

  /// Links the children to the parents, when a source in the middle of a tree is released
  /// uncancelled.
  ///
  /// The state stays pending, and each child is linked to the parents before it is unlinked here: a
  /// cancel from above reaches the child at any time, and parents may be released concurrently.
  func passOnChildren() {
    while let (children, parents) = withMachine({ $0.childrenToPassOn }) {
      for (_, child) in children {
        for parent in parents where !child.isLinked(to: parent) { parent.addChild(child) }
      }
      let haveLeft = withMachine { machine in
        // A parent released meanwhile took no children, and has linked this state to its own
        // parents: try again.
        guard machine.parents == parents else { return false }
        for (key, _) in children { _ = machine.removeDependent(key) }
        return true
      }
      if haveLeft { for (_, child) in children { child.forget(self) } }
    }
  }

  /// Unlinks the children of a token without a source that ended uncancelled: they stay pending.
  func letGo(of orphans: [CancellationEntry]) {
    for case .child(let orphan) in orphans { orphan.forget(self) }
  }

  private func isLinked(to parent: CancellationState) -> Bool {
    withMachine { $0.links.parents.contains(parent) }
  }

  /// Removes the parent, which has no entry for this state any more. O(1).
  private func forget(_ parent: CancellationState) {
    withMachine { $0.links.parents.remove(parent) }
  }

  /// Takes the parents that `deinit` would release, so that the caller releases them without
  /// recursion.
  fileprivate func abandon() -> SmallList<CancellationLinks.Parent> {
    let links = withMachine { $0.links.take() }
    links.extras?.leave()
    return links.parents.all
  }
}

extension CancellationLinks {
  /// Cancels the timer and leaves the list and the parents, when the state has ended.
  mutating func leave() {
    extras?.leave()
    // Leaves the parents, and releases each whose last owner this was; in a loop, because they may
    // form a list of a hundred thousand.
    var left = parents.takeAll()
    while let parent = left.popLast() {
      // `parent` keeps the state alive, so the call needs no reference counting.
      unsafe Unmanaged.passUnretained(parent.state)._withUnsafeGuaranteedRef {
        $0.remove(parent.place)
      }
      var last = consume parent
      // Only walks can still reach the state, by a weak reference, and they need none of its links.
      if isKnownUniquelyReferenced(&last.state) {
        for grandparent in last.state.abandon() { left.append(grandparent) }
      }
    }
  }
}
