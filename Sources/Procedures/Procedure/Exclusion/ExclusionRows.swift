internal import ProcedurePrimitives

/// The requests of one line, in the order of their tickets: a row for each priority, oldest first.
///
/// A request usually joins its row as the youngest there, in O(1). A request that returns with the
/// age that it had, was promoted, or has another priority now, may be older than the last of the
/// row: then it stands beside the rows, in O(log n).
///
/// | event  | the youngest of its row          | another request               |
/// |--------|----------------------------------|-------------------------------|
/// | insert | joins the end of the row         | joins the requests beside     |
/// | remove | leaves its row                   | leaves the requests beside    |
/// | update | removed, and inserted where its present ticket belongs           ||
struct ExclusionRows: Sendable {
  private var requests = Slab<ExclusionRequest>()
  /// The row of most requests.
  private var normal = SlabList()
  /// The rows of all priorities, once there was a request of another priority than normal.
  private var others: [SlabList] = []
  /// The requests beside the rows.
  private var beside = ExclusionOrder<ExclusionRequest>()

  /// The request whose turn it is, and the age of the one that has waited longest. Mutating, so
  /// that the rows are read where they are, instead of copied.
  mutating func head() -> (first: ExclusionRequest?, age: UInt64) {
    var (first, age) = (beside.first, beside.oldest?.age ?? .max)
    forEachFirst { request in
      if request.ticket < first?.ticket ?? .max { first = request }
      age = min(age, request.age)
    }
    return (first, age)
  }

  /// The request that has waited longest.
  var oldest: ExclusionRequest? {
    var oldest = beside.oldest
    forEachFirst { if $0.age < oldest?.age ?? .max { oldest = $0 } }
    return oldest
  }

  /// Calls with the first request of each row.
  @inline(__always)
  private func forEachFirst(_ body: (ExclusionRequest) -> Void) {
    if !normal.isEmpty { body(requests[requests.firstPlace(of: normal)]) }
    for row in others where !row.isEmpty { body(requests[requests.firstPlace(of: row)]) }
  }

  mutating func insert(_ request: ExclusionRequest) {
    let priority = request.priority
    if priority != .normal, others.isEmpty {
      others = Array(repeating: SlabList(), count: ProcedurePriority.allCases.count)
    }
    request.row = priority
    let last = requests.last(of: priority == .normal ? normal : others[Int(priority.rawValue)])
    if !request.isPromoted, last.map({ $0.age < request.age }) ?? true {
      request.rowPlace = changing(priority) { $0.append(request, to: &$1).place }
    } else {
      beside.insert(request)
    }
  }

  /// Removes a request, regardless of its present ticket.
  mutating func remove(_ request: ExclusionRequest) {
    guard let place = request.rowPlace else { return beside.remove(request) }
    request.rowPlace = nil
    _ = changing(request.row) { $0.remove(at: place, from: &$1) }
  }

  /// The ticket of a request may have changed.
  mutating func update(_ request: ExclusionRequest) {
    remove(request)
    insert(request)
  }

  @inline(__always)
  private mutating func changing<Result>(
    _ row: ProcedurePriority,
    _ body: (inout Slab<ExclusionRequest>, inout SlabList) -> Result
  ) -> Result {
    if row == .normal { return body(&requests, &normal) }
    return body(&requests, &others[Int(row.rawValue)])
  }
}
