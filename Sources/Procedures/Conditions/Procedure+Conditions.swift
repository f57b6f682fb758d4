internal import ProcedurePrimitives

extension Procedure {
  /// Adds a condition, evaluated after those added before, when all dependencies have finished.
  ///
  /// ```swift
  /// upload.add(condition: BlockCondition { !files.isEmpty })
  /// ```
  ///
  /// It can be added until the procedure starts, from any thread; later it is a programmer error, and
  /// traps. On a procedure that was cancelled there is nothing left to decide, and nothing changes. A
  /// dependency that is added after conditions were evaluated has them evaluated again.
  ///
  /// - Returns: false if it was cancelled before.
  @discardableResult
  public final func add(condition: some Condition) -> Bool {
    let addition: ConditionAddition = read { core in
      switch core.machine.prerequisiteAnswer {
      case .accepted: break
      case .pointless: return .pointless
      case .tooLate: return .tooLate(core.machine.state)
      }
      core.withRarities { rarities in
        let progress = rarities.conditions ?? ConditionProgress()
        rarities.conditions = progress
        progress.append(condition)
        progress.request = nil
      }
      let mustWait = core.machine.conditionAdded()
      guard core.machine.state == .pending else { return .added(nil) }
      var aftermath = mustWait ? core.home?.makeWaiting(self) : nil
      if let more = core.advance(self, to: core.machine.becomeReady()) {
        aftermath = more.following(aftermath)
      }
      return .added(aftermath)
    }
    switch addition {
    case .pointless:
      return false
    case .tooLate(let state):
      stopBecauseOfMisuse(
        "Procedure '\(name)' is already \(state): add conditions before it starts.")
    case .added(let aftermath):
      aftermath?.carryOut()
      return true
    }
  }

  /// The conditions added so far, in order; empty once it has finished.
  public final var conditions: [any Condition] {
    read { $0.rarities?.conditions?.conditions ?? [] }
  }

  // MARK: Evaluating, in the procedure's turn

  private enum ConditionAddition: Sendable {
    case pointless
    case tooLate(ProcedureState)
    case added(ReadyList.Aftermath?)
  }

  fileprivate enum NextCondition: Sendable {
    case abandoned
    case prepare(any Condition)
    case evaluate(any Condition)
    /// All are satisfied, and the procedure excludes others, for which its groups must be known.
    case ask([ExclusionCategory], ReadyList)
    case satisfied(ReadyList.Aftermath?)
    case unsatisfied(ConditionResult)
  }

  /// Goes through the conditions until one must be waited for, or one is not satisfied.
  ///
  /// - Parameter list: the list whose worker this is, which will look for more there; nil if it will
  ///   look elsewhere.
  final func evaluateConditions(onWorkerOf list: ReadyList?) {
    let attempt = read { $0.machine.beginEvaluating() }
    var answer: ConditionResult?
    var isPrepared = false
    var request: ExclusionRequest?
    while true {
      let next = read { [answer, isPrepared, request] core in
        core.nextCondition(
          of: self, in: attempt, after: answer, isPrepared: isPrepared, request, onWorkerOf: list)
      }
      (answer, isPrepared) = (nil, false)
      switch next {
      case .abandoned:
        return
      case .prepare(let condition):
        let prerequisites = condition.prerequisites(of: self)
        if !prerequisites.isEmpty, bring(prerequisites) { return }
        isPrepared = true
      case .evaluate(let condition):
        switch condition.begin(self) {
        case .answered(let result): answer = result
        case .asynchronous(let body): return awaitAnswer(of: condition, body, in: attempt)
        }
      case .ask(let categories, let home):
        request = ExclusionRequest(categories, for: self, in: home, lineage: exclusiveGroups)
      case .satisfied(let aftermath):
        aftermath?.carryOut()
        return
      case .unsatisfied(.failed(let error)):
        cancel(withError: error)
        return
      case .unsatisfied:
        cancel()
        return
      }
    }
  }

  private func awaitAnswer(
    of condition: any Condition, _ body: @escaping @Sendable () async throws -> ConditionResult,
    in attempt: UInt32
  ) {
    let start: (serial: UInt64, context: SchedulingContext)? = read { core in
      guard core.machine.isEvaluating(attempt), let home = core.home,
        let serial = core.rarities?.conditions?.expectAnswer()
      else { return nil }
      return (serial, home.context)
    }
    guard let (serial, context) = start else { return }
    watchAnswer(of: condition.name, serial, on: context)
    let task = Task(executorPreference: context.executor) {
      let result = await ConditionEvaluation.asynchronous(body).result
      self.note { core in
        guard core.rarities?.conditions?.receive(result, for: serial) == true else { return .none }
        return core.machine.conditionAnswered()
      }
    }
    let isWanted = read { $0.rarities?.conditions?.keep(task, for: serial) ?? false }
    if !isWanted { task.cancel() }
  }

