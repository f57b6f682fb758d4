internal import ProcedurePrimitives

/// Carries something from a dependency that has finished to its dependent, before that can start.
///
/// The user's code in it belongs to the dependent, and is called in its turn. An error cancels the
/// dependent with it.
final class HandOver: @unchecked Sendable {
  typealias Transfer = @Sendable (_ dependency: Procedure, _ dependent: Procedure) -> (any Error)?

  let dependency: Procedure
  let body: Transfer
  /// While it is the first dependent of the other, where both find it. Guarded by the lock of `dependency`, and in
  /// its last turn by that.
  @safe @exclusivity(unchecked) var dependent: Procedure?

  init(from dependency: Procedure, _ body: @escaping Transfer) {
    self.dependency = dependency
    self.body = body
  }
}

extension Procedure {
  /// Makes the output of `source`, as it is stored, the input of this procedure, if both are classes that keep
  /// them so.
  @usableFromInline
  final func takesOutput(of source: Procedure) -> Bool {
    guard keepsInput, source.keepsOutput else { return false }
    add(dependency: source, by: .output)
    return true
  }

  /// Has `transfer` called with `source` and this procedure, in its turn, when `source` has finished.
  @usableFromInline
  final func takeOver(
    from source: Procedure,
    _ transfer:
      @escaping @Sendable (_ dependency: Procedure, _ dependent: Procedure) -> (any Error)?
  ) {
    add(dependency: source, by: .handOver(HandOver(from: source, transfer)))
  }

  /// What a target is cancelled with if this made no output.
  @usableFromInline final var lacksOutput: any Error {
    ProcedureError.requirementNotSatisfied(name)
  }

  /// What a target is cancelled with if this made an error in place of an output.
  @usableFromInline
  final func hasFailed(with error: any Error) -> any Error {
    ProcedureError.dependencyFailed(name, [error])
  }

  /// A dependency has finished that hands something over, by that rule: at once if it is an output and nothing
  /// is in its way; on this worker if that is where this procedure's turns run and its turn is free; in its
  /// next turn otherwise.
  final func take(_ rule: EdgeRule, from dependency: Procedure, on worker: Worker?) {
    if case .output = rule, takeOutputAtOnce(of: dependency, on: worker) { return }
    enum Moment: Sendable {
      case now
      case later(turnOn: ReadyList?)
      /// It was taken back, before this was known at the other end.
      case never(Edge)
    }
    let moment: Moment = update { core in
      guard !core.machine.isCancelled else { return .later(turnOn: nil) }
      if let revoked = core.takeRevoked(dependency, rule) { return .never(revoked) }
      if let worker, core.runs(on: worker), core.machine.post(.takeTurn) == .turn { return .now }
      core.attachments.with(StartRequirements.self) {
        $0.handOvers.append(Edge(other: dependency, rule: rule))
      }
      let takesTurn = core.machine.post(.handOver) == .turn
      return .later(turnOn: takesTurn ? core.home ?? .detached : nil)
    }
    switch moment {
    case .now:
      carryOut(rule, from: dependency)
      let record = dependency.recordID
      let (aftermath, list): (ReadyList.Aftermath?, ReadyList?) = update { core in
        let aftermath = core.countDependency(of: self, onWorkerOf: worker?.list, after: record)
        let goesOn = core.machine.post(.giveBackTurn) == .turn
        return (aftermath, goesOn ? core.home ?? .detached : nil)
      }
      aftermath?.carryOut()
      list?.requestTurn(of: self)
    case .later(let list):
      list?.requestTurn(of: self)
    case .never:
      dependencyFinished(onWorkerOf: worker?.list, after: dependency.recordID)
    }
  }

  /// The output, as it is stored, is the input from here on. No code of the user's is called for that, so it
  /// takes no turn; but none may run, and no other hand-over wait, which is the earlier one.
  ///
  /// - Returns: false if something is in its way, or there is no value.
  private func takeOutputAtOnce(of dependency: Procedure, on worker: Worker?) -> Bool {
    guard dependency.isDoneOnceHandedOver else { return false }
    // What is replaced, and the dependency, are released after the lock.
    var input = dependency.storedOutput
    guard input.isValue else { return false }
    let record = dependency.recordID
    var released = SmallList<Edge>()
    var isTaken = false
    let aftermath: ReadyList.Aftermath? = read { core in
      if let revoked = core.takeRevoked(dependency, .output) {
        isTaken = true
        released = .one(revoked)
        return core.countDependency(of: self, onWorkerOf: worker?.list, after: record)
      }
      guard core.machine.mayStillTake, core.requirements?.handOvers.first == nil else { return nil }
      isTaken = true
      core.attachments.with(Values.self) { swap(&$0.input, &input) }
      released = core.forget(dependency)
      return core.countDependency(of: self, onWorkerOf: worker?.list, after: record)
    }
    aftermath?.carryOut()
    _ = consume released
    return isTaken
  }

  /// Carries out those that have waited for the turn, which is held by the caller.
  ///
  /// - Parameter list: the list whose worker this is, which will look for more there.
  final func carryOutHandOvers(onWorkerOf list: ReadyList?) {
    while let edge = read({ core in
      core.machine.isCancelled ? nil : core.requirements?.handOvers.popFirst()
    }) {
      carryOut(edge.rule, from: edge.other)
      dependencyFinished(onWorkerOf: list, after: edge.other.recordID)
    }
  }

  private func carryOut(_ rule: EdgeRule, from dependency: Procedure) {
    let objection: (any Error)? =
      switch rule {
      case .requirement: nil
      case .output: takeOutput(of: dependency)
      case .handOver(let handOver): handOver.body(dependency, self)
      }
    if let objection { cancel(withError: objection) }
    guard dependency.isDoneOnceHandedOver else { return }
    let released = read { $0.forget(dependency) }
    _ = consume released
  }

  /// - Returns: why there is nothing to be handed over.
  private func takeOutput(of dependency: Procedure) -> (any Error)? {
    if let shortfall = dependency.shortfall { return shortfall }
    let output = dependency.storedOutput
    if output.isEmpty { return dependency.lacksOutput }
    if let failure = output.failure { return dependency.hasFailed(with: failure) }
    storedInput = output
    return nil
  }
}

extension ProcedureCore {
  /// A dependency has handed over what it had to, and is not needed any more.
  ///
  /// - Returns: what is to be released without the lock.
  fileprivate mutating func forget(_ dependency: Procedure) -> SmallList<Edge> {
    // One that was cancelled may have left them behind.
    let isLast = machine.state > .pending || machine.isLastDependency
    if let only = onlyDependency.dependency {
      guard only.other === dependency, only.isDone else { return SmallList() }
      return takeDependencies()
    }
    return attachments.withExisting(Connections.self) {
      $0.forget(dependency, isLast: isLast, where: \.isDone)
    } ?? SmallList()
  }
}

extension Edge {
  /// Whether something was to be handed over, and nothing is left to know of the dependency.
  fileprivate var isDone: Bool {
    if case .requirement = rule { false } else { other.isDoneOnceHandedOver }
  }
}

extension Procedure {
  /// One that failed or was cancelled is still needed: a condition may ask for it.
  fileprivate final var isDoneOnceHandedOver: Bool { isFinished && !isCancelled && !failed }
}
