internal import ProcedurePrimitives

/// The conditions of one procedure and their evaluation, guarded by the procedure's lock.
final class ConditionProgress: PendingConditions, @unchecked Sendable {
  /// A condition, with its properties as read when it was added: the getters are the user's code,
  /// which may call back, so they must not run under a lock. Its limits are the procedure's.
  struct Entry: Sendable {
    let condition: any Condition
    let name: String
    let asksForCategoriesOnly: Bool
    let isMainActorBound: Bool

    init<Added: Condition>(_ condition: Added) {
      // A cast of the type does not copy the condition into another box.
      let knownType = Added.self as? any KnownCondition.Type
      if knownType?.asksForCategoriesOnly == true {
        (asksForCategoriesOnly, isMainActorBound) = (true, false)
      } else {
        let known = knownType == nil ? nil : condition as? any KnownCondition
        asksForCategoriesOnly = known?.isExclusionOnly ?? false
        isMainActorBound = known?.runsOnMainActor ?? false
      }
      // A condition that only asks for categories is not evaluated.
      name = asksForCategoriesOnly ? "" : condition.name
      self.condition = condition
    }
  }

  private(set) var entries = SmallList<Entry>()
  /// The index of the condition that is being evaluated, or is next.
  private var index: UInt32 = 0
  /// The number of conditions whose prerequisites were already asked for.
  private var prepared: UInt32 = 0
  private var lastSerial: UInt64 = 0
  private var isAwaited = false
  /// The evaluation whose answer is awaited, if any. Other answers are ignored.
  var awaitedSerial: UInt64? { isAwaited ? lastSerial : nil }
  private var task: Task<Void, Never>?
  var awaitedTask: BodyTask? { task.map { BodyTask($0) } }
  private var answer: ConditionResult?

  func append(_ entry: Entry) { entries.append(entry) }

  var current: Entry? { index < entries.count ? entries[Int(index)] : nil }

  var currentName: String? { current?.name }

  var needsMainActor: Bool { entries.dropFirst(Int(index)).contains(where: \.isMainActorBound) }

  /// True once for each condition: the caller then asks for its prerequisites.
  func prepare() -> Bool {
    guard index >= prepared else { return false }
    prepared = index + 1
    return true
  }

  func advance() { index += 1 }

  // MARK: Asynchronous answers

  func expectAnswer() -> UInt64 {
    lastSerial += 1
    isAwaited = true
    return lastSerial
  }

  /// Stores the task of an evaluation; false if its answer is no longer awaited.
  func keep(_ task: Task<Void, Never>, for serial: UInt64) -> Bool {
    guard serial == awaitedSerial else { return false }
    self.task = task
    return true
  }

  /// Stores an answer. Returns nil if it is not awaited, or came twice.
  ///
  /// - Returns: the answering task, if it was stored. The caller releases it without a lock.
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
    isAwaited = false
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
