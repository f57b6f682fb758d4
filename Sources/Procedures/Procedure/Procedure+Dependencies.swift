internal import ProcedurePrimitives

extension Procedure {
  /// Makes this procedure wait until `dependency` has finished.
  ///
  /// A dependency is about order, not success: this procedure also runs after one that failed or
  /// was cancelled. The dependency may be on another queue. It must be added to one, or this
  /// procedure waits.
  ///
  /// Adding a dependency on itself, or after it started, is a programmer error and traps. A
  /// cancelled procedure waits for nothing: then nothing changes, even after it started.
  ///
  /// - Returns: false if this procedure was cancelled before.
  @discardableResult
  public final func add(dependency: Procedure) -> Bool {
    add(Dependency(on: dependency))
  }

  /// Makes this procedure wait for another one, which must end as required.
  ///
  /// ```swift
  /// upload.add(dependency: resize, requiring: .success)
  /// ```
  ///
  /// If `dependency` ends otherwise, this procedure is cancelled as soon as the dependency has
  /// finished, with `ProcedureError.Code.dependencyFailed` or `.dependencyCancelled`, even if it
  /// waits for others.
  ///
  /// - Returns: false if this procedure was cancelled before.
  @discardableResult
  public final func add(
    dependency: Procedure, requiring requirement: DependencyRequirement
  ) -> Bool {
    add(Dependency(on: dependency, requiring: requirement))
  }

  @discardableResult
  final func add(_ new: consuming Dependency) -> Bool {
    if new.dependency === self {
      stopBecauseOfMisuse(
        "Procedure '\(name)' cannot depend on itself: it would wait for ever. Remove the dependency."
      )
    }
    // Usually it is on no queue yet: all dependencies are counted when it is enqueued.
    var unadded: Dependency? = consume new
    withCore { core in
      if core.life.state == .initialized, !core.life.isCancelled, let new = unadded.take() {
        core.dependencies.add(new)
      }
    }
    guard let new = unadded.take() else { return true }
    return addLate(new)
  }

  /// Adds a dependency to a procedure that is on a queue already, or was cancelled.
  @inline(never)
  private func addLate(_ new: consuming Dependency) -> Bool {
    enum Next: Sendable {
      case pointless
      case tooLate(ProcedureState)
      case enter(ProcedureList.FollowUp, AbandonedEvaluation?, released: MemberRequest?)
    }
    let new = consume new
    let next: Next = withCore { core in
      switch core.life.prerequisiteAnswer {
      case .accepted: break
      case .pointless: return .pointless
      case .tooLate: return .tooLate(core.life.state)
      }
      // 1. It is counted in the critical section that arms it: from now on it may be taken back.
      new.arm(for: self)
      core.dependencies.add(new)
      // 2. A ready or taken procedure goes back to waiting, and frees its slot.
      let effect = core.life.post(.dependencyAdded)
      let evaluation = core.requirements?.value.conditions?.restart()
      let request = core.requirements?.value.exclusion?.takeRequest()
      let followUp = effect == .wait ? core.list?.makeWaiting(self) : nil
      return .enter(followUp ?? .nothing, evaluation, released: request)
    }
    switch next {
    case .pointless:
      return false
    case .tooLate(let state):
      stopBecauseOfMisuse(
        "Procedure '\(name)' is already \(state): add dependencies before it starts.")
    case .enter(let followUp, let evaluation, _):
      followUp.perform()
      evaluation?.task?.cancel()
      // 3. This may have closed a cycle.
      if let list = peek({ $0.list }) { list.context.supervisor.noteStuck(list) }
      Dependency.enter(new)
    }
    return true
  }

  /// Makes this procedure wait for several others: an array of a subclass, a set, a lazy map.
  public final func add<Dependencies: Sequence>(dependencies: Dependencies)
  where Dependencies.Element: Procedure {
    for dependency in Array(dependencies) { add(dependency: dependency) }
  }

  /// Makes this procedure wait for several others.
  public final func add(dependencies: Procedure...) {
    for dependency in dependencies { add(dependency: dependency) }
  }

