internal import ProcedurePrimitives

/// The conditions of one procedure, and how far their evaluation has come. Guarded by its lock.
final class ConditionProgress: PendingConditions, @unchecked Sendable {
  /// A condition, with its properties as they were when it was added: its getters are the user's
  /// code, which may call back, and must not run under a lock.
  struct Entry: Sendable {
    let condition: any Condition
    let name: String
    let limits: [ExclusionLimit]
    let asksForCategoriesOnly: Bool
    let isMainActorBound: Bool

    init(_ condition: any Condition) {
      self.condition = condition
      // One cast for both questions.
      let known = condition as? any KnownCondition
      asksForCategoriesOnly = known?.isExclusionOnly ?? false
      // A condition that only asks for categories is not evaluated.
      name = asksForCategoriesOnly ? "" : condition.name
      limits = condition.exclusionLimits
      isMainActorBound = known?.runsOnMainActor ?? false
    }
  }

  private(set) var entries: [Entry] = []
  /// Of the next one to be evaluated, or the one that is.
  private var index = 0
  /// For how many of them prerequisites were asked.
  private var prepared = 0
  private var lastSerial: UInt64 = 0
  /// Which evaluation an answer must be from in order to count; nil if none is waited for.
  private(set) var awaitedSerial: UInt64?
  private var task: Task<Void, Never>?
  var awaitedTask: BodyTask? { task.map { BodyTask($0) } }
  private var answer: ConditionResult?

  func append(_ entry: Entry) { entries.append(entry) }

  var current: Entry? { index < entries.count ? entries[index] : nil }

  var currentName: String? { current?.name }

  var needsMainActor: Bool { entries.dropFirst(index).contains(where: \.isMainActorBound) }

  /// True once for each condition: its prerequisites are to be asked for.
  func prepare() -> Bool {
    guard index >= prepared else { return false }
    prepared = index + 1
    return true
  }

  func advance() { index += 1 }

  // MARK: Asynchronous answers

  func expectAnswer() -> UInt64 {
    lastSerial += 1
    awaitedSerial = lastSerial
    return lastSerial
  }

  /// Keeps the task that was started for an evaluation; false if it is no longer wanted.
  func keep(_ task: Task<Void, Never>, for serial: UInt64) -> Bool {
    guard serial == awaitedSerial else { return false }
    self.task = task
    return true
  }

  /// Nil if the answer no longer counts, or there was one before.
  ///
  /// - Returns: the task that has answered, if it was kept. Released by the caller, without a lock.
  func receive(_ answer: ConditionResult, for serial: UInt64) -> Task<Void, Never>?? {
    guard serial == awaitedSerial else { return nil }
    self.answer = answer
    return .some(abandon())
  }

  func takeAnswer() -> ConditionResult? {
    defer { answer = nil }
    return answer
  }

  func abandon() -> Task<Void, Never>? {
    awaitedSerial = nil
    return task.take()
  }

  func restart() -> AbandonedEvaluation {
    index = 0
    return AbandonedEvaluation(task: abandon(), answer: answer.take())
  }

  func evaluate(for procedure: Procedure, onWorkerOf list: ProcedureList?) {
    procedure.evaluate(self, onWorkerOf: list)
  }
}
