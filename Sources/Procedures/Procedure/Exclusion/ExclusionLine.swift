/// Requests for the same categories, waiting in the order of their tickets: if the first cannot be
/// let in, none can. It has the ticket of its first, and the age of its oldest.
///
/// It stands at one level, of a category that keeps its first out. Guarded by the lock of the table.
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
  @safe @exclusivity(unchecked) var waiters = ExclusionOrder<ExclusionRequest>()
  @safe @exclusivity(unchecked) var level: ExclusionLevel
  /// The index of the limit of the category that it stands at.
  @safe @exclusivity(unchecked) var index: Int
  @safe @exclusivity(unchecked) var turnPlace = 0
  @safe @exclusivity(unchecked) var agePlace = 0

  var first: ExclusionRequest? { waiters.first }
  var ticket: UInt64 { first?.ticket ?? .max }
  var age: UInt64 { waiters.oldest?.age ?? .max }

  init(_ key: Key, at level: ExclusionLevel, index: Int) {
    self.key = key
    self.level = level
    self.index = index
  }
}

/// A waiter for a category: a request, or a line of them.
protocol ExclusionWaiter: AnyObject, Sendable {
  /// When it is its turn: smaller ones come first.
  var ticket: UInt64 { get }
  /// When it asked for the first time: smaller ones have waited longer.
  var age: UInt64 { get }
  /// Kept by the order that it is in, as is `agePlace`.
  var turnPlace: Int { get set }
  var agePlace: Int { get set }
}

/// Waiters in two orders at once: whose turn it is, and who has waited longest. The first of either is known in
/// O(1), each change is O(log n).
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
  /// Whose turn it is.
  var first: Waiter? { turns.first?.waiter }
  /// Who has waited longest.
  var oldest: Waiter? { ages.first?.waiter }

  mutating func insert(_ waiter: Waiter) {
    turns.insert(ByTurn(waiter: waiter))
    ages.insert(ByAge(waiter: waiter))
  }

  /// Takes one out, whatever its ticket says now: its places are known.
  mutating func remove(_ waiter: Waiter) {
    turns.remove(ByTurn(waiter: waiter))
    ages.remove(ByAge(waiter: waiter))
  }

  /// The ticket of one may have changed, and its age.
  mutating func update(_ waiter: Waiter) {
    turns.update(ByTurn(waiter: waiter))
    ages.update(ByAge(waiter: waiter))
  }
}
