internal import ProcedurePrimitives

extension Procedure {
  /// Makes this procedure wait until `dependency` has finished.
  ///
  /// Order, not success: it also runs after a dependency that failed or was cancelled. The
  /// dependency may be on another queue. It must be added to one, or this procedure waits.
  ///
  /// Adding a dependency on itself, or after it started, is a programmer error and traps. A procedure
  /// that was cancelled waits for nothing: then nothing changes, also after it started.
  ///
  /// - Returns: false if it was cancelled before.
  @discardableResult
  public final func add(dependency: Procedure) -> Bool {
    add(dependency: dependency, by: .requirement(.any))
  }

  /// Waits for another procedure, and asks of it how it must have ended.
  ///
  /// ```swift
  /// upload.add(dependency: resize, requiring: .success)
  /// ```
  ///
  /// If `dependency` ends otherwise, this procedure is cancelled as soon as that has finished, with
  /// `ProcedureError.Code.dependencyFailed` or `.dependencyCancelled`, whatever else it waits for.
  ///
  /// - Returns: false if it was cancelled before.
  @discardableResult
  public final func add(
    dependency: Procedure, requiring requirement: DependencyRequirement
  ) -> Bool {
    add(dependency: dependency, by: .requirement(requirement))
  }

  @discardableResult
  final func add(dependency: Procedure, by rule: EdgeRule) -> Bool {
    if dependency === self {
      stopBecauseOfMisuse(
        "Procedure '\(name)' cannot depend on itself: it would wait for ever. Remove the dependency."
      )
    }
    // Mostly it is on no queue yet.
    let isNoted = read { core in
      guard core.machine.state == .initialized, !core.machine.isCancelled else { return false }
      _ = core.addDependency(on: dependency, by: rule)
      return true
    }
    return isNoted || wait(forAdded: dependency, by: rule)
  }

  /// Adds a dependency to one that is on a queue already, or was cancelled.
  private func wait(forAdded dependency: Procedure, by rule: EdgeRule) -> Bool {
    enum Next: Sendable {
      case pointless
      case tooLate(ProcedureState)
      case wait(
        index: Int, ReadyList.Aftermath?, AbandonedEvaluation?, released: ExclusionRequest?)
    }
    let next: Next = read { core in
      switch core.machine.prerequisiteAnswer {
      case .accepted: break
      case .pointless: return .pointless
      case .tooLate: return .tooLate(core.machine.state)
      }
      let index = core.addDependency(on: dependency, by: rule)
      // Ready or taken, it goes back to waiting, and a slot that it had becomes free.
      let effect = core.machine.post(.dependencyAdded)
      let evaluation = core.requirements?.conditions?.restart()
      let request = core.requirements?.exclusion?.takeRequest()
      let aftermath = effect == .wait ? core.home?.makeWaiting(self) : nil
      return .wait(index: index, aftermath, evaluation, released: request)
    }
    switch next {
    case .pointless:
      return false
    case .tooLate(let state):
      stopBecauseOfMisuse(
        "Procedure '\(name)' is already \(state): add dependencies before it starts.")
    case .wait(let index, let aftermath, let evaluation, _):
      aftermath?.carryOut()
      evaluation?.task?.cancel()
      let list = listForTurns
      list.context.supervisor.noteStuck(list)
      wait(for: dependency, rule, at: index)
    }
    return true
  }

  /// Makes this procedure wait for several others: an array of some subclass, a set, a lazy map.
  public final func add<Dependencies: Sequence>(dependencies: Dependencies)
  where Dependencies.Element: Procedure {
    for dependency in Array(dependencies) { add(dependency: dependency) }
  }

  /// Makes this procedure wait for several others.
  public final func add(dependencies: Procedure...) {
    for dependency in dependencies { add(dependency: dependency) }
  }

  /// Takes a dependency back. Without effect once it finished, or this procedure started.
  ///
  /// If it was the last one that is missing, this procedure may start before the call returns. So to replace a
  /// dependency of one that is on a queue, add the new one first:
  ///
  /// ```swift
  /// report.add(dependency: cached)
  /// report.remove(dependency: download)
  /// ```
  ///
  /// Amortised O(1), however many there are.
  public final func remove(dependency: Procedure) {
    let removed: [Edge] = read { core in
      guard core.machine.prerequisiteAnswer == .accepted else { return [] }
      return core.removeDependencies(on: dependency)
    }
    for edge in removed {
      if let key = edge.key, dependency.removeDependent(key) { dependencyFinished() }
    }
  }

  /// The procedures that this one waits for, or waited for until it finished.
  public final var dependencies: [Procedure] {
    read { $0.dependencies.map(\.other) }
  }

  // MARK: Waiting

  /// Waits for all that it depended on when it was enqueued, which have been counted.
  final func wait(for dependencies: consuming SmallList<Edge>) {
    switch consume dependencies {
    case .none:
      break
    case .one(let edge):
      wait(for: edge.other, edge.rule, at: 0)
    case .many(let edges):
      for (index, edge) in edges.enumerated() {
        wait(for: edge.other, edge.rule, at: index)
      }
    }
  }

  /// Waits for `dependency`, which has been counted.
  ///
  /// - Parameter index: where it is in the list of dependencies, unless others were removed.
  final func wait(for dependency: Procedure, _ rule: EdgeRule, at index: Int) {
    guard let key = dependency.addDependent(self, by: rule) else {
      return dependencyFinished(dependency, rule)
    }
    let isKept = read { $0.setKey(key, of: dependency, by: rule, near: index) }
    // This one has finished, or the dependency was removed, in between.
    if !isKept, dependency.removeDependent(key) {
      let revoked = read { $0.takeRevoked(dependency, rule) }
      _ = consume revoked
      dependencyFinished()
    }
  }

  /// A dependency has finished, and either makes an end of this procedure too or lets it go on.
  ///
  /// - Parameter worker: the worker that finished it; nil on the stack of a caller.
  final func dependencyFinished(
    _ dependency: Procedure, _ rule: EdgeRule, on worker: Worker? = nil
  ) {
    switch rule {
    case .requirement(let requirement):
      if let objection = requirement.objection(to: dependency),
        read({ $0.takeRevoked(dependency, rule) }) == nil
      {
        cancel(withError: objection)
      }
      dependencyFinished(onWorkerOf: worker?.list, after: dependency.recordID)
    case .output, .handOver:
      take(rule, from: dependency, on: worker)
    }
  }

  /// A dependency is done, or was removed, and makes this procedure ready if it was the last.
  ///
  /// - Parameters:
  ///   - list: the list whose worker this is, which will look for more there.
  ///   - record: that of the dependency, if it is one and has a record.
  final func dependencyFinished(
    onWorkerOf list: ReadyList? = nil, after record: RecordID? = nil
  ) {
    let aftermath = read { $0.countDependency(of: self, onWorkerOf: list, after: record) }
    aftermath?.carryOut()
  }

  /// Its place among the dependents to notify; nil if it has finished.
  final func addDependent(
    _ dependent: Procedure, by rule: EdgeRule
  ) -> DependentList.Key? {
    read { core in
      guard !core.machine.isRetired else { return nil }
      return core.appendDependent(dependent, by: rule)
    }
  }

  /// True if the dependent had not been notified yet, and now will not be.
  final func removeDependent(_ key: DependentList.Key) -> Bool {
    let removed = read { $0.removeDependent(key) }
    return removed != nil
  }
}
