internal import ProcedurePrimitives

/// The conditions of one procedure, and how far their evaluation has come. Guarded by its lock.
final class ConditionProgress: @unchecked Sendable {
  struct Prerequisite: Sendable {
    let procedure: Procedure
    /// Whether it was put on a queue for the sake of the condition.
    var isOurs = false
    var key: DependentList.Key?
  }

  private(set) var conditions: [any Condition] = []
  /// The next one to be evaluated, or the one that is.
  private(set) var index = 0
  /// For how many of them prerequisites were asked.
  private var prepared = 0
  /// Which evaluation an answer must be from in order to count.
  private(set) var serial: UInt64 = 0
  private var task: Task<Void, Never>?
  private var answer: ConditionResult?
  private(set) var isAwaited = false
  var prerequisites: [Prerequisite] = []
  private(set) var exclusions: [ExclusionCategory] = []
  var request: ExclusionRequest?

  func append(_ condition: any Condition) {
    conditions.append(condition)
    for category in condition.exclusions where !exclusions.contains(category) {
      exclusions.append(category)
    }
  }

  var current: (any Condition)? { index < conditions.count ? conditions[index] : nil }

  /// True once for each condition: its prerequisites are to be asked for.
  func prepare() -> Bool {
    guard index >= prepared else { return false }
    prepared = index + 1
    return true
  }

  func advance() { index += 1 }

  // MARK: Asynchronous answers

  func expectAnswer() -> UInt64 {
    serial += 1
    isAwaited = true
    return serial
  }

  /// Keeps the task that was started for an evaluation; false if it is no longer wanted.
  func keep(_ task: Task<Void, Never>, for serial: UInt64) -> Bool {
    guard serial == self.serial, isAwaited else { return false }
    self.task = task
    return true
  }

  /// False if the answer no longer counts, or there was one before.
  func receive(_ answer: ConditionResult, for serial: UInt64) -> Bool {
    guard serial == self.serial, isAwaited else { return false }
    self.answer = answer
    abandon()
    return true
  }

  func takeAnswer() -> ConditionResult? {
    defer { answer = nil }
    return answer
  }

  /// No longer waits for an answer.
  ///
  /// - Returns: the task that is to be cancelled, when the lock has been let go of.
  @discardableResult
  func abandon() -> Task<Void, Never>? {
    serial += 1
    isAwaited = false
    defer { task = nil }
    return task
  }

  /// A dependency was added: everything is evaluated again when that has finished.
  func restart() -> Task<Void, Never>? {
    index = 0
    answer = nil
    request = nil
    return abandon()
  }
}
