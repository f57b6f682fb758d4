internal import ProcedurePrimitives

/// A dependency that hands something over, before its dependent can start.
///
/// The user's code in it belongs to the dependent, and is called in the dependent's next turn: not before the dependency
/// has left its list, with its slot and its categories, since that code may block for what waits for these.
class HandOver: Dependency, @unchecked Sendable {
  /// Hands it over. Called in the dependent's turn, once the dependency has finished.
  ///
  /// - Throws: the error with which the dependent is cancelled, if it cannot go on.
  func transfer(to dependent: Procedure) throws {
    stopBecauseOfInconsistency("Internal inconsistency: a hand-over of nothing")
  }

  /// One that failed or was cancelled is still needed: a condition may ask for it.
  override final var isDone: Bool { isSettled && dependency.isDoneOnceHandedOver }

  override func letGo(_ dependent: Procedure, on worker: Worker?) {
    dependent.note(onWorkerOf: worker?.list) { core in
      // A cancelled one waits for nothing, and is handed nothing.
      guard !core.life.isCancelled else { return .none }
      core.attachments.with(StartRequirements.self) { $0.handOvers.append(self) }
      return core.life.post(.handOver)
    }
  }

  override final func carryOut(for dependent: Procedure) {
    do { try transfer(to: dependent) } catch { dependent.cancel(withError: error) }
    guard dependency.isDoneOnceHandedOver else { return }
    var (released, index) = dependent.withCore { ($0.forget(self), $0.forgetDependencyIndex()) }
    released.release()
    _ = consume index
  }
}

/// A closure hands something over.
final class ClosureHandOver<Target: Procedure, Source: Procedure>: HandOver, @unchecked Sendable {
  typealias Closure = @Sendable (Target, Source, [any Error]) throws -> Void

  /// Used by the thread that changed the status.
  @safe @exclusivity(unchecked) private var body: Closure?

  init(from source: Source, _ body: @escaping Closure) {
    self.body = body
    super.init(on: source)
  }

  override func transfer(to dependent: Procedure) throws {
    guard let source = dependency as? Source, let target = dependent as? Target,
      !target.isCancelled
    else { return }
    try TurnNote.running(target) { try body?(target, source, source.errors) }
  }

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
    let (taken, followUp) = dependent.withCore {
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

  override func transfer(to dependent: Procedure) throws {
    if let shortfall = dependency.shortfall { throw shortfall }
    let output = dependency.storedOutput
    if output.isEmpty { throw dependency.lacksOutput }
    if let failure = output.failure { throw dependency.hasFailed(with: failure) }
    dependent.storedInput = output
  }
}

extension Procedure {
  /// Makes the output of `source`, as it is stored, the input of this procedure, if both are classes that keep
  /// them so.
  @usableFromInline
  final func addOutputHandOver(from source: Procedure) -> Bool {
    guard keepsInput, source.keepsOutput else { return false }
    add(OutputHandOver(on: source))
    return true
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
