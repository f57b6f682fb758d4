internal import ProcedurePrimitives

/// The categories of one procedure, from its first request for them until it has finished.
///
/// Its mutable part is guarded by the lock of the table, except for `listPlace`.
final class ExclusionRequest: ExclusionWaiter, @unchecked Sendable {
  enum Status: Sendable {
    case idle
    case waiting(ExclusionLine)
    case held
  }

  /// The place where it holds one of its categories.
  struct Holding: Sendable {
    let level: ExclusionLevel
    /// Its index among the holders there.
    var place: Int
    /// The level of the requests inside it, once there was one.
    var inside: ExclusionLevel?
    /// The number of the first place that it took, at the level of a rate.
    var start: UInt64?
  }

  /// The procedure that makes the request, and the list that it is in.
  let procedure: Procedure
  let list: ProcedureList
  @safe @exclusivity(unchecked) private var wanted: ExclusionLimits
  /// Each category once.
  var limits: [ExclusionLimit] { wanted.all }

  /// The request of the innermost group around it that excludes others itself, and has begun.
  @safe @exclusivity(unchecked) var outer: ExclusionRequest?
  @safe @exclusivity(unchecked) var status = Status.idle
  /// The number that it drew with its first request; 0 before. It keeps the number, even if it was
  /// offered its categories and had no slot.
  @safe @exclusivity(unchecked) private(set) var age: UInt64 = 0
  /// The age, behind all requests that are more urgent.
  @safe @exclusivity(unchecked) private(set) var ticket: UInt64 = 0
  @safe @exclusivity(unchecked) private(set) var priority: ProcedurePriority
  /// Whether it was promoted because it has waited longest.
  @safe @exclusivity(unchecked) private(set) var isPromoted = false
  /// One for each of its categories, while it holds them.
  @safe @exclusivity(unchecked) var holdings = SmallList<Holding>()
  /// The level where it was first in line and has left, so that others may be admitted.
  @safe @exclusivity(unchecked) var vacated: ExclusionLevel?

  /// Records its wait, if the procedure is recorded. Guarded by the lock of the list, once the
  /// request is in it.
  @safe @exclusivity(unchecked) var record: ProcedureRecord? {
    didSet { if let record { recordID = record.id } }
  }
  /// The identity of the record, which stays when the procedure has finished.
  @safe @exclusivity(unchecked) private(set) var recordID = RecordID.none
  /// The record of the procedure that made room for it, if it has one.
  @safe @exclusivity(unchecked) var admittedBy = RecordID.none

  /// The row in which it was inserted, and its place there; no place if it stands beside the rows.
  @safe @exclusivity(unchecked) var row = ProcedurePriority.normal
  @safe @exclusivity(unchecked) var rowPlace: UInt32?
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

  /// It requests its categories for the first time.
  func draw(_ number: UInt64) {
    age = number
    isPromoted = false
    setTicket()
  }

  /// Its priority has changed; it keeps its age.
  func setPriority(_ priority: ProcedurePriority) {
    self.priority = priority
    if age > 0 { setTicket() }
  }

  private func setTicket() {
    let rank = isPromoted ? 0 : UInt64(ProcedurePriority.veryHigh.rawValue - priority.rawValue)
    ticket = rank << 56 | age
  }

  /// It leaves, and its next request counts as the first.
  func forgetAge() { age = 0 }

  /// Moves the oldest request to the front, regardless of priority.
  func promote() {
    isPromoted = true
    setTicket()
  }

  /// It is idle, and will make no further request.
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

/// Requests that now hold all of their categories, for their procedures to accept or decline.
/// Usually one.
typealias ExclusionOffers = SmallList<ExclusionRequest>

/// Why a procedure is kept out of one category.
struct ExclusionObstacle: Sendable {
  let limit: ExclusionLimit
  /// The holders, in the order of their first requests. Empty for a rate, where time makes room.
  let holders: SharedHolders
  /// When a rate may have room.
  var time: StartTimes.NextStart?
  /// How many of the holders have to finish.
  let count: Int

  var procedures: [Procedure] { holders.procedures }
}

/// The categories of one procedure, and its request for them. Guarded by its lock.
struct ExclusionClaim: Sendable {
  var limits = ExclusionLimits()
  private(set) var request: ExclusionRequest?

  /// The procedure's request, made when nothing else is missing.
  mutating func makeRequest(
    for procedure: Procedure, in list: ProcedureList, priority: ProcedurePriority
  ) -> ExclusionRequest {
    if let request { return request }
    let request = ExclusionRequest(limits.all, for: procedure, in: list, priority: priority)
    self.request = request
    return request
  }

  /// A new request follows later. The caller releases the returned references without a lock.
  mutating func takeRequest() -> ExclusionRequest? { request.take() }

  /// The procedure now wants other categories than it requested. Released as after `takeRequest()`.
  mutating func takeIncompleteRequest() -> ExclusionRequest? {
    // A second reference would make each limit that is added a copy of all.
    request?.forgetLimits()
    return request.take()
  }
}

/// The limits that the conditions of one procedure name, each category once.
struct ExclusionLimits: Sendable {
  private(set) var all: [ExclusionLimit]
  /// The index of each category in `all`, if there are many.
  private var indices: [ExclusionCategory: Int]?

  init(_ all: [ExclusionLimit] = []) { self.all = all }

  /// Adds the limits of a new condition.
  mutating func add(_ new: [ExclusionLimit]) {
    // The usual case: the same array serves.
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
