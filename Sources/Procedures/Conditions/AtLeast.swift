internal import ProcedurePrimitives

/// A condition that is satisfied as soon as any `count` of several procedures have finished.
///
/// ```swift
/// // Starts with the first two answers of three.
/// vote.add(condition: AtLeast(2, of: [north, south, west], requiring: .success))
/// // Starts with the first answer, even a failure.
/// report.add(condition: AtLeast(1, of: [cache, server]))
/// ```
///
/// A procedure waits for all of its dependencies; this condition waits for some procedures, and the
/// others go on. To cancel the others after the first success, use `RaceProcedure`.
///
/// The procedures may be on any queue, and may have finished. A procedure counts once its DidFinish
/// observers have returned. The condition fails with `ProcedureError.Code.conditionFailed` and the
/// reasons as soon as too many have ended without meeting `requirement`. A count of zero or less is
/// satisfied at once.
///
/// ## Cost
/// The wait takes no slot and no thread, but one task for each procedure. A snapshot names the
/// awaited procedures, and a cycle through them is found and ended like any other.
public struct AtLeast: Condition {
  private let count: Int
  private let procedures: [Procedure]
  private let requirement: DependencyRequirement

  /// Makes a condition, which retains `procedures` until the procedure that has the condition has
  /// finished.
  ///
  /// - Parameters:
  ///   - count: how many must finish.
  ///   - procedures: the procedures, each counted once.
  ///   - requirement: how a procedure must have ended to count.
  public init<Procedures: Sequence>(
    _ count: Int, of procedures: Procedures, requiring requirement: DependencyRequirement = .any
  ) where Procedures.Element: Procedure {
    var seen: Set<Procedure> = []
    self.procedures = procedures.filter { seen.insert($0).inserted }
    self.count = count
    self.requirement = requirement
  }

  /// For example `AtLeast(2, of: 3 procedures)`.
  public var name: String {
    "AtLeast(\(count), of: \(procedures.count) procedure\(procedures.count == 1 ? "" : "s"))"
  }

  /// Answers at once, without a task, if enough procedures have already finished.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation {
    if let answer = answer(for: procedure) { return .answered(answer) }
    return .asynchronous { try await evaluate(procedure) }
  }

  /// Waits for the procedures, on the workers of the procedure's queue.
  public func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    guard let list = procedure.peek({ $0.list }) else {
      return await wait(for: procedure, in: nil)
    }
    // The closure must take no locks, so it always says that the call waits; `awaited` decides
    // whether the answer is certain.
    let call = BodyTask.current.beginWaiting(
      in: WaitingCall(name: name, target: .some(self, list)) { true })
    defer { call?.end() }
    return await wait(for: procedure, in: list)
  }

  private func wait(
    for procedure: Procedure, in list: ProcedureList?
  ) async -> ConditionResult {
    await withTaskGroup(of: Void.self) { group in
      for awaited in procedures {
        group.addTask { await awaited.wait(as: nil, in: name) }
      }
      defer { group.cancelAll() }
      while answer(for: procedure) == nil {
        // Procedures on no queue may be missing from now on: a look of the queue finds them.
        if let list { list.context.supervisor.noteWait(in: list) }
        if await group.next() == nil { break }
      }
      // There is no answer only after a cancel, and then the result is ignored.
      return answer(for: procedure) ?? .ignored
    }
  }

  /// Nil while the answer is not certain.
  private func answer(for procedure: Procedure) -> ConditionResult? {
    let ended = procedures.filter(\.hasEnded)
    let objections = ended.compactMap { requirement.objection(to: $0) }
    if ended.count - objections.count >= count { return .satisfied }
    guard procedures.count - objections.count < count else { return nil }
    return .failed(
      ProcedureError(.conditionFailed, of: procedure.name, because: objections, .condition(name)))
  }
}

extension AtLeast: ProcedureChoice {
  var awaited: [Procedure] {
    let unfinished = procedures.filter { !$0.hasEnded }
    let missing = missingCount
    return missing > 0 && missing <= unfinished.count ? unfinished : []
  }

  var missingCount: Int {
    count - procedures.count { $0.hasEnded && requirement.objection(to: $0) == nil }
  }
}

extension Procedure {
  /// Whether its DidFinish observers have returned, which is later than `isFinished`.
  fileprivate final var hasEnded: Bool { peek { $0.life.isRetired } }
}