  /// The procedure was cancelled: nobody waits for its conditions any more.
  final func abandonConditions() {
    let (task, prerequisites) = read { core in
      guard let progress = core.rarities?.conditions else {
        return (Task<Void, Never>?.none, [ConditionProgress.Prerequisite]())
      }
      return (progress.abandon(), progress.prerequisites)
    }
    task?.cancel()
    for prerequisite in prerequisites where prerequisite.isOurs { prerequisite.procedure.cancel() }
  }

  // MARK: What conditions bring

  /// Has procedures run before a condition is evaluated; false if that was abandoned.
  ///
  /// A dependency that is added meanwhile does not lose them: all are waited for.
  private func bring(_ procedures: [Procedure]) -> Bool {
    if procedures.contains(self) {
      stopBecauseOfMisuse(
        "A condition of procedure '\(name)' brings that procedure itself: it would wait for ever.")
    }
    let start: (home: ReadyList, first: Int, ReadyList.Aftermath?)? = read { core in
      guard core.machine.mayStart, let home = core.home, let progress = core.rarities?.conditions
      else { return nil }
      let first = progress.prerequisites.count
      progress.prerequisites += procedures.map { .init(procedure: $0) }
      let mustWait = core.machine.conditionBrings(procedures.count)
      return (home, first, mustWait ? home.makeWaiting(self) : nil)
    }
    guard let (home, first, aftermath) = start else { return false }
    aftermath?.carryOut()
    for (offset, procedure) in procedures.enumerated() {
      // Several conditions may bring the same one: it is added by whoever is first.
      let isOurs = procedure.claimAsPrerequisite()
      if isOurs { home.add(procedure, as: .need) }
      let demand = DependencyDemand.requirement(.any)
      let key = procedure.addDependent(Dependent(procedure: self, demand: demand))
      let isKept = read { core in
        guard !core.machine.isRetired, let progress = core.rarities?.conditions else {
          return false
        }
        progress.prerequisites[first + offset].isOurs = isOurs
        progress.prerequisites[first + offset].key = key
        return true
      }
      // It has finished, or this one has: otherwise it will tell.
      guard let key else {
        dependencyFinished()
        continue
      }
      if !isKept, procedure.removeDependent(key) { dependencyFinished() }
    }
    return true
  }

  /// True for the one condition that is to add it: it is on no queue, and none other will.
  private func claimAsPrerequisite() -> Bool {
    read { core in
      guard core.machine.state == .initialized else { return false }
      return core.withRarities { rarities in
        defer { rarities.isClaimed = true }
        return !rarities.isClaimed
      }
    }
  }

  // MARK: Groups that exclude others

  /// The groups around this one that are exclusive themselves: they have started, so that they hold
  /// what they asked for.
  private var exclusiveGroups: Set<ObjectIdentifier> {
    var groups: Set<ObjectIdentifier> = []
    var group = read { $0.home }?.group
    while let next = group {
      let (isExclusive, home) = next.read { ($0.isExclusive, $0.home) }
      if isExclusive { groups.insert(ObjectIdentifier(next)) }
      group = home?.group
    }
    return groups
  }
}

extension ProcedureCore {
  /// One step of the evaluation, after the answer of the step before.
  fileprivate mutating func nextCondition(
    of procedure: Procedure, in attempt: UInt32, after answer: ConditionResult?, isPrepared: Bool,
    _ request: ExclusionRequest?, onWorkerOf list: ReadyList?
  ) -> Procedure.NextCondition {
    guard machine.isEvaluating(attempt), let progress = rarities?.conditions, let home else {
      return .abandoned
    }
    switch answer ?? progress.takeAnswer() {
    case .satisfied: progress.advance()
    case .some(let result): return .unsatisfied(result)
    case nil: break
    }
    if let condition = progress.current {
      return !isPrepared && progress.prepare() ? .prepare(condition) : .evaluate(condition)
    }
    if !progress.exclusions.isEmpty {
      guard let request else { return .ask(progress.exclusions, home) }
      progress.request = request
    }
    return .satisfied(
      advance(procedure, to: machine.conditionsSatisfied(), onWorkerOf: list))
  }
}
