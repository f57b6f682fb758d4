public import ProcedurePrimitives

/// The categories of one requester, from its first request for them until it gives them up.
///
/// The requester adds its own part in a subclass, and downcasts the requests that it is offered:
/// the table makes none. Guarded by the lock of the table.
///
/// Unchecked: only the table changes the state of a request, and the table is behind its lock.
open class ExclusionRequest: ExclusionWaiter, @unchecked Sendable {
  enum Status: Sendable {
    case idle
    case waiting(ExclusionLine)
    case held
  }

  /// The place where it holds one of its categories.
  struct Holding: Sendable {
    let level: ExclusionLevel
    /// Its index among the holders there; at the level of a rate, the number of the first place
    /// that it took.
    var place: Int
    /// The level of the requests inside it, once there was one.
    var inside: ExclusionLevel?
  }

  // In this order the struct leaves no gap.
  struct State: Sendable {
    var limits: CategoryLimits
    /// The request of the innermost holder around it, which excludes others and has begun.
    var outer: ExclusionRequest?
    var status = Status.idle
    /// The number that it drew with its first request; 0 before. It keeps the number, even if it
    /// was offered its categories and declined.
    var age: UInt64 = 0
    /// The level where it was first in line and has left, so that others may be admitted.
    var vacated: ExclusionLevel?
    var links = RequestRow.Links()
    /// One for each of its categories, while it holds them.
    var holdings = SmallList<Holding>()
    /// Smaller ranks come first.
    var rank: UInt8
    /// The rank of the row in which it was inserted.
    var row: UInt8 = 0
    /// Whether it stands in that row, and not beside the rows.
    var isInRow = false
    /// Whether it was promoted because it has waited longest.
    var isPromoted = false
    /// The index of the limit that kept it out when it left its line.
    var lastIndex: Int32 = 0
  }

  @safe @exclusivity(unchecked) final var state: State

  package init(_ limits: CategoryLimits, rank: UInt8) {
    state = State(limits: limits, rank: rank)
  }

  /// The clock of its rates, while it has any.
  open var clock: any TimerService { DispatchTimers.shared }

  /// Each category once.
  package final var limits: CategoryLimits { state.limits }

  package final var age: UInt64 { state.age }

  /// The age, behind all requests of smaller ranks.
  package final var ticket: UInt64 {
    (state.isPromoted ? 0 : UInt64(state.rank) << 56) | state.age
  }

  /// The index of the limit that keeps it out, or was the last to do so, and how many such requests
  /// have room at once.
  package final var standing: (index: Int, count: Int) {
    let last = Int(state.lastIndex)
    switch state.status {
    case .waiting(let line):
      return (line.index, line.level.countAtOnce(of: state.limits[line.index]))
    case .held: return (last, state.holdings[last].level.countAtOnce(of: state.limits[last]))
    case .idle:
      let limit = state.limits.numbers(at: last)
      return (last, max(1, limit.count / limit.places))
    }
  }

  /// It leaves, and its next request counts as the first.
  package final func forgetAge() { state.age = 0 }

  /// It is idle, and will make no further request.
  package final func takeLimits() -> CategoryLimits {
    let limits = state.limits
    state.limits = CategoryLimits()
    return limits
  }

  /// The request of the holder around it, kept alive on behalf of the requester.
  package final func keep(_ outer: ExclusionRequest) { state.outer = outer }

  /// It requests its categories for the first time.
  package final func draw(_ number: UInt64) {
    state.age = number
    state.isPromoted = false
  }

  /// Its rank has changed; it keeps its age.
  package final func setRank(_ rank: UInt8) { state.rank = rank }

  /// Moves the oldest request to the front, regardless of rank.
  final func promote() { state.isPromoted = true }

  final var turnPlace: UInt32 {
    get { UInt32(state.links.next) }
    set { state.links.next = UInt(newValue) }
  }

  final var agePlace: UInt32 {
    get { UInt32(state.links.previous) }
    set { state.links.previous = UInt(newValue) }
  }
}

/// Requests that now hold all of their categories, for their requesters to accept or decline.
/// Usually one.
package typealias ExclusionOffers = SmallList<ExclusionRequest>
