internal import ProcedurePrimitives

/// The conditions of one procedure, and how far their evaluation has come. Guarded by its lock.
final class ConditionProgress: @unchecked Sendable {
  struct Prerequisite: Sendable {
    let procedure: Procedure
    /// Whether it was put on a queue for the sake of the condition.
    var isOurs = false
    var key: DependentList.Key?
  }

  /// A condition, with its properties as they were when it was added: its getters are the user's
  /// code, which may call back, and must not run under a lock.
  struct Entry: Sendable {
    let condition: any Condition
    let name: String
    let limits: [ExclusionLimit]
    let asksForCategoriesOnly: Bool

    init(_ condition: any Condition) {
      self.condition = condition
      asksForCategoriesOnly = condition.asksForCategoriesOnly
      // A condition that only asks for categories is not evaluated.
      name = asksForCategoriesOnly ? "" : condition.name
      limits = condition.exclusionLimits
    }
  }

  private(set) var entries: [Entry] = []
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
  private(set) var limits: [ExclusionLimit] = []
  /// Where each category is in `limits`, if there are many.
  private var limitIndices: [ExclusionCategory: Int]?
  private(set) var request: ExclusionRequest?

  func append(_ entry: Entry) {
    entries.append(entry)
    for limit in entry.limits {
      if let known = index(of: limit.category) {
        // Of two counts that one procedure names, the lower is kept.
        if limit.count < limits[known].count { limits[known] = limit }
      } else {
        limitIndices?[limit.category] = limits.count
        limits.append(limit)
      }
    }
  }

  private func index(of category: ExclusionCategory) -> Int? {
    if limits.count <= 8 { return limits.firstIndex { $0.category == category } }
    if limitIndices == nil {
      limitIndices = Dictionary(uniqueKeysWithValues: zip(limits.map(\.category), 0...))
    }
    return limitIndices?[category]
  }

  var current: Entry? { index < entries.count ? entries[index] : nil }

  /// What the procedure asks for, now that nothing else is missing; nil if it excludes no others.
  func makeRequest(for procedure: Procedure, in list: ReadyList) -> ExclusionRequest? {
    if limits.isEmpty { return nil }
    if let request { return request }
    let request = ExclusionRequest(limits, for: procedure, in: list)
    self.request = request
    return request
  }

  /// What it had asked for, and has given up, is not all any more. Released by the caller, without a
  /// lock.
  func takeRequest() -> ExclusionRequest? {
    // A second reference would make each limit that is added a copy of all.
    request?.forgetLimits()
    return request.take()
  }

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

  /// Nil if the answer no longer counts, or there was one before.
  ///
  /// - Returns: the task that has answered, if it was kept. Released by the caller, without a lock.
  func receive(_ answer: ConditionResult, for serial: UInt64) -> Task<Void, Never>?? {
    guard serial == self.serial, isAwaited else { return nil }
    self.answer = answer
    return .some(abandon())
  }

  func takeAnswer() -> ConditionResult? {
    defer { answer = nil }
    return answer
  }

  /// No longer waits for an answer.
  ///
  /// - Returns: the task that is to be cancelled, when the lock has been released.
  func abandon() -> Task<Void, Never>? {
    serial += 1
    isAwaited = false
    return task.take()
  }

  /// What was there before a restart. Released, as what may hold the user's values, without a lock.
  struct Abandoned: Sendable {
    let task: Task<Void, Never>?
    let answer: ConditionResult?
    let request: ExclusionRequest?
  }

  /// A dependency was added: everything is evaluated again when that has finished.
  func restart() -> Abandoned {
    index = 0
    let (answer, request) = (answer.take(), request.take())
    return Abandoned(task: abandon(), answer: answer, request: request)
  }
}
