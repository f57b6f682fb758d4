internal import ProcedurePrimitives

/// A dependency that hands a value over before its dependent can start.
///
/// Its user code is called in the dependent's next turn, after the dependency has left its list and
/// released its slot and its categories: that code may block until another procedure has used
/// these.
class HandOver: Dependency, @unchecked Sendable {
  /// Hands the value over. Called in the dependent's turn, once the dependency has finished.
  ///
  /// - Throws: the error that cancels the dependent, if it cannot run.
  func transfer(to dependent: Procedure) throws {
    stopBecauseOfInconsistency("Internal inconsistency: a hand-over of nothing")
  }

  /// A dependency that failed or was cancelled is kept, since a condition may check it.
  override final var isDone: Bool { isSettled && dependency.isDoneOnceHandedOver }

  override func letGo(_ dependent: Procedure, on worker: Worker?) {
    let ended = dependency.ended(for: dependent)
    dependent.note(onWorkerOf: worker?.list) { core in
      // A cancelled procedure waits for nothing, and receives no value.
      guard !core.life.isCancelled else { return .none }
      // The rest of the wait is for the turn.
      if let ended { core.noteDependency(ended) }
      core.attachments.with(StartRequirements.self) { $0.value.handOvers.append(self) }
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

/// Hands a value over by calling the user's closure.
final class ClosureHandOver<Target: Procedure, Source: Procedure>: HandOver, @unchecked Sendable {
  typealias Closure = @Sendable (Target, Source, [any Error]) throws -> Void

  /// Accessed only by the thread that has changed the dependency's status.
  private var body: Closure?

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

/// Makes the stored output the input, for two procedures that both keep a value of the same type
/// behind their locks.
private final class OutputHandOver: HandOver, @unchecked Sendable {
  override func letGo(_ dependent: Procedure, on worker: Worker?) {
    if !handOverAtOnce(to: dependent, on: worker) { super.letGo(dependent, on: worker) }
  }

  /// Hands the output over without a turn, since it calls no user code. No turn of the dependent
  /// may run, and no earlier hand-over may wait.
  ///
  /// - Returns: false if one of these prevents it, or there is no value.
  private func handOverAtOnce(to dependent: Procedure, on worker: Worker?) -> Bool {
    guard dependency.isDoneOnceHandedOver else { return false }
    // The old value and the dependency are released after the lock.
    var input = dependency.storedOutput
    guard input.isValue else { return false }
    let ended = dependency.ended(for: dependent)
    let (taken, followUp) = dependent.withCore {
      core -> (Dependencies?, ProcedureList.FollowUp) in
      guard let released = core.takeInput(&input, of: self) else { return (nil, .nothing) }
      return (
        released, core.countDependency(of: dependent, onWorkerOf: worker?.list, after: ended)
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
    if let failure = output.failure { throw dependency.hasErrorAsOutput(failure) }
    dependent.storedInput = output
  }
}

extension Procedure {
  /// Adds a dependency that makes the stored output of `source` the input of this procedure; false
  /// if one of the classes stores its value elsewhere.
  @usableFromInline
  final func addOutputHandOver(from source: Procedure) -> Bool {
    guard type(of: self).traits.contains(.keepsInput),
      type(of: source).traits.contains(.keepsOutput)
    else { return false }
    add(OutputHandOver(on: source))
    return true
  }

  fileprivate final var isDoneOnceHandedOver: Bool { isFinished && !isCancelled && !failed }
}

extension ProcedureCore {
  /// - Returns: nil if a turn or an earlier hand-over prevents it; otherwise references that, like
  ///   the old `input`, are released without the lock.
  @inline(never)
  fileprivate mutating func takeInput(
    _ input: inout StoredValue, of handOver: OutputHandOver
  ) -> Dependencies? {
    guard life.mayStillTake, requirements?.value.handOvers.first == nil else { return nil }
    attachments.with(Values.self) { swap(&$0.value.input, &input) }
    return forget(handOver)
  }

  /// - Returns: references that the caller releases without the lock.
  fileprivate mutating func forget(_ handOver: HandOver) -> Dependencies {
    // A cancelled procedure may still have other dependencies in its list.
    let isLast = life.state > .pending || life.isLastDependency
    return dependencies.forget(handOver, isLast: isLast)
  }
}
