internal import ProcedureExclusion
internal import ProcedurePrimitives

extension Procedure {
  /// Adds a condition. It is evaluated after earlier conditions, once all dependencies have
  /// finished.
  ///
  /// ```swift
  /// upload.add(condition: BlockCondition { !files.isEmpty })
  /// ```
  ///
  /// You may add it on any thread until the procedure starts; later it is a programmer error, and
  /// traps. If the procedure was cancelled, the call has no effect. If you add a dependency after
  /// conditions were evaluated, they are evaluated again.
  ///
  /// The call reads the condition's `name` and `exclusionLimits` once.
  ///
  /// - Returns: false if the procedure was cancelled before.
  @discardableResult
  public final func add(condition: some Condition) -> Bool {
    // Run the user's code before the lock is held, since it may call back.
    let entry = ConditionProgress.Entry(condition)
    var limits = CategoryLimits()
    for limit in condition.exclusionLimits { limits.add(limit.inner) }
    let (answer, state, followUp, released) = withCore { [limits] core in
      let (answer, state) = (core.life.prerequisiteAnswer, core.life.state)
      guard answer == .accepted else {
        return (answer, state, ProcedureList.FollowUp.nothing, MemberRequest?.none)
      }
      let effect =
        entry.asksForCategoriesOnly
        ? core.life.post(.exclusionAdded) : core.life.post(.conditionAdded)
      let earlier = effect == .wait ? core.list?.makeWaiting(self) : nil
      let request = core.attachments.with(StartRequirements.self) { requirements in
        let evaluation = requirements.value.evaluation ?? ConditionProgress()
        requirements.value.conditions = evaluation
        evaluation.append(entry)
        return requirements.value.exclusion.add(limits)
      }
      guard state == .pending else { return (answer, state, .nothing, request) }
      let followUp = core.advance(self, after: core.life.post(.goOn))
      return (answer, state, followUp.following(earlier ?? .nothing), request)
    }
    // The earlier exclusion request is released without the lock.
    _ = released
    if answer == .tooLate {
      stopBecauseOfMisuse(
        "Procedure '\(name)' is already \(state): add conditions before it starts.")
    }
    followUp.perform()
    return answer == .accepted
  }

  /// Adds several conditions, in order. See `add(condition:)`.
  ///
  /// ```swift
  /// upload.add(conditions: IsOnline(), BlockCondition { !files.isEmpty })
  /// ```
  public final func add(conditions: any Condition...) {
    add(conditions: conditions)
  }

  /// Adds an array of conditions of any types, in order. See `add(condition:)`.
  public final func add(conditions: [any Condition]) {
    for condition in conditions { add(condition: condition) }
  }

  /// The conditions added so far, in order; empty once the procedure has finished.
  public final var conditions: [any Condition] {
    peek { $0.requirements?.value.evaluation?.entries ?? .none }.map(\.condition)
  }

  /// The name of the condition that answered `.ignored`, and so ended this procedure before it ran.
  ///
  /// It is nil in all other cases, including a cancel from outside without errors, whose `outcome`
  /// is `.cancelled([])`, too.
  ///
  /// ```swift
  /// if let condition = upload.ignoredCondition { print("not needed: \(condition)") }
  /// ```
  ///
  /// You may read it on any thread. It is set before DidCancel observers are called, but after the
  /// handlers of the procedure's own cancellation token.
  public final var ignoredCondition: String? { peek { $0.ending?.value.ignoredCondition } }

  // MARK: Evaluating, in the procedure's turn

  fileprivate enum NextCondition: Sendable {
    case abandoned
    case prepare(any Condition)
    case evaluate(ConditionProgress.Entry)
    case satisfied(ProcedureList.FollowUp)
    case unsatisfied(ConditionResult, of: String)
  }

  final func evaluate(_ evaluation: ConditionProgress, onWorkerOf list: ProcedureList?) {
    let attempt = withCore { core in
      _ = core.life.post(.beginEvaluating)
      return core.life.attempt
    }
    var answer: ConditionResult?
    while true {
      let next = withCore { [answer] core in
        core.nextCondition(evaluation, of: self, in: attempt, after: answer, onWorkerOf: list)
      }
      answer = nil
      switch next {
      case .abandoned:
        return
      case .prepare(let condition):
        let prerequisites = condition.prerequisites(of: self)
        if !prerequisites.isEmpty, bring(prerequisites) { return }
      case .evaluate(let entry):
        switch entry.condition.begin(self) {
        case .answered(let result): answer = result
        case .asynchronous(let body): return awaitAnswer(of: entry.name, body, in: attempt)
        }
      case .satisfied(let followUp):
        followUp.perform()
        return
      case .unsatisfied(.failed(let error), _):
        cancel(withError: error)
        return
      case .unsatisfied(_, let condition):
        // This is the procedure's turn: DidCancel observers are called later.
        if cancel(withErrors: []) {
          withCore {
            $0.attachments.with(EndDetails.self) { $0.value.ignoredCondition = condition }
          }
        }
        return
      }
    }
  }

