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
struct RequestRow: Sendable {
  /// The neighbours of a request in its row, by their bits, or 0. A request beside the rows has its
  /// places in two orders there.
  struct Links: Sendable {
    var next: UInt = 0
    var previous: UInt = 0
  }

  private var head: UInt = 0
  private var tail: UInt = 0

  var first: ExclusionRequest? { Self.with(head) { $0 } }

  var last: ExclusionRequest? { Self.with(tail) { $0 } }

  mutating func append(_ request: ExclusionRequest) {
    let bits = UInt(bitPattern: unsafe Unmanaged.passRetained(request).toOpaque())
    request.state.links = Links(next: 0, previous: tail)
    if Self.with(tail, { $0.state.links.next = bits }) == nil { head = bits }
    tail = bits
  }

  /// Removes a request that is in this row.
  mutating func remove(_ request: ExclusionRequest) {
    let own = request.state.links
    if Self.with(own.previous, { $0.state.links.next = own.next }) == nil { head = own.next }
    if Self.with(own.next, { $0.state.links.previous = own.previous }) == nil {
      tail = own.previous
    }
    unsafe Unmanaged.passUnretained(request).release()
  }

  /// Calls `body` with the request that the row owns; nil if there is none.
  @inline(__always)
  private static func with<Result>(
    _ bits: UInt, _ body: (ExclusionRequest) -> Result
  ) -> Result? {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
    let request = unsafe Unmanaged<ExclusionRequest>.fromOpaque(pointer)
    return unsafe request._withUnsafeGuaranteedRef(body)
  }
}
