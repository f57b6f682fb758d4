internal import ProcedurePrimitives

/// Satisfied as soon as some of several procedures have finished, whichever they are.
///
/// ```swift
/// // Starts with the first two answers of three.
/// vote.add(condition: AtLeast(2, of: [north, south, west], requiring: .success))
/// // "Any of them": with the first that has finished, however it ended.
/// report.add(condition: AtLeast(1, of: [cache, server]))
/// ```
///
/// Several dependencies wait for all of them; this condition waits for some. The other procedures go on. To have the
/// first success cancel the others, see `RaceProcedure`.
///
/// The procedures may be on any queue, and may have finished. They count when their DidFinish observers have returned.
/// The condition fails as soon as too many have ended otherwise than `requirement` says, with
/// `ProcedureError.Code.conditionFailed` and the reasons. A count of zero or less is satisfied at once.
///
/// ## Cost
/// The wait takes no slot and no thread, and a task for each procedure. A snapshot names the procedures that it waits
/// for, and a cycle through them ends like any other.
public struct AtLeast: Condition {
  private let count: Int
  private let procedures: [Procedure]
  private let requirement: DependencyRequirement

  /// Makes a condition about procedures, which it keeps until the procedure that has it has finished.
  ///
  /// - Parameters:
  ///   - count: how many have to finish.
  ///   - procedures: the procedures; one that is listed twice counts once.
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

  /// At once if enough have finished before, without a task.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation {
    if let answer = answer(for: procedure) { return .answered(answer) }
    return .asynchronous { try await evaluate(procedure) }
  }

  /// Waits for the procedures, on the workers of the procedure's queue.
  public func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    guard let list = procedure.peek({ $0.list }) else { return await wait(for: procedure) }
    // `awaited` knows when the answer is certain: that takes locks, which the call must not.
    let call = BodyTask.current.beginWaiting(
      in: WaitingCall(name: name, target: .some(self, list)) { true })
    defer { call?.end() }
    return await wait(for: procedure)
  }

  private func wait(for procedure: Procedure) async -> ConditionResult {
    await withTaskGroup(of: Void.self) { group in
      for awaited in procedures {
        group.addTask { _ = await awaited.outcome(waitingIn: name, as: nil) }
      }
      defer { group.cancelAll() }
      while answer(for: procedure) == nil, await group.next() != nil {}
      // Without an answer it was cancelled, and is not listened to.
      return answer(for: procedure) ?? .ignored
    }
  }

  /// The answer, if it is certain.
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
  /// Whether it has finished, and its DidFinish observers have returned: later than `isFinished`.
  fileprivate final var hasEnded: Bool { peek { $0.life.isRetired } }
}