  private func awaitAnswer(
    of condition: String, _ body: @escaping @Sendable () async throws -> ConditionResult,
    in attempt: UInt32
  ) {
    let start: (serial: UInt64, context: SchedulingContext)? = withCore { core in
      guard core.life.isEvaluating(attempt), let list = core.list,
        let serial = core.requirements?.value.evaluation?.expectAnswer()
      else { return nil }
      core.record?.note { $0.ask(condition, at: $1) }
      return (serial, list.context)
    }
    guard let (serial, context) = start else { return }
    let task = Task(executorPreference: context) {
      let result = await ConditionEvaluation.asynchronous(body).result
      var released: Task<Void, Never>?
      self.note { core in
        guard let task = core.requirements?.value.evaluation?.receive(result, for: serial) else {
          return .none
        }
        released = task
        return core.life.post(.conditionAnswered)
      }
      _ = released
    }
    let isWanted = withCore { $0.requirements?.value.evaluation?.keep(task, for: serial) ?? false }
    if !isWanted { task.cancel() }
  }

  // MARK: Prerequisites

  /// Makes the procedure wait for prerequisites, and adds them where needed. False if the
  /// evaluation was abandoned.
  ///
  /// If a dependency is added meanwhile, the procedure waits for it and for all prerequisites.
  private func bring(_ procedures: [Procedure]) -> Bool {
    if procedures.contains(self) {
      stopBecauseOfMisuse(
        "A condition of procedure '\(name)' brings that procedure itself: it would wait for ever.")
    }
    let links = procedures.map { Dependency(on: $0) }
    let start: (list: ProcedureList, first: Int, ProcedureList.FollowUp)? = withCore { core in
      guard core.life.mayStart, let list = core.list, let requirements = core.requirements
      else { return nil }
      let first = requirements.value.prerequisites.count
      for link in links { link.arm(for: self) }
      requirements.value.prerequisites += links.map { Prerequisite(link: $0) }
      let effect = core.life.post(.conditionBrings(procedures.count))
      return (list, first, effect == .wait ? list.makeWaiting(self) : .nothing)
    }
    guard let (list, first, followUp) = start else { return false }
    followUp.perform()
    for (offset, link) in links.enumerated() {
      // Several conditions may return the same prerequisite: the first to claim it adds it.
      if link.dependency.claimAsPrerequisite() {
        list.add(link.dependency, as: .prerequisite)
        // The requirements are nil if this procedure has finished in between.
        withCore { $0.requirements?.value.prerequisites[first + offset].isOurs = true }
      }
      Dependency.enter(link)
    }
    return true
  }

  /// True for one caller, which then adds this procedure to a queue; false if it is on one, or was
  /// claimed before.
  private func claimAsPrerequisite() -> Bool {
    withCore { core in
      guard core.life.state == .initialized else { return false }
      return core.attachments.with(StartRequirements.self) { requirements in
        defer { requirements.value.isClaimed = true }
        return !requirements.value.isClaimed
      }
    }
  }
}

extension ProcedureCore {
  /// Decides the next step of the evaluation, from the answer to the previous one.
  fileprivate mutating func nextCondition(
    _ evaluation: ConditionProgress, of procedure: Procedure, in attempt: UInt32,
    after answer: ConditionResult?, onWorkerOf list: ProcedureList?
  ) -> Procedure.NextCondition {
    guard life.isEvaluating(attempt) else { return .abandoned }
    switch answer ?? evaluation.takeAnswer() {
    case .satisfied: evaluation.advance()
    case .some(let result): return .unsatisfied(result, of: evaluation.current?.name ?? "")
    case nil: break
    }
    if let entry = evaluation.current {
      return evaluation.prepare() ? .prepare(entry.condition) : .evaluate(entry)
    }
    let effect = life.post(.conditionsSatisfied)
    return .satisfied(advance(procedure, after: effect, onWorkerOf: list))
  }
}

extension StartRequirements.Value {
  /// Conditions are added here only.
  fileprivate var evaluation: ConditionProgress? { conditions as? ConditionProgress }
}
