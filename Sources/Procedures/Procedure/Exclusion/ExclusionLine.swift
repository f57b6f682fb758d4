/// Requests for the same categories, waiting in the order of their tickets: if the first cannot be
/// admitted, none can. The line has the ticket of its first request, and the age of its oldest.
///
/// It stands at one level, of a category that keeps its first request out. Guarded by the lock of
/// the table.
final class ExclusionLine: ExclusionWaiter, @unchecked Sendable {
  /// The part that all requests in it share.
  struct Key: Hashable, Sendable {
    let limits: [ExclusionLimit]
    let outer: ObjectIdentifier?

    init(of request: ExclusionRequest) {
      limits = request.limits
      outer = request.outer.map(ObjectIdentifier.init)
    }
  }

  let key: Key
  @safe @exclusivity(unchecked) private var waiters = ExclusionRows()
  @safe @exclusivity(unchecked) var level: ExclusionLevel
  /// The index of the limit of the category that it stands at.
  @safe @exclusivity(unchecked) var index: Int
  @safe @exclusivity(unchecked) var turnPlace = 0
  @safe @exclusivity(unchecked) var agePlace = 0

  @safe @exclusivity(unchecked) private(set) var ticket = UInt64.max
  @safe @exclusivity(unchecked) private(set) var age = UInt64.max

  /// The request whose turn it is; nil if the line is empty.
  @safe @exclusivity(unchecked) private(set) var first: ExclusionRequest?
  /// The request that has waited longest.
  var oldest: ExclusionRequest? { waiters.oldest }

  init(_ key: Key, at level: ExclusionLevel, index: Int) {
    self.key = key
    self.level = level
    self.index = index
  }

  // MARK: Changes

  // Each returns whether the line has another ticket or age now, so that its level must put it
  // elsewhere.

  func insert(_ request: ExclusionRequest) -> Bool { change { $0.insert(request) } }

  func remove(_ request: ExclusionRequest) -> Bool { change { $0.remove(request) } }

  /// The ticket of a request in it may have changed.
  func update(_ request: ExclusionRequest) -> Bool { change { $0.update(request) } }

  @inline(__always)
  private func change(_ body: (inout ExclusionRows) -> Void) -> Bool {
    let before = (ticket, age)
    body(&waiters)
    (first, age) = waiters.head()
    ticket = first?.ticket ?? .max
    return before != (ticket, age)
  }
}

/// A waiter for a category: a request, or a line of them.
protocol ExclusionWaiter: AnyObject, Sendable {
  /// Its turn: smaller tickets come first.
  var ticket: UInt64 { get }
  /// The time of its first request: smaller numbers have waited longer.
  var age: UInt64 { get }
  /// Kept by the order that contains it, as is `agePlace`.
  var turnPlace: Int { get set }
  var agePlace: Int { get set }
}

/// Waiters in two orders at once, by turn and by age. The first of each order is known in O(1),
/// each change is O(log n).
struct ExclusionOrder<Waiter: ExclusionWaiter>: Sendable {
  private struct ByTurn: Ticketed, Sendable {
    let waiter: Waiter
    var ticket: UInt64 { waiter.ticket }
    var heapPlace: Int {
      get { waiter.turnPlace }
      nonmutating set { waiter.turnPlace = newValue }
    }
  }

  private struct ByAge: Ticketed, Sendable {
    let waiter: Waiter
    var ticket: UInt64 { waiter.age }
    var heapPlace: Int {
      get { waiter.agePlace }
      nonmutating set { waiter.agePlace = newValue }
    }
  }

  private var turns = TicketHeap<ByTurn>()
  private var ages = TicketHeap<ByAge>()

  var isEmpty: Bool { turns.isEmpty }
  /// The waiter whose turn it is.
  var first: Waiter? { turns.first?.waiter }
  /// The ticket of that waiter; greater than any other if there is none.
  var firstTicket: UInt64 { turns.firstTicket }
  /// The waiter that has waited longest.
  var oldest: Waiter? { ages.first?.waiter }

  mutating func insert(_ waiter: Waiter) {
    turns.insert(ByTurn(waiter: waiter))
    ages.insert(ByAge(waiter: waiter))
  }

  /// Removes a waiter, regardless of its present ticket: its places are known.
  mutating func remove(_ waiter: Waiter) {
    turns.remove(ByTurn(waiter: waiter))
    ages.remove(ByAge(waiter: waiter))
  }

  /// The ticket and the age of a waiter may have changed.
  mutating func update(_ waiter: Waiter) {
    turns.update(ByTurn(waiter: waiter))
    ages.update(ByAge(waiter: waiter))
  }
}
