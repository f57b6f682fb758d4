/// The categories of one procedure, from when it asks for them until it has finished.
///
/// Its mutable part is guarded by the lock of the table, except for `listPlace`.
final class ExclusionRequest: ExclusionWaiter, @unchecked Sendable {
  enum Status: Sendable {
    case idle
    case waiting(ExclusionLine)
    case held
  }

  /// Where it holds one of its categories.
  struct Holding: Sendable {
    let level: ExclusionLevel
    /// Its place among the holders there.
    var place: Int
    /// The level of the requests inside it, once there was one.
    var inside: ExclusionLevel?
    /// When it was let in, at a rate's level.
    var start: ContinuousClock.Instant?
  }

  /// The procedure that asks, and the list that it is in.
  let procedure: Procedure
  let list: ProcedureList
  /// Each category once.
  @safe @exclusivity(unchecked) private(set) var limits: [ExclusionLimit]

  /// The request of the innermost group around it that excludes others itself, and has begun.
  @safe @exclusivity(unchecked) var outer: ExclusionRequest?
  @safe @exclusivity(unchecked) var status = Status.idle
  /// The number that it drew when it asked for the first time; 0 before. It keeps that, also if it was offered all
  /// and had no slot.
  @safe @exclusivity(unchecked) private(set) var age: UInt64 = 0
  /// The age, behind all that are more urgent.
  @safe @exclusivity(unchecked) private(set) var ticket: UInt64 = 0
  private let priority: ProcedurePriority
  /// One for each of its categories, while it holds them.
  @safe @exclusivity(unchecked) var holdings: [Holding] = []
  /// Where it was first in line and has left, so that others may be let in.
  @safe @exclusivity(unchecked) var vacated: ExclusionLevel?
  @safe @exclusivity(unchecked) private var indices: [ExclusionCategory: Int]?

  /// Where its waiting is recorded, if the procedure is. Guarded by the lock of the list, once the request
  /// is in it.
  @safe @exclusivity(unchecked) var record: ProcedureRecord? {
    didSet { if let record { recordID = record.id } }
  }
  /// That of the record, also when the procedure has finished.
  @safe @exclusivity(unchecked) private(set) var recordID = RecordID.none
  /// The record of the procedure that made room for it, if it has one.
  @safe @exclusivity(unchecked) var admittedBy = RecordID.none

  @safe @exclusivity(unchecked) var turnPlace = 0
  @safe @exclusivity(unchecked) var agePlace = 0
  /// Guarded by the lock of the list.
  @safe @exclusivity(unchecked) var listPlace = 0

  init(
    _ limits: [ExclusionLimit], for procedure: Procedure, in list: ProcedureList,
    priority: ProcedurePriority = .normal
  ) {
    self.limits = limits
    self.procedure = procedure
    self.list = list
    self.priority = priority
  }

  /// It asks for the first time.
  func draw(_ number: UInt64) {
    age = number
    ticket = UInt64(ProcedurePriority.veryHigh.rawValue - priority.rawValue) << 56 | number
  }

  /// It leaves, and will ask for the first time again.
  func forgetAge() { age = 0 }

  /// It has waited longest, and is the next: before all that asked later, however urgent.
  func goNext() { ticket = age }

  /// It is idle, and will not ask again.
  func forgetLimits() { limits = [] }

  /// The index of the limit of `category`.
  func index(of category: ExclusionCategory) -> Int? {
    if limits.count <= 8 { return limits.firstIndex { $0.category == category } }
    let indices = indices ?? Dictionary(uniqueKeysWithValues: zip(limits.map(\.category), 0...))
    self.indices = indices
    return indices[category]
  }

  /// The line that it stands in. Guarded by the lock of the table.
  var recordedLine: RecordedLine? {
    guard case .waiting(let line) = status else { return nil }
    let count = line.level.countAtOnce(of: limits[line.index])
    return RecordedLine(limits, index: line.index, count: count)
  }
}

/// Why a procedure is kept out of one category.
struct ExclusionObstacle: Sendable {
  let limit: ExclusionLimit
  /// In the order in which they first asked. None of a rate: there will be room in time.
  let holders: [ExclusionRequest]
  /// When there may be room, of a rate.
  var time: StartTimes.NextStart?
  /// So many of them have to finish.
  let count: Int
}

/// The categories of one procedure, and its request for them. Guarded by its lock.
final class ExclusionClaim: @unchecked Sendable {
  @safe @exclusivity(unchecked) private var limits: [ExclusionLimit] = []
  /// Where each category is in `limits`, if there are many.
  @safe @exclusivity(unchecked) private var indices: [ExclusionCategory: Int]?
  @safe @exclusivity(unchecked) private(set) var request: ExclusionRequest?

  /// A condition was added that names these.
  func add(_ new: [ExclusionLimit]) {
    // As mostly: the same array serves.
    if limits.isEmpty, new.count == 1 {
      limits = new
      return
    }
    for limit in new {
      if let known = index(of: limit.category) {
        // If one procedure names two counts, the lower one is kept.
        limits[known] = limits[known].merged(with: limit)
      } else {
        indices?[limit.category] = limits.count
        limits.append(limit)
      }
    }
  }

  private func index(of category: ExclusionCategory) -> Int? {
    if limits.count <= 8 { return limits.firstIndex { $0.category == category } }
    if indices == nil {
      indices = Dictionary(uniqueKeysWithValues: zip(limits.map(\.category), 0...))
    }
    return indices?[category]
  }

  /// The procedure's request, now that nothing else is missing.
  func makeRequest(
    for procedure: Procedure, in list: ProcedureList, priority: ProcedurePriority
  ) -> ExclusionRequest {
    if let request { return request }
    let request = ExclusionRequest(limits, for: procedure, in: list, priority: priority)
    self.request = request
    return request
  }

  /// It asks anew later. The caller releases the returned references without a lock.
  func takeRequest() -> ExclusionRequest? { request.take() }

  /// The procedure now wants other categories than it asked for. Released as by `takeRequest()`.
  func takeIncompleteRequest() -> ExclusionRequest? {
    // A second reference would make each limit that is added a copy of all.
    request?.forgetLimits()
    return request.take()
  }
}

extension ExclusionObstacle {
  /// In the order in which they first asked.
  var procedures: [Procedure] { holders.map(\.procedure) }
}
