internal import ProcedurePrimitives

/// Requests for the same categories, waiting in the order of their tickets: if the first cannot be
/// admitted, none can. The line has the ticket of its first request, and the age of its oldest.
///
/// It stands at one level, of a category that keeps its first request out.
///
/// Unchecked: only the table reaches its lines, and the table is behind its lock.
final class ExclusionLine: ExclusionWaiter, @unchecked Sendable {
  /// The part that all requests in it share.
  struct Key: Hashable, Sendable {
    let limits: CategoryLimits
    let outer: ObjectIdentifier?

    init(of request: ExclusionRequest) {
      limits = request.state.limits
      outer = request.state.outer.map(ObjectIdentifier.init)
    }
  }

  private struct State: Sendable {
    var waiters = ExclusionRows()
    var first: ExclusionRequest?
    var ticket = UInt64.max
    var age = UInt64.max
    var level: ExclusionLevel
    var index: Int
    var turnPlace: UInt32 = 0
    var agePlace: UInt32 = 0
  }

  let key: Key
  @safe @exclusivity(unchecked) private var state: State

  /// - Parameter index: of the limit of the category that it stands at.
  init(_ key: Key, at level: ExclusionLevel, index: Int) {
    self.key = key
    state = State(level: level, index: index)
  }

  /// The request whose turn it is; nil if the line is empty.
  var first: ExclusionRequest? { state.first }
  /// The request that has waited longest.
  var oldest: ExclusionRequest? { state.waiters.oldest }
  var ticket: UInt64 { state.ticket }
  var age: UInt64 { state.age }
  var level: ExclusionLevel { state.level }
  /// The index of the limit of the category that it stands at.
  var index: Int { state.index }

  /// Another category keeps it out now.
  func stand(at level: ExclusionLevel, index: Int) {
    state.level = level
    state.index = index
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
    let before = (state.ticket, state.age)
    body(&state.waiters)
    (state.first, state.age) = state.waiters.head
    state.ticket = state.first?.ticket ?? .max
    return before != (state.ticket, state.age)
  }

  var turnPlace: UInt32 {
    get { state.turnPlace }
    set { state.turnPlace = newValue }
  }

  var agePlace: UInt32 {
    get { state.agePlace }
    set { state.agePlace = newValue }
  }
}

/// A waiter for a category: a request, or a line of them.
protocol ExclusionWaiter: AnyObject, Sendable {
  /// Its turn: smaller tickets come first.
  var ticket: UInt64 { get }
  /// The time of its first request: smaller numbers have waited longer.
  var age: UInt64 { get }
  /// Kept by the order that contains it, as is `agePlace`.
  var turnPlace: UInt32 { get set }
  var agePlace: UInt32 { get set }
}

/// Waiters in two orders at once, by turn and by age. The first of each order is known in O(1),
/// each change is O(log n).
struct ExclusionOrder<Waiter: ExclusionWaiter>: Sendable {
  private struct ByTurn: Ticketed, Sendable {
    let waiter: Waiter
    var ticket: UInt64 { waiter.ticket }
    var heapPlace: Int {
      get { Int(waiter.turnPlace) }
      nonmutating set { waiter.turnPlace = UInt32(newValue) }
    }
  }

  private struct ByAge: Ticketed, Sendable {
    let waiter: Waiter
    var ticket: UInt64 { waiter.age }
    var heapPlace: Int {
      get { Int(waiter.agePlace) }
      nonmutating set { waiter.agePlace = UInt32(newValue) }
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
