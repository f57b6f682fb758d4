internal import ProcedurePrimitives

/// The requests of one line, in the order of their tickets: a row for each rank, oldest first.
///
/// A request usually joins its row as the youngest there, in O(1). A request that returns with the
/// age that it had, was promoted, or has another rank now, may be older than the last of the row:
/// then it stands beside the rows, in O(log n).
///
/// | event  | the youngest of its row          | another request               |
/// |--------|----------------------------------|-------------------------------|
/// | insert | joins the end of the row         | joins the requests beside     |
/// | remove | leaves its row                   | leaves the requests beside    |
/// | update | removed, and inserted where its present ticket belongs           ||
struct ExclusionRows: Sendable {
  /// The row of the rank that was inserted first, which most requests have.
  private var main = RequestRow()
  private var mainRank: UInt8?
  /// The rows of all other ranks so far, by rank.
  private var others: [RequestRow] = []
  /// The requests beside the rows.
  private var beside = ExclusionOrder<ExclusionRequest>()

  /// The request whose turn it is, and the age of the one that has waited longest.
  var head: (first: ExclusionRequest?, age: UInt64) {
    if others.isEmpty, beside.isEmpty { return (main.first, main.first?.age ?? .max) }
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
    if let first = main.first { body(first) }
    for row in others { if let first = row.first { body(first) } }
  }

  mutating func insert(_ request: ExclusionRequest) {
    let rank = request.state.rank
    if mainRank == nil { mainRank = rank }
    while rank != mainRank, others.count <= Int(rank) { others.append(RequestRow()) }
    request.state.row = rank
    let last = rank == mainRank ? main.last : others[Int(rank)].last
    request.state.isInRow =
      !request.state.isPromoted && last.map { $0.age < request.age } ?? true
    if !request.state.isInRow {
      beside.insert(request)
    } else if rank == mainRank {
      main.append(request)
    } else {
      others[Int(rank)].append(request)
    }
  }

  /// Removes a request, regardless of its present ticket.
  mutating func remove(_ request: ExclusionRequest) {
    if !request.state.isInRow {
      beside.remove(request)
    } else if request.state.row == mainRank {
      main.remove(request)
    } else {
      others[Int(request.state.row)].remove(request)
    }
  }

  /// The ticket of a request may have changed.
  mutating func update(_ request: ExclusionRequest) {
    remove(request)
    insert(request)
  }
}

/// Requests in the order of their ages, linked through themselves. It owns a reference to each: a
/// request stays until it is removed, even if its requester forgets it.
@safe struct RequestRow: Sendable {
  /// The neighbours of a request in its row, if it has any there.
  @safe struct Neighbours: Sendable {
    fileprivate var next: Unmanaged<ExclusionRequest>?
    fileprivate var previous: Unmanaged<ExclusionRequest>?
  }

  private var head: Unmanaged<ExclusionRequest>?
  private var tail: Unmanaged<ExclusionRequest>?

  var first: ExclusionRequest? { unsafe head?.takeUnretainedValue() }

  var last: ExclusionRequest? { unsafe tail?.takeUnretainedValue() }

  mutating func append(_ request: ExclusionRequest) {
    let new = unsafe Unmanaged.passRetained(request)
    unsafe request.state.neighbours.previous = tail
    if let last = last {
      unsafe last.state.neighbours.next = new
    } else {
      unsafe head = new
    }
    unsafe tail = new
  }

  /// Removes a request that is in this row.
  mutating func remove(_ request: ExclusionRequest) {
    let own = request.state.neighbours
    request.state.neighbours = Neighbours()
    if let previous = unsafe own.previous {
      unsafe previous._withUnsafeGuaranteedRef { unsafe $0.state.neighbours.next = own.next }
    } else {
      unsafe head = own.next
    }
    if let next = unsafe own.next {
      unsafe next._withUnsafeGuaranteedRef { unsafe $0.state.neighbours.previous = own.previous }
    } else {
      unsafe tail = own.previous
    }
    unsafe Unmanaged.passUnretained(request).release()
  }
}