  /// Takes a dependency back. It has no effect once the dependency finished, or this procedure
  /// started.
  ///
  /// If no other dependency is missing, this procedure may start before the call returns. To
  /// replace a dependency of a procedure on a queue, add the new one first:
  ///
  /// ```swift
  /// report.add(dependency: cached)
  /// report.remove(dependency: download)
  /// ```
  ///
  /// O(1), amortised when many are taken back.
  public final func remove(dependency: Procedure) {
    // 1. Take them out of the row. Only a pending procedure has counted them.
    var (removed, areCounted) = withCore { core in
      guard core.life.prerequisiteAnswer == .accepted else {
        return (TakenBackDependencies(), false)
      }
      return (core.takeBackDependencies(on: dependency), core.life.state == .pending)
    }
    // 2. Revoke them without the lock. If a dependency has finished since, its thread counts it
    //    off, and revoking has no effect.
    let revokedCount = removed.revokeAll()
    // 3. Count the others off, after which this procedure may start.
    guard areCounted, revokedCount > 0 else { return }
    let ended = dependency.ended(for: self, isTakenBack: true)
    for _ in 0..<revokedCount { dependencyFinished(after: ended) }
  }

  /// The procedures that this one waits for, or waited for until it finished.
  public final var dependencies: [Procedure] {
    peek { $0.dependencies.declaredProcedures }
  }

  // MARK: Waiting

  /// Waits for another procedure in place of a dependency that was settled, and not counted off.
  ///
  /// - Returns: false if this procedure was cancelled, and waits for nothing.
  final func wait(for new: consuming Dependency, insteadOf settled: Dependency) -> Bool {
    let new = consume new
    var (waits, released, index) = withCore { core in
      guard core.life.prerequisiteAnswer == .accepted else {
        return (false, Dependencies(), DependencyIndex?.none)
      }
      // 1. The count stays: the new dependency takes the place of the settled one.
      let index = core.forgetDependencyIndex()
      new.arm(for: self)
      core.dependencies.add(new)
      return (true, core.dependencies.forget(settled, isLast: false), index)
    }
    // 2. Release what has left the row, and enter the new one, each without a lock.
    _ = consume index
    released.release()
    if waits { Dependency.enter(new) }
    return waits
  }

  /// A dependency is done, or was removed, and makes this procedure ready if it was the last.
  ///
  /// - Parameters:
  ///   - list: the list of the calling worker, which will look for more there.
  ///   - dependency: the dependency, if this procedure is recorded.
  final func dependencyFinished(
    onWorkerOf list: ProcedureList? = nil, after dependency: EndedDependency? = nil
  ) {
    let followUp = withCore { $0.countDependency(of: self, onWorkerOf: list, after: dependency) }
    followUp.perform()
  }

  /// Carries out the hand-overs that have waited for the turn, which the caller holds.
  ///
  /// - Parameter list: the list of the calling worker, which will look for more there.
  final func carryOutHandOvers(onWorkerOf list: ProcedureList?) {
    while let next = withCore({ core in
      core.life.isCancelled ? nil : core.requirements?.value.handOvers.popFirst()
    }) {
      // The value is there before the dependency counts as finished.
      next.carryOut(for: self)
      dependencyFinished(onWorkerOf: list)
    }
  }
}

/// The end that a dependency must have, for its dependent to run.
public enum DependencyRequirement: Sendable {
  /// It has finished: a dependency is about order. The default.
  case any
  /// It was not cancelled. It may have failed.
  case notCancelled
  /// It succeeded: it neither failed nor was cancelled.
  case success
  /// It succeeded, or did not run because one of its conditions was ignored: it had nothing to do.
  ///
  /// See `Procedure.ignoredCondition`.
  case successOrIgnored
}

extension DependencyRequirement {
  /// Why the dependent cannot run after a dependency that ended like this; nil if it can.
  @inline(__always)
  func objection(to dependency: Procedure) -> (any Error)? {
    if case .any = self { return nil }
    return realObjection(to: dependency)
  }

  private func realObjection(to dependency: Procedure) -> (any Error)? {
    let shortfall = dependency.shortfall
    switch self {
    case .notCancelled where shortfall?.code == .dependencyFailed: return nil
    case .successOrIgnored where dependency.ignoredCondition != nil: return nil
    case .any, .notCancelled, .success, .successOrIgnored: return shortfall
    }
  }
}
