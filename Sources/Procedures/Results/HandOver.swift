internal import ProcedurePrimitives

/// A dependency that hands something over, before its dependent can start.
///
/// The user's code in it belongs to the dependent, and is called in its turn: at once on the dependency's worker, if
/// the dependent's turns run there and its turn is free; in its next turn otherwise.
class HandOver: Dependency, @unchecked Sendable {
  /// Hands it over. Called in the dependent's turn, once the dependency has finished.
  ///
  /// - Returns: what the dependent is to be cancelled with, if it cannot go on.
  func transfer(to dependent: Procedure) -> (any Error)? {
    preconditionFailure("Internal inconsistency: a hand-over of nothing")
  }

  /// One that failed or was cancelled is still needed: a condition may ask for it.
  override final var isDone: Bool { isSettled && dependency.isDoneOnceHandedOver }

  override func letGo(_ dependent: Procedure, on worker: Worker?) {
    enum Moment: Sendable {
      case now
      case later(takesTurn: Bool)
    }
    let moment: Moment = dependent.update { core in
      // 1. A cancelled one waits for nothing, and is handed nothing.
      guard !core.life.isCancelled else { return .later(takesTurn: false) }
      // 2. A turn of one step, on this worker.
      if let worker, core.runs(on: worker), core.life.post(.takeTurn) == .turn { return .now }
      // 3. A step of its next turn.
      core.attachments.with(StartRequirements.self) { $0.handOvers.append(self) }
      return .later(takesTurn: core.life.post(.handOver) == .turn)
    }
    switch moment {
    case .now:
      carryOut(for: dependent)
      let record = dependency.recordID
      let (followUp, goesOn) = dependent.update { core in
        let followUp = core.countDependency(
          of: dependent, onWorkerOf: worker?.list, after: record)
        return (followUp, core.life.post(.giveBackTurn) == .turn)
      }
      followUp.perform()
      if goesOn { dependent.requestTurn() }
    case .later(let takesTurn):
      if takesTurn { dependent.requestTurn() }
    }
  }

  override final func carryOut(for dependent: Procedure) {
    if let objection = transfer(to: dependent) { dependent.cancel(withError: objection) }
    guard dependency.isDoneOnceHandedOver else { return }
    var released = dependent.read { $0.forget(self) }
    released.release()
  }
}

/// A closure hands something over.
private final class ClosureHandOver: HandOver, @unchecked Sendable {
  typealias Closure = @Sendable (_ dependency: Procedure, _ dependent: Procedure) -> (any Error)?

  /// Used by the thread that changed the status.
  @safe @exclusivity(unchecked) private var body: Closure?

  init(from dependency: Procedure, _ body: @escaping Closure) {
    self.body = body
    super.init(on: dependency)
  }

  override func transfer(to dependent: Procedure) -> (any Error)? { body?(dependency, dependent) }

  override func wasRevoked() { body = nil }
}

/// The output, as it is stored, becomes the input: of two procedures whose types agree, and that both keep them behind
/// their locks.
private final class OutputHandOver: HandOver, @unchecked Sendable {
  override func letGo(_ dependent: Procedure, on worker: Worker?) {
    if !handOverAtOnce(to: dependent, on: worker) { super.letGo(dependent, on: worker) }
  }

  /// No code of the user's is called, so this takes no turn; but none may run, and no earlier hand-over wait.
  ///
  /// - Returns: false if something is in its way, or there is no value.
  private func handOverAtOnce(to dependent: Procedure, on worker: Worker?) -> Bool {
    guard dependency.isDoneOnceHandedOver else { return false }
    // The old value and the dependency are released after the lock.
    var input = dependency.storedOutput
    guard input.isValue else { return false }
    let record = dependency.recordID
    let (taken, followUp) = dependent.read {
      core -> (Dependencies?, ProcedureList.FollowUp) in
      guard let released = core.takeInput(&input, of: self) else { return (nil, .nothing) }
      return (
        released, core.countDependency(of: dependent, onWorkerOf: worker?.list, after: record)
      )
    }
    followUp.perform()
    guard var released = taken else { return false }
    released.release()
    return true
  }

  override func transfer(to dependent: Procedure) -> (any Error)? {
    if let shortfall = dependency.shortfall { return shortfall }
    let output = dependency.storedOutput
    if output.isEmpty { return dependency.lacksOutput }
    if let failure = output.failure { return dependency.hasFailed(with: failure) }
    dependent.storedInput = output
    return nil
  }
}

extension Procedure {
  /// Makes the output of `source`, as it is stored, the input of this procedure, if both are classes that keep
  /// them so.
  @usableFromInline
  final func takesOutput(of source: Procedure) -> Bool {
    guard keepsInput, source.keepsOutput else { return false }
    add(OutputHandOver(on: source))
    return true
  }

  /// Calls `transfer` with `source` and this procedure, in this one's turn, when `source` has finished.
  @usableFromInline
  final func takeOver(
    from source: Procedure,
    _ transfer:
      @escaping @Sendable (_ dependency: Procedure, _ dependent: Procedure) -> (any Error)?
  ) {
    add(ClosureHandOver(from: source, transfer))
  }

  /// The error that cancels a target if this made no output.
  @usableFromInline final var lacksOutput: any Error {
    ProcedureError(.requirementNotSatisfied, of: name)
  }

  /// The error that cancels a target if this made an error in place of an output.
  @usableFromInline
  final func hasFailed(with error: any Error) -> any Error {
    ProcedureError(.dependencyFailed, of: name, because: [error])
  }

  fileprivate final var isDoneOnceHandedOver: Bool { isFinished && !isCancelled && !failed }
}

extension ProcedureCore {
  /// - Returns: nil if something is in its way; otherwise references, with the former value, to be released without the lock.
  @inline(never)
  fileprivate mutating func takeInput(
    _ input: inout StoredValue, of handOver: OutputHandOver
  ) -> Dependencies? {
    guard life.mayStillTake, requirements?.handOvers.first == nil else { return nil }
    attachments.with(Values.self) { swap(&$0.input, &input) }
    return forget(handOver)
  }

  /// - Returns: references to be released without the lock.
  fileprivate mutating func forget(_ handOver: HandOver) -> Dependencies {
    // A procedure that was cancelled may have left others behind.
    let isLast = life.state > .pending || life.isLastDependency
    return dependencies.forget(handOver, isLast: isLast)
  }
}
