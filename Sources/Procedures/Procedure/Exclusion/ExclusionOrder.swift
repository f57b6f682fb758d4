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
