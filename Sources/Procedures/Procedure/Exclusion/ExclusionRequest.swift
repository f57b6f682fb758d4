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
  @safe @exclusivity(unchecked) private var wanted: ExclusionLimits
  /// Each category once.
  var limits: [ExclusionLimit] { wanted.all }

  /// The request of the innermost group around it that excludes others itself, and has begun.
  @safe @exclusivity(unchecked) var outer: ExclusionRequest?
  @safe @exclusivity(unchecked) var status = Status.idle
  /// The number that it drew when it asked for the first time; 0 before. It keeps that, also if it was offered all
  /// and had no slot.
  @safe @exclusivity(unchecked) private(set) var age: UInt64 = 0
  /// The age, behind all that are more urgent.
  @safe @exclusivity(unchecked) private(set) var ticket: UInt64 = 0
  @safe @exclusivity(unchecked) private var priority: ProcedurePriority
  /// Whether it has waited longest.
  @safe @exclusivity(unchecked) private var isNext = false
  /// One for each of its categories, while it holds them.
  @safe @exclusivity(unchecked) var holdings: [Holding] = []
  /// Where it was first in line and has left, so that others may be let in.
  @safe @exclusivity(unchecked) var vacated: ExclusionLevel?

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
    wanted = ExclusionLimits(limits)
    self.procedure = procedure
    self.list = list
    self.priority = priority
  }

  /// It asks for the first time.
  func draw(_ number: UInt64) {
    age = number
    isNext = false
    setTicket()
  }

  /// It has another priority, and keeps its age.
  func setPriority(_ priority: ProcedurePriority) {
    self.priority = priority
    if age > 0 { setTicket() }
  }

  private func setTicket() {
    let rank = isNext ? 0 : UInt64(ProcedurePriority.veryHigh.rawValue - priority.rawValue)
    ticket = rank << 56 | age
  }

  /// It leaves, and will ask for the first time again.
  func forgetAge() { age = 0 }

  /// It has waited longest, and is the next: before all that asked later, however urgent.
  func goNext() {
    isNext = true
    setTicket()
  }

  /// It is idle, and will not ask again.
  func forgetLimits() { wanted = ExclusionLimits() }

  /// The index of the limit of `category`.
  func index(of category: ExclusionCategory) -> Int? { wanted.index(of: category) }

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
  /// The holders, in the order in which they first asked. None of a rate: there will be room in time.
  let holders: SharedHolders
  /// When there may be room, of a rate.
  var time: StartTimes.NextStart?
  /// So many of them have to finish.
  let count: Int

  var procedures: [Procedure] { holders.procedures }
}

/// The categories of one procedure, and its request for them. Guarded by its lock.
struct ExclusionClaim: Sendable {
  var limits = ExclusionLimits()
  private(set) var request: ExclusionRequest?

  /// The procedure's request, now that nothing else is missing.
  mutating func makeRequest(
    for procedure: Procedure, in list: ProcedureList, priority: ProcedurePriority
  ) -> ExclusionRequest {
    if let request { return request }
    let request = ExclusionRequest(limits.all, for: procedure, in: list, priority: priority)
    self.request = request
    return request
  }

  /// It asks anew later. The caller releases the returned references without a lock.
  mutating func takeRequest() -> ExclusionRequest? { request.take() }

  /// The procedure now wants other categories than it asked for. Released as by `takeRequest()`.
  mutating func takeIncompleteRequest() -> ExclusionRequest? {
    // A second reference would make each limit that is added a copy of all.
    request?.forgetLimits()
    return request.take()
  }
}

/// The limits that the conditions of one procedure name, each category once.
struct ExclusionLimits: Sendable {
  private(set) var all: [ExclusionLimit]
  /// Where each category is in `all`, if there are many.
  private var indices: [ExclusionCategory: Int]?

  init(_ all: [ExclusionLimit] = []) { self.all = all }

  /// A condition was added that names these.
  mutating func add(_ new: [ExclusionLimit]) {
    // As mostly: the same array serves.
    if all.isEmpty, new.count == 1 {
      all = new
      return
    }
    for limit in new {
      if let known = index(of: limit.category) {
        // If one procedure names two counts, the lower one is kept.
        all[known] = all[known].merged(with: limit)
      } else {
        indices?[limit.category] = all.count
        all.append(limit)
      }
    }
  }

  mutating func index(of category: ExclusionCategory) -> Int? {
    if all.count <= 8 { return all.firstIndex { $0.category == category } }
    if indices == nil {
      indices = Dictionary(uniqueKeysWithValues: zip(all.map(\.category), 0...))
    }
    return indices?[category]
  }
}
