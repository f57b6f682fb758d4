internal import ProcedurePrimitives

/// Carries something from a dependency that has finished to its dependent, before that can start.
///
/// The user's code in it belongs to the dependent, and is called in its turn. An error cancels the
/// dependent with it.
final class HandOver: Sendable {
  typealias Transfer = @Sendable (_ dependency: Procedure, _ dependent: Procedure) -> (any Error)?

  let body: Transfer

  init(_ body: @escaping Transfer) {
    self.body = body
  }
}

extension Procedure {
  /// A dependency has finished that hands something over: on this worker if that is where this
  /// procedure's turns run and its turn is free, in its next turn otherwise.
  final func take(_ handOver: HandOver, from dependency: Procedure, on worker: Worker?) {
    enum Moment: Sendable {
      case now
      case later(turnOn: ReadyList?)
    }
    let moment: Moment = update { core in
      guard !core.machine.isCancelled else { return .later(turnOn: nil) }
      if let worker, core.runs(on: worker), core.machine.post(.takeTurn) == .turn { return .now }
      core.withRarities {
        $0.requirements.handOvers.append(Edge(other: dependency, rule: .handOver(handOver)))
      }
      let takesTurn = core.machine.post(.handOver) == .turn
      return .later(turnOn: takesTurn ? core.home ?? .detached : nil)
    }
    switch moment {
    case .now:
      carryOut(handOver, from: dependency)
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
    }
  }

  /// Carries out those that have waited for the turn, which is held by the caller.
  ///
  /// - Parameter list: the list whose worker this is, which will look for more there.
  final func carryOutHandOvers(onWorkerOf list: ReadyList?) {
    while let edge = read({ core in
      core.machine.isCancelled ? nil : core.rarities?.requirements.handOvers.popFirst()
    }), case .handOver(let handOver) = edge.rule {
      carryOut(handOver, from: edge.other)
      dependencyFinished(onWorkerOf: list, after: edge.other.recordID)
    }
  }

  private func carryOut(_ handOver: HandOver, from dependency: Procedure) {
    if let objection = handOver.body(dependency, self) { cancel(withError: objection) }
    guard dependency.isDoneOnceHandedOver else { return }
    let released = read { $0.forget(dependency) }
    _ = consume released
  }

  /// A dependency has finished whose output, as it is stored, is the input of this procedure.
  ///
  /// No code of the user's is called for that, so it needs no turn.
  final func takeOutput(of dependency: Procedure, on worker: Worker?) {
    let isGiven = dependency.isDoneOnceHandedOver
    var value = isGiven ? dependency.storedOutput : nil
    if let objection = dependency.objectionToHandOver(of: value) { cancel(withError: objection) }
    // What is replaced, and the dependency, are released after the lock.
    var released = SmallList<Edge>()
    let record = dependency.recordID
    let aftermath: ReadyList.Aftermath? = read { core in
      guard !core.machine.isRetired else { return nil }
      if !core.machine.isCancelled { core.withExtras { swap(&$0.input, &value) } }
      if isGiven { released = core.forget(dependency) }
      return core.countDependency(of: self, onWorkerOf: worker?.list, after: record)
    }
    aftermath?.carryOut()
    _ = consume released
  }

  /// Why there is nothing to be handed over; nil if there is.
  private func objectionToHandOver(of output: StoredValue?) -> (any Error)? {
    if let shortfall { return shortfall }
    guard let output else { return ProcedureError.requirementNotSatisfied(name) }
    return output.failure.map { ProcedureError.dependencyFailed(name, [$0]) }
  }
}

extension ProcedureCore {
  /// A dependency has handed over what it had to, and is not needed any more.
  ///
  /// Of many dependencies, so as not to search a long list for each, all leave with the last.
  ///
  /// - Returns: what is to be released without the lock.
  fileprivate mutating func forget(_ dependency: Procedure) -> SmallList<Edge> {
    let isLast = machine.isLastDependency
    return withExistingExtras { extras in
      var released = SmallList<Edge>()
      if extras.dependencies.count <= 64 {
        let index = extras.dependencies.firstIndex { $0.other === dependency && $0.isDone }
        if let index { released.append(extras.dependencies.remove(at: index)) }
      } else if isLast {
        released = extras.dependencies
        extras.dependencies = released.keeping { !$0.isDone }
      }
      return released
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
